import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import { runScenario } from "../../../src/scenario/run/run-scenario.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { Wallets } from "../../../src/scenario/venue/wallets.ts";
import { inCheckout } from "../checkout.ts";
import { runProgram } from "./run-program.ts";

/** How many orders the replayed flow places; what funds and cancels comes on top. */
export const FLOW_ORDERS = 1_000_000;

/** Orders a second that a scenario replays from a file, each round in an exchange of its own. */
export async function replayRates(folder: string, rounds: number): Promise<number[]> {
  const flow = join(folder, "flow.csv");
  await runProgram(inCheckout("bin/clobsim.js"), ["flow", "--orders", String(FLOW_ORDERS), "--out", flow]);
  const file = join(folder, "replay.yaml");
  writeFileSync(file, "scenario: a long flow\nsteps:\n  - replay: flow.csv\n");
  const { scenario } = loadScenario(file);
  if (scenario === null) throw new Error("the scenario of the benchmark is wrong");
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    const open = (): LocalVenue => new LocalVenue(scenario, null, new Wallets());
    const { result } = await runScenario(scenario, { way: "process", open });
    if (result.failure !== null) throw new Error(result.failure.message);
    rates.push((FLOW_ORDERS * 1000) / (performance.now() - start));
  }
  return rates;
}
