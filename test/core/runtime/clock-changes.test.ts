import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { millis } from "../../../src/core/units.ts";
import { Clock, type ClockSetting } from "../../../src/engine/clock.ts";
import { Slices } from "../../../src/engine/slices.ts";
import { openFloor, START } from "../../support/exchange.ts";

const FROZEN: ClockSetting = { mode: "frozen", rate: 0 };
const ORDERS = 30;

/** A clock over an exchange with 30 orders that expire one second after another, in slices of one step. */
function openClock(setting = FROZEN, wallNow = () => 0) {
  const floor = openFloor();
  for (let second = 1; second <= ORDERS; second += 1) floor.send(`alice BUY 1 YES @ 0.5 GTD ${second}s`);
  const { exchange } = floor;
  const clock = new Clock(exchange, setting, wallNow);
  const slices = new Slices(0);
  const live = (): number => [...exchange.state.orders].filter(({ status }) => status === "LIVE").length;
  const move = (seconds: number): Promise<boolean> =>
    clock.change(slices, () => clock.moveInSteps(clock.setting, millis(exchange.now + seconds * 1000)));
  return { exchange, clock, live, move };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

describe("a change of the time on which much becomes due", () => {
  it("lets others have their turn, who see the moment that it has come to", async () => {
    const { exchange, live, move } = openClock();
    const done = move(60);
    await turns(5);
    const left = live();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(ORDERS);
    expect(exchange.now).toBe(START + (ORDERS - left) * 1000);
    expect(await done).toBe(true);
    expect([live(), exchange.now]).toEqual([0, START + 60_000]);
  });

  it("is done at once where little becomes due", () => {
    const { exchange, clock } = openClock();
    void clock.change(new Slices(), () => clock.moveInSteps(FROZEN, millis(START + 2000)));
    return Promise.resolve().then(() => expect(exchange.now).toBe(START + 2000));
  });

  it("waits for the one before it, and begins where that has ended", async () => {
    const { exchange, move } = openClock();
    await Promise.all([move(10), move(5), move(3)]);
    expect(exchange.now).toBe(START + 18_000);
  });

  it("leaves its time standing for who waited for it, though another waits", async () => {
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

  it("that fails does not keep the next from its turn", async () => {
    const { exchange, clock, move } = openClock();
    const failed = clock.change(new Slices(), () => {
      throw new RangeError("no such time");
    });
    await expect(failed).rejects.toThrow("no such time");
    await move(1);
    expect(exchange.now).toBe(START + 1000);
  });

  it("ends where the exchange is put back meanwhile, and leaves it there", async () => {
    for (const isRestored of [true, false]) {
      const { exchange, clock, move } = openClock();
      const kept = exchange.snapshot();
      const done = move(60);
      await turns(5);
      if (isRestored) exchange.restore(kept);
      else exchange.restart(START);
      const { hash } = exchange;
      expect(await done).toBe(false);
      expect([exchange.now, exchange.hash, clock.mode]).toEqual([START, hash, "frozen"]);
    }
  });

  it("moves the time alone until it is done, whatever the wall clock shows", async () => {
    let wall = 0;
    const { exchange, clock, move } = openClock({ mode: "real", rate: 1 }, () => wall);
    let told = 0;
    clock.watch(() => {
      told += 1;
    });
    const done = move(60);
    await turns(5);
    wall = 7000;
    const { now } = exchange;
    clock.settle();
    expect([exchange.now, told]).toEqual([now, 0]);
    await done;
    wall = 8000;
    clock.settle();
    expect([exchange.now, told]).toEqual([START + 61_000, 1]);
    clock.stop();
  });
});
