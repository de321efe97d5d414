import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readScenario } from "../../../src/scenario/language/read-scenario.ts";
import { runScenario } from "../../../src/scenario/run/run-scenario.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { Wallets } from "../../../src/scenario/venue/venue.ts";
import { buildProgram, inCheckout, millisecondsToEnd } from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import { type Measurement, measurementOf, type Section } from "../section.ts";
import { longFlow, replayOnce } from "./long-flow.ts";
import { smallScenario } from "./small-scenario.ts";

/** Number of orders of the replayed flow, in addition to funding and cancels. */
const FLOW_ORDERS = 1_000_000;

/** Orders per second that a scenario replays from a file; each round has a new exchange. */
async function replayRates(folder: string, rounds: number): Promise<number[]> {
  const { scenario } = await longFlow(folder, FLOW_ORDERS);
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await replayOnce(scenario);
    rates.push((FLOW_ORDERS * 1000) / (performance.now() - start));
  }
  return rates;
}

/** Mean milliseconds of a small scenario, from its text to its result. */
function smallScenarios(folder: string): (times: number) => Promise<number> {
  const wallets = new Wallets();
  const file = join(folder, "small.yaml");
  return async (times) => {
    const start = performance.now();
    for (let run = 0; run < times; run += 1) {
      const { scenario } = readScenario(file, smallScenario(1));
      if (scenario === null) throw new Error("the scenario of the benchmark is invalid");
      const open = (): LocalVenue => new LocalVenue(scenario, null, wallets);
      const { result } = await runScenario(scenario, { way: "process", open });
      if (result.failure !== null) throw new Error(result.failure.message);
    }
    return (performance.now() - start) / times;
  };
}

const FEWEST_ROUNDS = 5;

/** Duration of one scenario, of the whole suite with its start, and of a long order flow. */
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
  const run = smallScenarios(folder);
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
