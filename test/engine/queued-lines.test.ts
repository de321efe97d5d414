import { expect, it } from "vitest";
import { idOf } from "../../src/core/ids.ts";
import { tokenIdIn } from "../../src/core/market.ts";
import { price, size } from "../../src/core/units.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { addressOf } from "../support/commands.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";
import { journalIn, journalLines, openOn, withoutLock } from "./support/persisted.ts";
import { takeSteps } from "./support/short-history.ts";

const STEPS_BEFORE = 6;

/** Places two orders and cancels the second, repeatedly: their lines are queued until a flush. */
function placeAndCancel({ exchange }: OpenedExchange, count: number): void {
  const address = addressOf("ann");
  const tokenId = tokenIdIn(exchange.state.markets.get(1), "YES");
  const order = {
    side: "BUY",
    price: price(100),
    size: size(100),
    orderType: "GTC",
    expiration: null,
  } as const;
  for (let number = 0; number < count; number += 1) {
    const { idPrefixes, orders } = exchange.state;
    const decided =
      number % 3 === 2
        ? exchange.submit({ kind: "cancelOrder", address, orderId: idOf(idPrefixes.order, orders.size) })
        : exchange.submit({ kind: "placeOrder", address, tokenId, ...order });
    expect(decided.ok).toBe(true);
  }
}

const linesIn = (disk: SimulatedDisk): number => journalLines(journalIn(disk.image)).length;

it.each([1, 63, 64, 65, 128, 255, 256, 257, 513, 769])(
  "%i queued orders and cancels are as many lines, and replay to the same state",
  async (count) => {
    const disk = new SimulatedDisk();
    const opened = await openOn(disk, { durability: "process" });
    takeSteps(opened, STEPS_BEFORE);
    opened.persistence.flush(opened.persistence.position);
    const before = linesIn(disk);
    placeAndCancel(opened, count);
    expect(linesIn(disk)).toBe(before);
    opened.persistence.flush(opened.persistence.position);
    expect(linesIn(disk)).toBe(before + count);
    const again = await openOn(new SimulatedDisk(withoutLock(disk.image)), { durability: "process" });
    expect(stateHashes(again.exchange)).toBe(stateHashes(opened.exchange));
  },
);
