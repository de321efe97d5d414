import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProgram, inCheckout, millisecondsToEnd } from "../programs.ts";
import type { Measurement, Section } from "../section.ts";
import { measurementOf } from "../section.ts";

const FEWEST_ROUNDS = 3;
const COMMANDS = 300;
/** Number of seeds per round, by kind of run. */
const SEEDS = { process: 10_000, http: 60 } as const;
const MS_PER_MINUTE = 60_000;

/** Seeds per minute of a campaign, including its start. */
export const fuzzSection: Section = {
  name: "fuzz",
  about: `seeds of ${COMMANDS} commands a minute, on all processors`,
  async measure(asked) {
    await buildProgram();
    const rounds = Math.max(asked, FEWEST_ROUNDS);
    const folder = mkdtempSync(join(tmpdir(), "clobsim-bench-"));
    try {
      return {
        unit: "seeds a minute",
        baseline: null,
        rounds,
        measurements: [await campaigns("process", rounds, folder), await campaigns("http", rounds, folder)],
        notes: [
          "In this process: a reference exchange answers each command too, and what the command can have broken is judged.",
          "Over HTTP: several clients, and the proof that what they saw is one history.",
        ],
      };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/** Each round runs other seeds, the same in every run of the benchmark. */
async function campaigns(via: keyof typeof SEEDS, rounds: number, folder: string): Promise<Measurement> {
  const count = SEEDS[via];
  const samples: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const seeds = `${round * count}..${(round + 1) * count}`;
    const flags = ["--seeds", seeds, "--commands", String(COMMANDS), "--via", via, "--out", folder];
    const took = await millisecondsToEnd([inCheckout("bin/clobsim.js"), "fuzz", ...flags]);
    samples.push((count * MS_PER_MINUTE) / took);
  }
  return measurementOf(`clobsim fuzz --via ${via}`, "clobsim", samples, null);
}
