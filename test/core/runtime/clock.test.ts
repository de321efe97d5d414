import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runSteps } from "../../../src/core/steps.ts";
import { MAX_MILLIS, millis } from "../../../src/core/units.ts";
import { Clock, type ClockSetting, Slices, Snapshots } from "../../../src/engine/clock.ts";
import { openFundedExchange, START } from "../../support/exchange.ts";
import { rowsOf } from "../../support/table.ts";

/** Reads a clock in words: `real`, `frozen`, or a rate such as `60x`. */
function settingOf(words: string): ClockSetting {
  if (words === "frozen") return { mode: "frozen", rate: 0 };
  return words === "real" ? { mode: "real", rate: 1 } : { mode: "scaled", rate: Number.parseFloat(words) };
}

/** Opens an exchange whose clock follows a wall clock that the test sets. */
function clockedExchange(words: string) {
  const testExchange = openFundedExchange();
  const { exchange } = testExchange;
  const wall = { now: 5_000_000 };
  const clock = new Clock(exchange, settingOf(words), () => wall.now);
  const snapshots = new Snapshots(exchange, clock);
  /** Advances the wall clock, then the clock, and returns the virtual milliseconds since the start. */
  const later = (wallMs: number): number => {
    wall.now += wallMs;
    clock.advanceToNow();
    return exchange.now - START;
  };
  /** Takes a step of `RUNS`, and returns the same. */
  const step = (action: string): number => {
    const [setting = "", ms = exchange.now - START] = action.split("@");
    if (action === "keep") snapshots.take(null);
    else if (action === "return") snapshots.restore(snapshots.all[0] as (typeof snapshots.all)[number]);
    else if (action === "restart") {
      exchange.restart(START);
      clock.open();
    } else if (/^-?[\d.]+$/.test(action)) return later(Number(action));
    else runSteps(clock.moveInSteps(settingOf(setting), millis(START + Number(ms))));
    return exchange.now - START;
  };
  return { testExchange, clock, later, step };
}

/**
 * A rule, a clock, and steps, with the virtual time after each, and the clock at the end. A step is the wall time that passes,
 * another clock, perhaps at a virtual time, a snapshot that is kept, the return to it, or a restart of the exchange. All times
 * are in milliseconds since the start.
 */
const RUNS = rowsOf(`
real follows the wall clock from the time of the exchange | real | 0 1 999 | 0 1 1000 real 1
real reads whole milliseconds from a wall clock with fractions | real | 0.6 0.6 | 0 1 real 1
real never runs backwards if the wall clock jumps back, and advances again later | real | 10000 -8000 1000 8000 | 10000 10000 11000 19000 real 1
frozen does not advance | frozen | 0 1000000 | 0 0 frozen 0
scaled multiplies | 60x | 1000 | 60000 scaled 60
scaled divides | 0.1x | 1000 | 100 scaled 0.1
scaled rounds down | 0.1x | 9 | 0 scaled 0.1
scaled by a fraction rounds down | 1.5x | 3 | 4 scaled 1.5
scaled by the maximum | 1000000x | 1 | 1000000 scaled 1000000
setting it never moves time back | real | 10000 real@1 5 | 10000 10000 10005 real 1
setting it from frozen to real does not add the wall time between | real | 1000 frozen 1000000 real 1 | 1000 1000 1000 1000 1001 real 1
setting it to scaled scales only later time | real | 1000 10x 100 real 1 | 1000 1000 2000 2000 2001 real 1
a restart of the exchange leaves a frozen clock at the new start | frozen | frozen@5000 restart 10 | 5000 0 0 frozen 0
a restart of the exchange lets a real clock advance from the new start | real | 5000 restart 0 10 | 5000 0 0 10 real 1
a restart of the exchange reverts changes of mode and rate | real | 600x@5000 restart 0 10 | 5000 0 0 10 real 1
a restored snapshot returns to its time if frozen | frozen | keep frozen@9000 return 1000 | 0 9000 0 0 frozen 0
a restored snapshot has its own mode and rate | 10x | 100 keep frozen@50000 7000 return 5 | 1000 1000 50000 50000 1000 1050 scaled 10
a restored snapshot does not add the wall time that passed since if real | real | 1000 keep 100000 return 1 | 1000 1000 101000 1000 1001 real 1
`);

describe("a clock", () => {
  it.each(RUNS)("%s", (_rule, words = "", steps = "", expected) => {
    const { clock, step } = clockedExchange(words);
    const times = steps.split(" ").map(step);
    expect([...times, clock.mode, clock.rate].join(" ")).toBe(expected);
  });

  it("does not drift if it is read often", () => {
    const { later } = clockedExchange("0.7x");
    let last = 0;
    for (let step = 0; step < 10_000; step += 1) last = later(1);
    expect(last).toBe(7000);
  });

  it("ends at the last four-digit year", () => {
    expect(clockedExchange("1000000x").later(1_000_000_000_000)).toBe(MAX_MILLIS - START);
  });

  it("executes timed commands at their own moments", () => {
    const { testExchange, later } = clockedExchange("real");
    testExchange.send("alice BUY 1 YES @ 0.5 GTD 1500ms");
    later(60_000);
    expect(testExchange.state.orders.get(1)).toMatchObject({ status: "EXPIRED", updatedAt: START + 1500 });
  });

  it("that opened at the wall time returns to the current wall time after a restart", () => {
    const { exchange } = openFundedExchange();
    let wall = START + 1000;
    const clock = new Clock(exchange, settingOf("real"), () => wall, true);
    clock.open();
    expect(exchange.now).toBe(START + 1000);
    runSteps(clock.moveInSteps(settingOf("frozen"), millis(START + 9000)));
    wall += 500;
    exchange.restart(START);
    clock.open();
    expect(exchange.now).toBe(START + 1500);
  });
});

/**
 * A rule, a clock, the lifetimes of alice's orders, and steps; her open orders and the number of timers after each. A step is
 * the wall time that passes, an order with a lifetime, the cancel of one, another clock at a virtual time, a stop, or a restart
 * of the exchange. All times are in milliseconds.
 */
const TIMERS = rowsOf(`
expires an order at its moment | real | 1s 3s | 999 1 2000 | 1 2: 1 > 2: 1 > none: 0
is not set while the clock is frozen or nothing is due | frozen | 1s | 0 real@0 cancel@1 | 1: 0 > 1: 1 > none: 0
is a single one for the earliest moment, however often it is set | real | 10s | order@1s 1000 | 1 2: 1 > 1: 1
is adjusted when the clock is moved forward | real | 1h | real@3599000 1000 | 1: 1 > none: 0
is adjusted when the rate changes | real | 1h | 3600x@0 1000 | 1: 1 > none: 0
is cleared when the clock stops | real | 1s | stop 5000 | 1: 0 > 1: 0
is cleared for a restarted exchange | real | 1s | restart | none: 0
`);

/** The wall clock is that of the fake timers. */
describe("the timer between requests", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Opens a clock whose timer waits for orders of alice, by their lifetimes. */
  function armed(words: string, lifetimes: readonly string[], wallNow = Date.now) {
    const exchange = openFundedExchange();
    const clock = new Clock(exchange.exchange, settingOf(words), wallNow);
    const order = (lifetime: string): void => {
      exchange.send(`alice BUY 1 YES @ 0.5 GTD ${lifetime}`);
      clock.arm();
    };
    for (const lifetime of lifetimes) order(lifetime);
    return { exchange, clock, order };
  }

  it.each(TIMERS)("%s", (_rule, words = "", lifetimes = "", steps = "", expected) => {
    const { exchange, clock, order } = armed(words, lifetimes.split(" "));
    const take = (step: string): void => {
      const [verb = "", argument = ""] = step.split("@");
      if (/^\d+$/.test(verb)) vi.advanceTimersByTime(Number(verb));
      else if (verb === "order") order(argument);
      else if (verb === "stop") clock.stop();
      else if (verb === "cancel") {
        exchange.cancel("alice", Number(argument));
        clock.arm();
      } else if (verb === "restart") {
        exchange.exchange.restart(START);
        clock.open();
      } else runSteps(clock.moveInSteps(settingOf(verb), millis(START + Number(argument))));
    };
    const seen = steps.split(" ").map((step) => {
      take(step);
      return `${exchange.open("alice").join(" ") || "none"}: ${vi.getTimerCount()}`;
    });
    expect(seen.join(" > ")).toBe(expected);
  });

  /** Runs timers until there are none, and returns how many ran. */
  function wakeUps(): number {
    let fired = 0;
    for (; vi.getTimerCount() > 0 && fired < 100; fired += 1) vi.advanceTimersToNextTimer();
    return fired;
  }

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
});

const ORDERS = 30;

/** Opens a clock and an exchange with 30 orders that expire one per second; slices have one step. */
function openClock(words = "frozen", wallNow = () => 0) {
  const testExchange = openFundedExchange();
  for (let second = 1; second <= ORDERS; second += 1)
    testExchange.send(`alice BUY 1 YES @ 0.5 GTD ${second}s`);
  const { exchange } = testExchange;
  const clock = new Clock(exchange, settingOf(words), wallNow);
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
      clock.moveInSteps(clock.setting, millis(START + 2000)),
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
    const { exchange, clock, move } = openClock("real", () => wall);
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
