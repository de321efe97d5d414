import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runSteps } from "../../../src/core/steps.ts";
import { MAX_MILLIS, millis } from "../../../src/core/units.ts";
import { Clock, type ClockMode, type ClockSetting, Slices, Snapshots } from "../../../src/engine/clock.ts";
import { openFundedExchange, START } from "../../support/exchange.ts";

/** Opens an exchange whose clock follows a wall clock that the test sets. */
function clockedExchange(mode: ClockMode, rate = 1) {
  const exchange = openFundedExchange();
  const wall = { now: 5_000_000 };
  const clock = new Clock(exchange.exchange, { mode, rate }, () => wall.now);
  /** Advances the wall clock, then the clock, and returns the virtual milliseconds since the start. */
  const later = (wallMs: number): number => {
    wall.now += wallMs;
    clock.advanceToNow();
    return exchange.exchange.now - START;
  };
  /** Sets mode, rate and, if given, the virtual milliseconds since the start. */
  const move = (to: ClockMode, toRate: number, ms = exchange.exchange.now - START): boolean =>
    runSteps(clock.moveInSteps({ mode: to, rate: toRate }, millis(START + ms)));
  return { exchange, clock, later, move, snapshots: new Snapshots(exchange.exchange, clock) };
}

describe("a clock", () => {
  it.each<[rule: string, ClockMode, rate: number, wallMs: number[], virtualMs: number[]]>([
    ["real follows the wall clock from the time of the exchange", "real", 1, [0, 1, 999], [0, 1, 1000]],
    ["real reads whole milliseconds from a wall clock with fractions", "real", 1, [0.6, 0.6], [0, 1]],
    ["frozen does not advance", "frozen", 0, [0, 1_000_000], [0, 0]],
    ["scaled multiplies", "scaled", 60, [1000], [60_000]],
    ["scaled divides", "scaled", 0.1, [1000], [100]],
    ["scaled rounds down", "scaled", 0.1, [9], [0]],
    ["scaled by a fraction rounds down", "scaled", 1.5, [3], [4]],
    ["scaled by the maximum", "scaled", 1_000_000, [1], [1_000_000]],
  ])("in mode %s", (_rule, mode, rate, wallMs, virtualMs) => {
    const { clock, later } = clockedExchange(mode, rate);
    expect(wallMs.map(later)).toEqual(virtualMs);
    expect([clock.mode, clock.rate]).toEqual([mode, rate]);
  });

  it("does not drift if it is read often", () => {
    const { later } = clockedExchange("scaled", 0.7);
    let last = 0;
    for (let step = 0; step < 10_000; step += 1) last = later(1);
    expect(last).toBe(7000);
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
  it("never moves time back", () => {
    const { move, later } = clockedExchange("real");
    later(10_000);
    move("real", 1, 1);
    expect(later(5)).toBe(10_005);
  });

  it.each<[rule: string, ClockMode, rate: number, wallMs: number, ...virtualMs: number[]]>([
    ["from frozen to real does not add the wall time between", "frozen", 1, 1_000_000, 1000, 1001],
    ["to scaled scales only later time", "scaled", 10, 100, 2000, 2001],
  ])("%s", (_rule, mode, rate, wallMs, ...virtualMs) => {
    const { move, later } = clockedExchange("real");
    later(1000);
    move(mode, rate);
    const during = later(wallMs);
    move("real", 1);
    expect([during, later(1)]).toEqual(virtualMs);
  });
});

describe("restarting an exchange", () => {
  it.each<[string, ClockMode, number, number, (of: ReturnType<typeof clockedExchange>) => unknown]>([
    ["leaves a frozen clock at the new start", "frozen", 0, 0, ({ move }) => move("frozen", 1, 5000)],
    ["lets a real clock advance from the new start", "real", 1, 10, ({ later }) => later(5000)],
    ["reverts changes of mode and rate", "real", 1, 10, ({ move }) => move("scaled", 600, 5000)],
  ])("%s", (_rule, mode, rate, after, change) => {
    const clocked = clockedExchange(mode);
    const { exchange, clock, later } = clocked;
    change(clocked);
    exchange.exchange.restart(START);
    clock.open();
    expect([later(0), later(10), clock.mode, clock.rate]).toEqual([0, after, mode, rate]);
  });

  it("returns to the current wall time if the clock opened at the wall time", () => {
    const { exchange } = openFundedExchange();
    let wall = START + 1000;
    const clock = new Clock(exchange, { mode: "real", rate: 1 }, () => wall, true);
    clock.open();
    expect(exchange.now).toBe(START + 1000);
    runSteps(clock.moveInSteps({ mode: "frozen", rate: 0 }, millis(START + 9000)));
    wall += 500;
    exchange.restart(START);
    clock.open();
    expect(exchange.now).toBe(START + 1500);
  });
});

describe("the clock of a restored snapshot", () => {
  it("returns to the time of the snapshot if frozen", () => {
    const { exchange, move, later, snapshots } = clockedExchange("frozen");
    const stored = snapshots.take(null);
    move("frozen", 1, 9000);
    snapshots.restore(stored);
    expect([exchange.exchange.now - START, later(1000)]).toEqual([0, 0]);
  });

  it("advances from there in the mode and at the rate of the snapshot", () => {
    const { exchange, clock, move, later, snapshots } = clockedExchange("scaled", 10);
    later(100);
    const stored = snapshots.take(null);
    move("frozen", 0, 50_000);
    later(7000);
    snapshots.restore(stored);
    expect([clock.mode, clock.rate, exchange.exchange.now - START]).toEqual(["scaled", 10, 1000]);
    expect(later(5)).toBe(1050);
  });

  it("does not add the wall time that passed since the snapshot if real", () => {
    const { later, snapshots } = clockedExchange("real");
    later(1000);
    const stored = snapshots.take(null);
    later(100_000);
    snapshots.restore(stored);
    expect(later(1)).toBe(1001);
  });
});

/** The wall clock is that of the fake timers: both advance only by `passes`. */
describe("the timer between requests", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const passes = (wallMs: number): void => void vi.advanceTimersByTime(wallMs);

  /** Opens a clock whose timer waits for orders of alice, by their lifetimes. */
  function armed(mode: ClockMode, lifetimes: readonly string[], wallNow = Date.now) {
    const exchange = openFundedExchange();
    const clock = new Clock(exchange.exchange, { mode, rate: 1 }, wallNow);
    exchange.send(...lifetimes.map((lifetime) => `alice BUY 1 YES @ 0.5 GTD ${lifetime}`));
    clock.arm();
    return { exchange, clock };
  }

  /** Runs timers until there are none, and returns how many ran. */
  function wakeUps(): number {
    let fired = 0;
    for (; vi.getTimerCount() > 0 && fired < 100; fired += 1) vi.advanceTimersToNextTimer();
    return fired;
  }

  it("expires an order at its moment", () => {
    const { exchange } = armed("real", ["1s", "3s"]);
    const openAfter = (wallMs: number): number[] => {
      passes(wallMs);
      return exchange.open("alice");
    };
    expect([999, 1, 2000].map(openAfter)).toEqual([[1, 2], [2], []]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is not set while the clock is frozen or nothing is due", () => {
    const { exchange, clock } = armed("frozen", ["1s"]);
    expect(vi.getTimerCount()).toBe(0);
    runSteps(clock.moveInSteps({ mode: "real", rate: 1 }, exchange.exchange.now));
    expect(vi.getTimerCount()).toBe(1);
    exchange.cancel("alice", 1);
    clock.arm();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is a single one for the earliest moment, even if armed several times", () => {
    const { exchange, clock } = armed("real", ["10s"]);
    clock.arm();
    exchange.send("alice BUY 1 YES @ 0.5 GTD 1s");
    clock.arm();
    expect(vi.getTimerCount()).toBe(1);
    passes(1000);
    expect(exchange.open("alice")).toEqual([1]);
  });

  it.each<[string, ClockSetting, number]>([
    ["the clock is moved forward", { mode: "real", rate: 1 }, 3_599_000],
    ["the rate changes", { mode: "scaled", rate: 3600 }, 0],
  ])("is adjusted when %s", (_what, setting, ms) => {
    const { exchange, clock } = armed("real", ["1h"]);
    runSteps(clock.moveInSteps(setting, millis(START + ms)));
    passes(1000);
    expect(exchange.open("alice")).toEqual([]);
  });

  it("waits longer than the maximum of setTimeout, with few wake-ups", () => {
    const { exchange } = armed("real", ["100d"]);
    expect(wakeUps()).toBe(5);
    const updatedAt = START + 100 * 86_400_000;
    expect(exchange.state.orders.get(1)).toMatchObject({ status: "EXPIRED", updatedAt });
  });

  it("waits again, with few wake-ups, if the wall clock jumps back", () => {
    let jump = 0;
    const { exchange } = armed("real", ["1s"], () => Date.now() - jump);
    jump = 3_600_000;
    expect(wakeUps()).toBeLessThan(4);
    expect(exchange.open("alice")).toEqual([]);
  });

  it("is cleared when the clock stops, and for a restarted exchange", () => {
    const { exchange, clock } = armed("real", ["1s"]);
    clock.stop();
    passes(5000);
    expect(exchange.open("alice")).toEqual([1]);
    const other = armed("real", ["1s"]);
    other.exchange.exchange.restart(START);
    other.clock.open();
    expect(vi.getTimerCount()).toBe(0);
  });
});

const FROZEN: ClockSetting = { mode: "frozen", rate: 0 };
const ORDERS = 30;

/** Opens a clock and an exchange with 30 orders that expire one per second; slices have one step. */
function openClock(setting = FROZEN, wallNow = () => 0) {
  const testExchange = openFundedExchange();
  for (let second = 1; second <= ORDERS; second += 1)
    testExchange.send(`alice BUY 1 YES @ 0.5 GTD ${second}s`);
  const { exchange } = testExchange;
  const clock = new Clock(exchange, setting, wallNow);
  const slices = new Slices(0);
  const live = (): number => [...exchange.state.orders].filter(({ status }) => status === "LIVE").length;
  const move = (seconds: number): Promise<boolean> =>
    clock.change(slices, () => clock.moveInSteps(clock.setting, millis(exchange.now + seconds * 1000)));
  return { exchange, clock, live, move };
}

async function runTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

describe("a change of the time", () => {
  it("lets other work run between slices, which sees the time reached so far", async () => {
    const { exchange, live, move } = openClock();
    const done = move(60);
    await runTurns(5);
    const left = live();
    expect([left > 0, left < ORDERS]).toEqual([true, true]);
    expect(exchange.now).toBe(START + (ORDERS - left) * 1000);
    expect(await done).toBe(true);
    expect([live(), exchange.now]).toEqual([0, START + 60_000]);
  });

  it("is made at once if one slice is enough", async () => {
    const { exchange, clock } = openClock();
    void clock.change(new Slices(Number.POSITIVE_INFINITY), () =>
      clock.moveInSteps(FROZEN, millis(START + 2000)),
    );
    await null;
    expect(exchange.now).toBe(START + 2000);
  });

  it("waits for the previous one and begins at its end", async () => {
    const { exchange, move } = openClock();
    await Promise.all([move(10), move(5), move(3)]);
    expect(exchange.now).toBe(START + 18_000);
  });

  it("keeps its time until its caller continues, although another change is pending", async () => {
    const { exchange, move } = openClock();
    const answered = move(10).then(async () => {
      for (let microtask = 0; microtask < 20; microtask += 1) await null;
      return exchange.now;
    });
    const next = move(5);
    expect(await answered).toBe(START + 10_000);
    await next;
    expect(exchange.now).toBe(START + 15_000);
  });

  it("that fails does not block the next one", async () => {
    const { exchange, clock, move } = openClock();
    const failed = clock.change(new Slices(), () => {
      throw new RangeError("no such time");
    });
    await expect(failed).rejects.toThrow("no such time");
    await move(1);
    expect(exchange.now).toBe(START + 1000);
  });

  it("ends if the exchange is restored or restarted meanwhile, and does not move it on", async () => {
    for (const isRestored of [true, false]) {
      const { exchange, clock, move } = openClock();
      const snapshot = exchange.snapshot();
      const done = move(60);
      await runTurns(5);
      if (isRestored) exchange.restore(snapshot);
      else exchange.restart(START);
      const { hash } = exchange;
      expect(await done).toBe(false);
      expect([exchange.now, exchange.hash, clock.mode]).toEqual([START, hash, "frozen"]);
    }
  });

  it("alone moves the time until its end; the wall clock does not", async () => {
    let wall = 0;
    const { exchange, clock, move } = openClock({ mode: "real", rate: 1 }, () => wall);
    let notified = 0;
    clock.watch(() => {
      notified += 1;
    });
    const done = move(60);
    await runTurns(5);
    wall = 7000;
    const { now } = exchange;
    clock.advanceToNow();
    expect([exchange.now, notified]).toEqual([now, 0]);
    await done;
    wall = 8000;
    clock.advanceToNow();
    expect([exchange.now, notified]).toEqual([START + 61_000, 1]);
    clock.stop();
  });
});
