import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import type { Scenario } from "../../../src/scenario/language/steps.ts";
import { runScenario } from "../../../src/scenario/run/run-scenario.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { inCheckout, runProgram } from "../programs.ts";

/** Writes a generated flow to a file, and returns a scenario that replays it; funding and cancels are additional. */
export async function longFlow(
  folder: string,
  orders: number,
): Promise<{ readonly flow: string; readonly scenario: Scenario }> {
  const flow = join(folder, "flow.csv");
  await runProgram(inCheckout("bin/clobsim.js"), ["flow", "--orders", String(orders), "--out", flow]);
  const file = join(folder, "replay.yaml");
  writeFileSync(file, "scenario: a long flow\nsteps:\n  - replay: flow.csv\n");
  const { scenario } = loadScenario(file);
  if (scenario === null) throw new Error("the scenario of the benchmark is invalid");
  return { flow, scenario };
}

/** Runs a scenario in a new exchange and returns the number of trades. @throws Error if it fails. */
export async function replayOnce(scenario: Scenario): Promise<number> {
  const venue = new LocalVenue(scenario);
  const { result } = await runScenario(scenario, { way: "process", open: () => venue });
  if (result.failure !== null) throw new Error(result.failure.message);
  return venue.state.trades.size;
}
