import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BOT_PROFILES, type BotProfileName } from "../../src/bots/profiles.ts";
import { serviceOf } from "../../src/compose.ts";
import { violations } from "../../src/core/invariants.ts";
import { millis } from "../../src/core/units.ts";
import { Clock } from "../../src/engine/clock.ts";
import type { Snapshot } from "../../src/engine/exchange.ts";
import { Generator, profileOf } from "../../src/fuzz/generator.ts";
import { emptyWorld } from "../../src/simulation/opening.ts";
import { FOLDER, openNew, openOn, persistedConfig, withoutLock } from "../engine/support/persisted.ts";
import { TINY_WORLD } from "../support/http.ts";
import { forAll, runs } from "../support/runs.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { elapsed, HOUR_MS, MINUTE_MS, openExchange, openWithBots, trade } from "./open.ts";

/** When a client trades. */
const TRADES: readonly number[] = [20 * MINUTE_MS, 40 * MINUTE_MS];
/** One takes liquidity, the other rests. */
const ORDERS = ["client BUY 50 YES @ 0.99 FAK", "client BUY 50 YES @ 0.3"];

/** Runs an hour in steps, in which a client trades. */
function play(moments: readonly number[]): { readonly hash: string; readonly journal: string } {
  const { exchange, log } = openWithBots("busy");
  for (const ms of [...moments, ...TRADES, HOUR_MS].sort((a, b) => a - b)) {
    exchange.advanceTo(elapsed(ms));
    if (TRADES.includes(ms)) for (const order of ORDERS) trade(exchange, order);
  }
  return { hash: exchange.hash, journal: JSON.stringify(log.entries) };
}

const moments = fc.array(fc.integer({ min: 1, max: HOUR_MS }), { maxLength: 1_000 });

describe("bots", () => {
  it("do the same in one step of time or in many, with a client that trades too", () => {
    const expected = play([]);
    expect(expected.journal.length).toBeGreaterThan(50_000);
    const between = moments.map((list) => list.filter((ms) => ms % (10 * MINUTE_MS) !== 0));
    forAll(runs(4), [between], (list) => void expect(play(list)).toEqual(expected));
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

const STEPS = 150;

/** Plays a history of the fuzzer (orders, faults, reorganizations, ended markets, snapshots), with or without bots. */
function playHistory(seed: number, profile: BotProfileName | null) {
  const terms = profileOf(seed);
  const opened = openExchange({ world: emptyWorld(terms.config.seed), config: terms.config });
  const { exchange } = opened;
  const generator = new Generator(seed, terms);
  for (const command of generator.opening()) exchange.submit(command);
  if (profile !== null) opened.bots.start(profile);
  let snapshot: Snapshot | null = null;
  for (let step = 0; step < STEPS; step += 1) {
    const next = generator.next(exchange.state, exchange.now);
    if (next.kind === "command") exchange.submit(next.command);
    else if (next.kind === "wait") exchange.advanceTo(millis(next.to + MINUTE_MS));
    else if (next.kind === "snapshot") snapshot = exchange.snapshot();
    else if (next.kind === "restore" && snapshot !== null) exchange.restore(snapshot);
  }
  return opened;
}

it("bots break no invariant and are deterministic in any history of clients and the chain", () => {
  let ordersOfBots = 0;
  forAll(runs(30), [fc.nat(1_000_000), fc.constantFrom(...BOT_PROFILES)], (seed, profile) => {
    const { exchange, log } = playHistory(seed, profile);
    expect(violations(exchange.state)).toEqual([]);
    expect(playHistory(seed, profile).exchange.hash).toBe(exchange.hash);
    const { config } = profileOf(seed);
    const replayed = openExchange({ world: emptyWorld(config.seed), config });
    for (const entry of log.entries ?? []) replayed.exchange.replay(entry);
    expect(replayed.exchange.hash).toBe(exchange.hash);
    ordersOfBots ||= exchange.state.orders.size - playHistory(seed, null).exchange.state.orders.size;
  });
  expect(ordersOfBots).toBeGreaterThan(0);
});

it("a scaled clock with slow agents runs as fast as it can and does not block", () => {
  const { exchange } = openExchange();
  let wall = 0;
  let calls = 0;
  // Each call takes a millisecond and is due every ten.
  exchange.agents = {
    nextAfter: (now) => elapsed(Math.floor((now - elapsed(0)) / 10) * 10 + 10),
    act: () => {
      wall += 1;
      calls += 1;
      return [];
    },
  };
  const clock = new Clock(exchange, { mode: "scaled", rate: 1_000 }, () => wall);
  clock.stop();
  wall += 1_000;
  clock.advanceToNow();
  expect(calls).toBeLessThan(30);
  expect(exchange.now).toBe(elapsed(calls * 10));
  const before = calls;
  wall += 1;
  clock.advanceToNow();
  expect(calls - before).toBeLessThan(30);
  exchange.agents = null;
  wall += HOUR_MS;
  clock.advanceToNow();
  expect(exchange.now).toBeGreaterThan(elapsed(1_000 * HOUR_MS));
});

describe("with a real clock", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("bots stop and the server is read-only if the journal cannot be written", async () => {
    const config = persistedConfig({ world: TINY_WORLD, clock: { mode: "real" }, bots: "busy" });
    const { disk, wall, opened } = await openNew(config);
    serviceOf(config, opened);
    disk.before = ({ kind }) => {
      if (kind === "write") throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write" });
    };
    const wake = (): void => {
      wall.now += 10 * MINUTE_MS;
      vi.advanceTimersToNextTimer();
    };
    const { sequence } = opened.exchange;
    while (opened.persistence.broken === null) wake();
    expect(opened.persistence.broken.message).toBe("the journal cannot be written: ENOSPC");
    // Nothing was answered, so the exchange returns to the state before, and no bot acts.
    expect(opened.exchange.sequence).toBe(sequence);
    const { now } = opened.exchange;
    wake();
    expect(opened.exchange).toMatchObject({ now, sequence });
  });
});
