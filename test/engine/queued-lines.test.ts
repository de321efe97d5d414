import { expect, it } from "vitest";
import { idOf } from "../../src/core/ids.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { orderCommand } from "../support/commands.ts";
import type { SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";
import { flush, journalIn, journalLines, openNew } from "./support/persisted.ts";
import { takeSteps } from "./support/short-history.ts";

/** Places two orders and cancels the second, repeatedly: their lines are queued until a flush. */
function placeAndCancel({ exchange }: OpenedExchange, count: number): void {
  const [tokenId] = exchange.state.markets.get(1).tokenIds;
  const order = orderCommand("ann BUY 1 YES @ 0.01", exchange.now, () => tokenId);
  for (let number = 0; number < count; number += 1) {
    const { idPrefixes, orders } = exchange.state;
    const orderId = idOf(idPrefixes.order, orders.size);
    const isCancel = number % 3 === 2;
    const command = isCancel ? ({ kind: "cancelOrder", address: order.address, orderId } as const) : order;
    expect(exchange.submit(command).ok).toBe(true);
  }
}

const linesIn = (disk: SimulatedDisk): number => journalLines(journalIn(disk.image)).length;

it.each([1, 63, 64, 65, 128, 255, 256, 257, 513, 769])(
  "%i queued orders and cancels are as many lines, and replay to the same state",
  async (count) => {
    const { disk, opened, resume } = await openNew({ durability: "process" });
    takeSteps(opened, 6);
    flush(opened);
    const before = linesIn(disk);
    placeAndCancel(opened, count);
    expect(linesIn(disk)).toBe(before);
    flush(opened);
    expect(linesIn(disk)).toBe(before + count);
    expect(stateHashes((await resume()).exchange)).toBe(stateHashes(opened.exchange));
  },
);
