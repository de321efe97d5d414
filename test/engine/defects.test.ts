import { describe, expect, it } from "vitest";
import type { Command } from "../../src/core/commands.ts";
import { millis, money, size } from "../../src/core/units.ts";
import { PersistenceError } from "../../src/engine/journal.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { addressOf, eventCommand, marketCommand, orderCommand } from "../support/commands.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";
import { openOn, withoutLock } from "./support/persisted.ts";

/** Creates a market, funds a wallet, and places an order. Returns the order. */
async function begin({ exchange, persistence }: OpenedExchange): Promise<Command> {
  exchange.submit(eventCommand("all"));
  exchange.submit(marketCommand("rain"));
  const funds = { collateral: money(1_000_000_000), tokens: [], everyMarket: size(0) };
  exchange.submit({ kind: "fundAccount", address: addressOf("alice"), ...funds });
  const [tokenId] = exchange.state.markets.get(1).tokenIds;
  const buy = orderCommand("alice BUY 10 YES @ 0.5", exchange.now, () => tokenId);
  expect(exchange.submit(buy).ok).toBe(true);
  await persistence.flush(persistence.position);
  return buy;
}

/** Makes the next order that rests throw while it is applied. */
function plant({ exchange }: OpenedExchange): void {
  exchange.state.pool.take = () => {
    throw new Error("planted");
  };
}

describe.each(["process", "power"] as const)(
  "a command that throws while it is applied (%s)",
  (durability) => {
    it("leaves the acknowledged state in memory and on the disk, and no command is accepted after it", async () => {
      const disk = new SimulatedDisk();
      const opened = await openOn(disk, { durability });
      const buy = await begin(opened);
      const { exchange, folder, clock } = opened;
      const { sequence } = exchange;
      const hash = stateHashes(exchange);
      plant(opened);
      expect(() => exchange.submit(buy)).toThrow("planted");
      expect([stateHashes(exchange), exchange.sequence]).toEqual([hash, sequence]);
      expect(() => exchange.submit(buy)).toThrow(PersistenceError);
      expect(folder?.broken?.reason).toBe("defect");
      expect(clock.mode).toBe("frozen");
      const again = await openOn(new SimulatedDisk(withoutLock(disk.image)));
      expect([stateHashes(again.exchange), again.exchange.sequence]).toEqual([hash, sequence]);
      expect(again.exchange.submit(buy).ok).toBe(true);
      await again.close();
    });

    it("rolls back commands accepted before it in the same request, which were not acknowledged", async () => {
      const disk = new SimulatedDisk();
      const opened = await openOn(disk, { durability });
      const buy = await begin(opened);
      const { exchange } = opened;
      const hash = stateHashes(exchange);
      exchange.submit({ kind: "cancelAllOrders", address: addressOf("alice") });
      plant(opened);
      expect(() => exchange.submit(buy)).toThrow("planted");
      expect(stateHashes(exchange)).toBe(hash);
      exchange.passTo(millis(exchange.now + 1));
    });
  },
);
