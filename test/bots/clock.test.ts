import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { serviceOf } from "../../src/compose.ts";
import { Clock } from "../../src/engine/clock.ts";
import { NOON, openOn, persistedConfig } from "../engine/support/persisted.ts";
import { TINY_WORLD } from "../support/http.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { elapsed, HOUR_MS, MINUTE_MS, openExchange } from "./open.ts";

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
  clock.settle();
  expect(calls).toBeLessThan(30);
  expect(exchange.now).toBe(elapsed(calls * 10));
  const before = calls;
  wall += 1;
  clock.settle();
  expect(calls - before).toBeLessThan(30);
  exchange.agents = null;
  wall += HOUR_MS;
  clock.settle();
  expect(exchange.now).toBeGreaterThan(elapsed(1_000 * HOUR_MS));
});

describe("with a real clock", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("bots stop and the server is read-only if the journal cannot be written", async () => {
    const disk = new SimulatedDisk();
    let wall = NOON;
    const config = persistedConfig({ world: TINY_WORLD, clock: { mode: "real" }, bots: "busy" });
    const opened = await openOn(disk, config, [], () => wall);
    serviceOf(config, opened);
    disk.before = ({ kind }) => {
      if (kind === "write") throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write" });
    };
    const wake = (): void => {
      wall += 10 * MINUTE_MS;
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
