import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Figures } from "../soak/plan.ts";
import { planOf } from "../soak/plan.ts";
import { runSoak } from "../soak/soak.ts";
import { checkFigures } from "../soak/verdict.ts";
import { Program } from "../support/program.ts";

const PROBE = fileURLToPath(new URL("../soak/memory-probe.mjs", import.meta.url));
/** Checks that depend on the speed of the machine. */
const TIMED = /^p99 /;

const programs: Program[] = [];
beforeAll(async () => {
  programs.push(await Program.built(), await Program.built());
});
afterAll(async () => {
  for (const program of programs) await program.dispose();
});

/** Runs two cycles of so many requests per client, with the crash in the second. */
const short = (requests: number, program: Program, beforeReplay?: (data: string) => void): Promise<Figures> =>
  runSoak({
    ...{ program, probe: PROBE, clients: 9, rate: 0, seed: 5, ...(beforeReplay && { beforeReplay }) },
    plan: planOf(2, (share) => ({ kind: "requests", each: Math.round(requests * share) })),
  });

const failed = (figures: Figures): string[] =>
  checkFigures(figures)
    .filter(({ what, holds }) => holds === false && !TIMED.test(what))
    .map(({ what, figure, why = [] }) => [what, figure, ...why].join(": "));

describe("a short soak", () => {
  it("passes, with all phases and disturbances", async () => {
    const figures = await short(100, programs[0] as Program);
    expect(failed(figures)).toEqual([]);
    expect(figures.phases.map(({ kind, process }) => `${kind} ${process}`)).toEqual([
      ...["steady 1", "disturbed 1", "settling 1", "reads 1"],
      ...["steady 1", "crash 2", "settling 2", "reads 2"],
    ]);
    expect(figures.phases.every(({ requests }) => requests > 0)).toBe(true);
    expect(figures.phases.at(-1)?.accepted).toBeGreaterThan(100);
    expect(figures.crash.checked).toBeGreaterThan(0);
    expect(Object.keys(figures.disturbances).length).toBeGreaterThan(5);
  });

  it("fails if a byte of the journal is changed", async () => {
    const figures = await short(20, programs[1] as Program, (data) => {
      const path = join(data, "journal.ndjson");
      const bytes = readFileSync(path);
      const at = bytes.indexOf("\n", bytes.length >> 1) + 20;
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      writeFileSync(path, bytes);
    });
    expect(failed(figures).map((line) => line.split(":")[0])).toEqual([
      "exit codes of serve, replay and doctor",
      "state of the replay",
    ]);
  });
});
