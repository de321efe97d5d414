import type { Scenario } from "../language/scenario.ts";
import { diffOf } from "./diff.ts";
import { repeatLine } from "./repeat-line.ts";
import type { ScenarioResult } from "./result.ts";

/** The result of the first of `times` runs, which fails when another run did or saw anything else. */
export async function repeated(
  scenario: Scenario,
  first: ScenarioResult,
  times: number,
  flags: readonly string[],
  again: () => Promise<ScenarioResult>,
): Promise<ScenarioResult> {
  let { durationMs } = first;
  for (let run = 2; run <= times && first.status === "passed"; run += 1) {
    const other = await again();
    durationMs += other.durationMs;
    if (other.failure !== null) return { ...other, durationMs };
    const diff = diffOf(first.transcript, other.transcript);
    if (first.stateHash === other.stateHash && diff.every(({ kind }) => kind === "same")) continue;
    return {
      ...first,
      durationMs,
      status: "failed",
      failure: {
        place: scenario.place,
        step: first.steps,
        text: `run ${run} of ${times}`,
        message: "the same scenario ended otherwise, which is a defect of clobsim",
        diff,
        recent: [],
        repeat: `${repeatLine(scenario, flags, null)} --repeat ${times}`,
      },
    };
  }
  return { ...first, durationMs };
}
