import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { millis } from "../../../src/core/units.ts";
import { Clock, type ClockSetting, Slices } from "../../../src/engine/clock.ts";
import { openFundedExchange, START } from "../../support/exchange.ts";

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
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(ORDERS);
    expect(exchange.now).toBe(START + (ORDERS - left) * 1000);
    expect(await done).toBe(true);
    expect([live(), exchange.now]).toEqual([0, START + 60_000]);
  });

  it("is made at once if little becomes due", () => {
    const { exchange, clock } = openClock();
    void clock.change(new Slices(), () => clock.moveInSteps(FROZEN, millis(START + 2000)));
    return Promise.resolve().then(() => expect(exchange.now).toBe(START + 2000));
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
    clock.settle();
    expect([exchange.now, notified]).toEqual([now, 0]);
    await done;
    wall = 8000;
    clock.settle();
    expect([exchange.now, notified]).toEqual([START + 61_000, 1]);
    clock.stop();
  });
});
