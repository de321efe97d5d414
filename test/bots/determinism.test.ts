import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { serviceOf } from "../../src/compose.ts";
import { millis, money, price, size } from "../../src/core/units.ts";
import type { Exchange } from "../../src/engine/exchange.ts";
import { FOLDER, openOn, persistedConfig, withoutLock } from "../engine/support/persisted.ts";
import { TINY_WORLD } from "../support/http.ts";
import { runs } from "../support/runs.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { elapsed, HOUR_MS, MINUTE_MS, openExchange, openWithBots } from "./open.ts";

const HOURS = 2;
const CLIENT = `0x${"c".repeat(40)}`;

/** A client places an order that takes liquidity and one that rests. */
function trade(exchange: Exchange): void {
  const [tokenId] = exchange.state.markets.get(1).tokenIds;
  const funds = { collateral: money(1_000_000_000), tokens: [], everyMarket: size(0) };
  exchange.submit({ kind: "fundAccount", address: CLIENT, ...funds });
  for (const [orderType, units] of [["FAK", 9_900] as const, ["GTC", 3_000] as const]) {
    exchange.submit({
      ...{ kind: "placeOrder", address: CLIENT, tokenId, side: "BUY", price: price(units) },
      ...{ size: size(5_000), orderType, expiration: null },
    });
  }
}

/** Runs two hours in steps; a client trades after 30 and after 70 minutes. */
function play(moments: readonly number[]): { readonly hash: string; readonly journal: string } {
  const { exchange, entries } = openWithBots("busy");
  for (const ms of [...moments, 30 * MINUTE_MS, 70 * MINUTE_MS, HOURS * HOUR_MS].sort((a, b) => a - b)) {
    exchange.advanceTo(elapsed(ms));
    if (ms === 30 * MINUTE_MS || ms === 70 * MINUTE_MS) trade(exchange);
  }
  return { hash: exchange.hash, journal: JSON.stringify(entries) };
}

const moments = fc.array(fc.integer({ min: 1, max: HOURS * HOUR_MS }), { maxLength: 2_000 });

describe("bots", () => {
  it("do the same in one step of time or in many, with a client that trades too", () => {
    const expected = play([]);
    expect(expected.journal.length).toBeGreaterThan(100_000);
    fc.assert(
      fc.property(
        moments.map((list) => list.filter((ms) => ms % (10 * MINUTE_MS) !== 0)),
        (list) => {
          expect(play(list)).toEqual(expected);
        },
      ),
      runs(8),
    );
  });

  it("act differently with another seed", () => {
    const hashOf = (seed: string): string => {
      const { exchange, bots } = openExchange();
      bots.start("normal", seed);
      exchange.advanceTo(elapsed(HOUR_MS));
      return exchange.hash;
    };
    expect(hashOf("other")).toBe(hashOf("other"));
    expect(hashOf("other")).not.toBe(hashOf("another"));
  });

  it("do not exist on an exchange that did not start them", () => {
    const { exchange } = openExchange();
    const never = openExchange().exchange;
    exchange.advanceTo(elapsed(HOUR_MS));
    never.advanceTo(elapsed(HOUR_MS));
    expect(exchange.nextDueAt).toBe(never.nextDueAt);
    expect(exchange.sequence).toBe(never.sequence);
  });
});

describe("bots continue", () => {
  it("from a restored snapshot as before", () => {
    const { exchange } = openWithBots("normal");
    exchange.advanceTo(elapsed(HOUR_MS));
    const snapshot = exchange.snapshot();
    exchange.advanceTo(elapsed(2 * HOUR_MS));
    const { hash } = exchange;
    exchange.restore(snapshot);
    exchange.advanceTo(elapsed(2 * HOUR_MS));
    expect(exchange.hash).toBe(hash);
  });

  it("after bots of the same profile have replaced them", () => {
    const once = openWithBots("normal");
    const twice = openWithBots("normal");
    once.exchange.advanceTo(elapsed(2 * HOUR_MS));
    twice.exchange.advanceTo(elapsed(HOUR_MS));
    twice.bots.start("normal");
    twice.exchange.advanceTo(elapsed(2 * HOUR_MS));
    expect(twice.exchange.hash).toBe(once.exchange.hash);
  });

  const config = persistedConfig({ bots: "normal", world: TINY_WORLD });
  const serve = async (disk: SimulatedDisk) => {
    const opened = await openOn(disk, { world: TINY_WORLD });
    return { ...opened, service: serviceOf(config, opened) };
  };

  it.each(["close", "kill"] as const)("after a %s of a server with a data directory", async (end) => {
    const whole = await serve(new SimulatedDisk());
    const start = whole.exchange.now;
    whole.exchange.advanceTo(millis(start + 2 * HOUR_MS));
    const disk = new SimulatedDisk();
    const first = await serve(disk);
    first.exchange.advanceTo(millis(start + HOUR_MS));
    if (end === "close") await first.close();
    else first.persistence.flush(first.persistence.position);
    const again = await serve(end === "close" ? disk : new SimulatedDisk(withoutLock(disk.image)));
    expect(again.exchange.now).toBeGreaterThan(start);
    again.exchange.advanceTo(millis(start + 2 * HOUR_MS));
    expect(again.exchange.hash).toBe(whole.exchange.hash);
    expect(disk.names(FOLDER)).toContain("journal.ndjson");
  });

  it("from the start after a reset, as configured", async () => {
    const { exchange, service } = await serve(new SimulatedDisk());
    const start = exchange.now;
    const hashAfterAnHour = (): string => {
      exchange.advanceTo(millis(start + HOUR_MS));
      return exchange.hash;
    };
    const first = hashAfterAnHour();
    service.bots.start("toxic");
    service.reopen();
    expect(service.bots.running?.profile).toBe("normal");
    expect(hashAfterAnHour()).toBe(first);
  });
});
