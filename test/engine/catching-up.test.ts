import { describe, expect, it } from "vitest";
import type { Config } from "../../src/config.ts";
import { millis } from "../../src/core/units.ts";
import { TestExchange } from "../support/exchange.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { flush, journalIn, journalLines, openNew, openOn, withoutLock } from "./support/persisted.ts";
import { takeSteps } from "./support/short-history.ts";

const REAL: Partial<Config> = { clock: { mode: "real" } };

/** An order that expires in 20 s, and a trade that is settled in the next block. */
const TRADING = "ann BUY 1 YES @ 0.3 GTD 20s; ann BUY 1 YES @ 0.5; ben BUY 1 NO @ 0.5";

async function stopAndStart(how: "killed" | "stopped", some: Partial<Config>, awayMs: number) {
  const { disk, wall, opened: first, exchange } = await openNew(some);
  takeSteps(first, 12);
  new TestExchange(exchange).act(TRADING);
  wall.now += 700;
  first.clock.advanceToNow();
  flush(first);
  const { now } = exchange;
  first.clock.stop();
  if (how === "stopped") await first.close();
  const left = new SimulatedDisk(withoutLock(disk.image));
  const lines = linesOn(left).length;
  wall.now += awayMs;
  const opened = await openOn(left, {}, [], () => wall.now);
  flush(opened);
  opened.clock.stop();
  const added = linesOn(left).slice(lines);
  return { opened, wall: wall.now, now, caused: added.map(({ k, t }) => [k, t - now]) };
}

const linesOn = (disk: SimulatedDisk) => journalLines(journalIn(disk.image));

describe("an exchange that is resumed later", () => {
  it.each(["killed", "stopped"] as const)(
    "%s, with a real clock: executes what became due at its time, in order",
    async (how) => {
      const { opened, wall, caused } = await stopAndStart(how, REAL, 60_000);
      expect(opened.exchange.now).toBe(wall);
      expect(opened.clock.setting).toEqual({ mode: "real", rate: 1 });
      const due = caused.filter(([kind]) => kind === "expireOrder" || kind === "produceBlock");
      expect(due).toContainEqual(["expireOrder", 20_000 - 700]);
      expect(due[0]).toEqual(["produceBlock", 2_000 - 700]);
      expect(due.map(([, at]) => at)).toEqual(due.map(([, at]) => Number(at)).sort((a, b) => a - b));
    },
  );

  it.each([
    ["killed", { mode: "frozen" }],
    ["stopped", { mode: "frozen" }],
    ["stopped", { mode: "scaled", rate: 60 }],
  ] as const)("%s, with the clock %j: continues at the time at which it stopped", async (how, clock) => {
    const { opened, now, caused } = await stopAndStart(how, { clock }, 60_000);
    expect(opened.exchange.now).toBe(now);
    expect(opened.clock.mode).toBe(clock.mode);
    expect(caused.filter(([kind]) => kind === "expireOrder")).toEqual([]);
  });

  it("with a real clock at another time, continues from that time", async () => {
    const start = millis(Date.UTC(2030, 0, 1));
    const { wall, opened, resume } = await openNew({ ...REAL, start });
    wall.now += 5_000;
    await opened.close();
    wall.now += 3_600_000;
    expect((await resume({})).exchange.now).toBe(start + 5_000 + 3_600_000);
  });

  it("with a frozen clock changed to real, continues at the time at which it stopped", async () => {
    const { wall, opened, exchange, resume } = await openNew();
    const { now } = exchange;
    await opened.close();
    wall.now += 60_000;
    const later = await resume({ ...REAL, given: new Set(["clock"]) });
    expect([later.exchange.now, later.clock.mode]).toEqual([now, "real"]);
    later.clock.stop();
  });

  it("includes in its session what became due while it was stopped", async () => {
    const { wall, opened, resume } = await openNew(REAL);
    takeSteps(opened, 12);
    new TestExchange(opened.exchange).send("ann BUY 1 YES @ 0.4 GTD 60s");
    await opened.close();
    wall.now += 3_600_000;
    const { exchange, session, atSessionStart, close } = await resume();
    const entries = session.entries ?? [];
    expect(entries.map(({ command }) => command.kind)).toEqual(["expireOrder"]);
    const again = atSessionStart();
    for (const entry of entries) again.replay(entry);
    expect([again.sequence, again.hash]).toEqual([exchange.sequence, exchange.hash]);
    await close();
  });
});
