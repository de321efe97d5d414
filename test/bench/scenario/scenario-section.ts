import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProgram, inCheckout } from "../checkout.ts";
import { measurementOf } from "../measurement.ts";
import { median } from "../rounds.ts";
import type { Measurement, Section } from "../section.ts";
import { millisecondsToEnd } from "../start/first-answer.ts";
import { takeTurns } from "../turns.ts";
import { FLOW_ORDERS, replayRates } from "./replay-rate.ts";
import { smallScenario } from "./small-scenario.ts";

const FEWEST_ROUNDS = 5;

/** How long scenarios take: one, the whole suite with its start, and a long order flow. */
export const scenarioSection: Section = {
  name: "scenario",
  about: "scenarios in this process, and as the program runs them",
  async measure(asked) {
    await buildProgram();
    const rounds = Math.max(asked, FEWEST_ROUNDS);
    const folder = mkdtempSync(join(tmpdir(), "clobsim-bench-"));
    try {
      return {
        unit: "ms, or orders a second",
        baseline: "node -e 0",
        rounds,
        measurements: [
          await smallMeasurement(folder, rounds),
          ...(await programMeasurements(folder, rounds)),
          measurementOf(
            `replay of ${FLOW_ORDERS.toLocaleString("en-US")} orders, a second`,
            "clobsim",
            await replayRates(folder, rounds),
            null,
          ),
        ],
        notes: [
          "A small scenario: read from its text, opened, its steps taken, every invariant judged after each, its end compared.",
          "The replay reads CSV, sends each order through ledger and book, judges each fill, and every invariant now and then and at the end.",
        ],
      };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

async function smallMeasurement(folder: string, rounds: number): Promise<Measurement> {
  const run = smallScenario(folder);
  const samples: number[] = [];
  await run(2_000);
  for (let round = 0; round < rounds; round += 1) samples.push(await run(500));
  return measurementOf("one small scenario, after start", "clobsim", samples, null);
}

async function programMeasurements(folder: string, rounds: number): Promise<Measurement[]> {
  const program = inCheckout("bin/clobsim.js");
  const one = join(folder, "one.yaml");
  writeFileSync(one, "scenario: nothing happens\nsteps:\n  - advance: 1s\n");
  const suite = inCheckout("scenarios");
  const [nothing = [], single = [], all = [], everywhere = []] = await takeTurns(
    [
      () => millisecondsToEnd(["-e", "0"]),
      () => millisecondsToEnd([program, "run", one]),
      () => millisecondsToEnd([program, "run", suite, "--via", "process"]),
      () => millisecondsToEnd([program, "run", suite]),
    ],
    { rounds, warmUps: 1 },
  );
  const baseline = median(nothing);
  return [
    measurementOf("to the end of the process", "node -e 0", nothing, baseline),
    measurementOf("to the end of the process", "clobsim run, one scenario", single, baseline),
    measurementOf("to the end of the process", "clobsim run scenarios --via process", all, baseline),
    measurementOf("to the end of the process", "clobsim run scenarios, some over HTTP", everywhere, baseline),
  ];
}
