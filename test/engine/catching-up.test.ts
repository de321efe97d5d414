import { describe, expect, it } from "vitest";
import type { Config } from "../../src/config.ts";
import { tokenIdIn } from "../../src/core/market.ts";
import { millis } from "../../src/core/units.ts";
import { parseLine } from "../../src/engine/journal-codec.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { orderCommand } from "../support/commands.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { FOLDER, NOON, openOn, withoutLock } from "./support/kept.ts";
import { takeStep } from "./support/short-history.ts";

const REAL: Partial<Config> = { clock: { mode: "real" } };

/** Somebody's order for YES tokens, that lasts 20 s, and a trade that is to be settled in the next block. */
function trade({ exchange }: OpenedExchange): void {
  const market = exchange.state.markets.get(1);
  const tokenId = (outcome: "YES" | "NO"): string => tokenIdIn(market, outcome);
  for (const sentence of ["ann BUY 1 YES @ 0.3 GTD 20s", "ann BUY 1 YES @ 0.5", "ben BUY 1 NO @ 0.5"]) {
    const decision = exchange.submit(orderCommand(sentence, exchange.now, tokenId));
    if (!decision.ok) throw new Error(`${sentence}: ${decision.refusal.code}`);
  }
}

async function stopAndStart(how: "killed" | "stopped", some: Partial<Config>, awayMs: number) {
  let wall = NOON;
  const wallNow = (): number => wall;
  const disk = new SimulatedDisk();
  const first = await openOn(disk, some, [], wallNow);
  for (let step = 0; step < 12; step += 1) takeStep(first, step);
  trade(first);
  wall += 700;
  first.clock.settle();
  first.persistence.flush(first.persistence.position);
  const { now } = first.exchange;
  first.clock.stop();
  if (how === "stopped") await first.close();
  const left = new SimulatedDisk(withoutLock(disk.image));
  const lines = linesOn(left).length;
  wall += awayMs;
  const opened = await openOn(left, {}, [], wallNow);
  opened.persistence.flush(opened.persistence.position);
  opened.clock.stop();
  const added = linesOn(left).slice(lines);
  return { opened, wall, now, caused: added.map(({ k, t }) => [k, t - now]) };
}

const linesOn = (disk: SimulatedDisk) =>
  Buffer.from(disk.image.get(`${FOLDER}/journal.ndjson`) ?? new Uint8Array())
    .toString("latin1")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const parsed = parseLine(Buffer.from(line, "latin1"));
      if (parsed === null) throw new Error(`no line: ${line}`);
      return parsed;
    });

describe("an exchange that goes on after a while", () => {
  it.each(["killed", "stopped"] as const)(
    "%s, with a real clock: all that became due happens at its moment, in order",
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
  ] as const)("%s, with a clock that is %j: it stands where it stood", async (how, clock) => {
    const { opened, now, caused } = await stopAndStart(how, { clock }, 60_000);
    expect(opened.exchange.now).toBe(now);
    expect(opened.clock.mode).toBe(clock.mode);
    expect(caused.filter(([kind]) => kind === "expireOrder")).toEqual([]);
  });

  it("with a real clock that stood elsewhere, runs on from there", async () => {
    let wall = NOON;
    const start = millis(Date.UTC(2030, 0, 1));
    const disk = new SimulatedDisk();
    const first = await openOn(disk, { ...REAL, start }, [], () => wall);
    wall += 5_000;
    await first.close();
    wall += 3_600_000;
    const { exchange } = await openOn(new SimulatedDisk(disk.image), {}, [], () => wall);
    expect(exchange.now).toBe(start + 5_000 + 3_600_000);
  });

  it("when a frozen clock is to be real from now on, begins where it stood", async () => {
    const disk = new SimulatedDisk();
    const first = await openOn(disk);
    const { now } = first.exchange;
    await first.close();
    const given = { ...REAL, given: new Set(["clock"]) };
    const later = await openOn(new SimulatedDisk(disk.image), given, [], () => NOON + 60_000);
    expect([later.exchange.now, later.clock.mode]).toEqual([now, "real"]);
    later.clock.stop();
  });
});
