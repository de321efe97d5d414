import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runSteps } from "../../../src/core/steps.ts";
import { MAX_MILLIS, millis } from "../../../src/core/units.ts";
import { Clock, type ClockMode } from "../../../src/engine/clock.ts";
import { openFundedExchange, START, type TestExchange } from "../../support/exchange.ts";

/** Opens an exchange whose clock follows a wall clock that the test sets. */
function clockedExchange(mode: ClockMode, rate = 1) {
  const exchange = openFundedExchange();
  const wall = { now: 5_000_000 };
  const clock = new Clock(exchange.exchange, { mode, rate }, () => wall.now);
  /** Advances the wall clock, settles the clock, and returns the virtual milliseconds since the start. */
  const later = (wallMs: number): number => {
    wall.now += wallMs;
    clock.settle();
    return exchange.exchange.now - START;
  };
  return { exchange, clock, later };
}

describe("a clock", () => {
  it("in mode real follows the wall clock, beginning at the time of the exchange", () => {
    const { clock, later } = clockedExchange("real");
    expect([later(0), later(1), later(999)]).toEqual([0, 1, 1000]);
    expect([clock.mode, clock.rate]).toEqual(["real", 1]);
  });

  it("in mode frozen does not advance", () => {
    const { clock, later } = clockedExchange("frozen");
    expect([later(0), later(1_000_000)]).toEqual([0, 0]);
    expect([clock.mode, clock.rate]).toEqual(["frozen", 0]);
  });

  it.each([
    [60, 1000, 60_000],
    [0.1, 1000, 100],
    [0.1, 9, 0],
    [1.5, 3, 4],
    [1_000_000, 1, 1_000_000],
  ])("scaled by %d advances in %d ms by %d ms", (rate, wallMs, virtualMs) => {
    const { clock, later } = clockedExchange("scaled", rate);
    expect(later(wallMs)).toBe(virtualMs);
    expect([clock.mode, clock.rate]).toEqual(["scaled", rate]);
  });

  it("does not drift if it is read often", () => {
    const often = clockedExchange("scaled", 0.7);
    let last = 0;
    for (let step = 0; step < 10_000; step += 1) last = often.later(1);
    expect(last).toBe(7000);
  });

  it("reads whole milliseconds from a wall clock with fractions", () => {
    const { later } = clockedExchange("real");
    expect([later(0.6), later(0.6)]).toEqual([0, 1]);
  });

  it("never runs backwards if the wall clock jumps back, and advances again later", () => {
    const { later } = clockedExchange("real");
    expect([later(10_000), later(-8_000)]).toEqual([10_000, 10_000]);
    expect(later(1_000)).toBeGreaterThanOrEqual(10_000);
    expect(later(8_000)).toBeGreaterThan(10_000);
  });

  it("ends at the last four-digit year", () => {
    const { exchange, later } = clockedExchange("scaled", 1_000_000);
    later(1_000_000_000_000);
    expect(exchange.exchange.now).toBe(MAX_MILLIS);
  });

  it("executes timed commands at their own moments", () => {
    const { exchange, later } = clockedExchange("real");
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1500ms");
    later(60_000);
    expect(exchange.state.orders.get(1)).toMatchObject({ status: "EXPIRED", updatedAt: START + 1500 });
  });
});

describe("setting a clock", () => {
  const frozen = { mode: "frozen", rate: 1 } as const;
  const real = { mode: "real", rate: 1 } as const;

  it("forward executes the commands due until then", () => {
    const { exchange, clock } = clockedExchange("frozen");
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1m");
    runSteps(clock.moveInSteps(frozen, millis(START + 60_000)));
    expect([exchange.exchange.now - START, exchange.order(1)]).toEqual([60_000, "EXPIRED 0/1"]);
  });

  it("never moves time back", () => {
    const { clock, later } = clockedExchange("real");
    later(10_000);
    runSteps(clock.moveInSteps(real, millis(START + 1)));
    expect(later(5)).toBe(10_005);
  });

  it("from frozen to real does not add the wall time that passed while frozen", () => {
    const { exchange, clock, later } = clockedExchange("real");
    later(1000);
    runSteps(clock.moveInSteps(frozen, exchange.exchange.now));
    later(1_000_000);
    runSteps(clock.moveInSteps(real, exchange.exchange.now));
    expect(later(1)).toBe(1001);
  });

  it("to scaled scales only later time", () => {
    const { exchange, clock, later } = clockedExchange("real");
    later(1000);
    runSteps(clock.moveInSteps({ mode: "scaled", rate: 10 }, exchange.exchange.now));
    expect(later(100)).toBe(2000);
  });
});

describe("restarting an exchange", () => {
  it("leaves a frozen clock at the new start", () => {
    const { exchange, clock, later } = clockedExchange("frozen");
    runSteps(clock.moveInSteps({ mode: "frozen", rate: 1 }, millis(START + 5000)));
    exchange.exchange.restart(START);
    clock.open();
    expect(later(1000)).toBe(0);
  });

  it("lets a real clock advance from the new start", () => {
    const { exchange, clock, later } = clockedExchange("real");
    later(5000);
    exchange.exchange.restart(START);
    clock.open();
    expect(exchange.exchange.now - START).toBe(0);
    expect(later(1)).toBe(1);
  });

  it("reverts changes of mode and rate", () => {
    const { exchange, clock, later } = clockedExchange("real");
    runSteps(clock.moveInSteps({ mode: "scaled", rate: 600 }, millis(START + 5000)));
    exchange.exchange.restart(START);
    clock.open();
    expect([clock.mode, clock.rate, later(10)]).toEqual(["real", 1, 10]);
  });

  it("returns to the current wall time if the clock opened at the wall time", () => {
    const exchange = openFundedExchange();
    let wall = START + 1000;
    const clock = new Clock(exchange.exchange, { mode: "real", rate: 1 }, () => wall, true);
    clock.open();
    expect(exchange.exchange.now).toBe(START + 1000);
    runSteps(clock.moveInSteps({ mode: "frozen", rate: 0 }, millis(START + 9000)));
    wall += 500;
    exchange.exchange.restart(START);
    clock.open();
    expect(exchange.exchange.now).toBe(START + 1500);
  });
});

/** The wall clock is that of the fake timers: both advance only by `passes`. */
describe("the timer between requests", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const passes = (wallMs: number): void => void vi.advanceTimersByTime(wallMs);

  function timedExchange(mode: ClockMode, rate = 1): { exchange: TestExchange; clock: Clock } {
    const exchange = openFundedExchange();
    return { exchange, clock: new Clock(exchange.exchange, { mode, rate }, Date.now) };
  }

  it("expires an order at its moment", () => {
    const { exchange, clock } = timedExchange("real");
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1s", "alice BUY 1 YES @ 0.4 GTD 3s");
    clock.arm();
    passes(999);
    expect(exchange.open("alice")).toEqual([1, 2]);
    passes(1);
    expect(exchange.open("alice")).toEqual([2]);
    passes(2000);
    expect(exchange.open("alice")).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("depends on the rate", () => {
    const { exchange, clock } = timedExchange("scaled", 60);
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1m");
    clock.arm();
    passes(1000);
    expect(exchange.open("alice")).toEqual([]);
  });

  it("is not set while the clock is frozen or nothing is due", () => {
    const { exchange, clock } = timedExchange("frozen");
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1s");
    clock.arm();
    expect(vi.getTimerCount()).toBe(0);
    runSteps(clock.moveInSteps({ mode: "real", rate: 1 }, exchange.exchange.now));
    expect(vi.getTimerCount()).toBe(1);
    exchange.cancel("alice", 1);
    clock.arm();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is a single one for the earliest moment, even if armed several times", () => {
    const { exchange, clock } = timedExchange("real");
    exchange.send("alice BUY 1 YES @ 0.5 GTD 10s");
    clock.arm();
    clock.arm();
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1s");
    clock.arm();
    expect(vi.getTimerCount()).toBe(1);
    passes(1000);
    expect(exchange.open("alice")).toEqual([1]);
  });

  it("is adjusted when the clock is moved forward", () => {
    const { exchange, clock } = timedExchange("real");
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1h");
    clock.arm();
    runSteps(clock.moveInSteps({ mode: "real", rate: 1 }, millis(START + 3_599_000)));
    passes(1000);
    expect(exchange.open("alice")).toEqual([]);
  });

  it("is adjusted when the rate changes", () => {
    const { exchange, clock } = timedExchange("real");
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1h");
    clock.arm();
    runSteps(clock.moveInSteps({ mode: "scaled", rate: 3600 }, exchange.exchange.now));
    passes(1000);
    expect(exchange.open("alice")).toEqual([]);
  });

  it("waits longer than the maximum of setTimeout, with few wake-ups", () => {
    const { exchange, clock } = timedExchange("real");
    exchange.send("alice BUY 1 YES @ 0.5 GTD 100d");
    clock.arm();
    let fired = 0;
    for (; vi.getTimerCount() > 0 && fired < 100; fired += 1) vi.advanceTimersToNextTimer();
    expect(fired).toBe(5);
    expect(exchange.state.orders.get(1)).toMatchObject({
      status: "EXPIRED",
      updatedAt: START + 100 * 86_400_000,
    });
  });

  it("waits again, with few wake-ups, if the wall clock jumps back", () => {
    const exchange = openFundedExchange();
    let jump = 0;
    const clock = new Clock(exchange.exchange, { mode: "real", rate: 1 }, () => Date.now() - jump);
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1s");
    clock.arm();
    jump = 3_600_000;
    let fired = 0;
    for (; vi.getTimerCount() > 0 && fired < 100; fired += 1) vi.advanceTimersToNextTimer();
    expect(fired).toBeLessThan(4);
    expect(exchange.open("alice")).toEqual([]);
  });

  it("is cleared when the clock stops", () => {
    const { exchange, clock } = timedExchange("real");
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1s");
    clock.arm();
    clock.stop();
    passes(5000);
    expect(exchange.open("alice")).toEqual([1]);
  });

  it("is reset for a restarted exchange", () => {
    const { exchange, clock } = timedExchange("real");
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1s");
    clock.arm();
    exchange.exchange.restart(START);
    clock.open();
    expect(vi.getTimerCount()).toBe(0);
  });
});
