import type { Millis } from "../../core/units.ts";
import type { GenerateStep, ReplayStep } from "../language/scenario.ts";
import { FlowError } from "./flow-error.ts";
import type { FlowRow } from "./flow-row.ts";
import { type GenerateFlowOptions, generateFlow } from "./generate-flow.ts";
import { profileNamed } from "./profiles.ts";
import { readFlow } from "./read-flow.ts";

/** What a flow is made or read for. */
export interface FlowSetting {
  readonly seed: string;
  /** When the flow starts. */
  readonly start: Millis;
  readonly grid: NonNullable<GenerateFlowOptions["market"]>;
}

const BATCH = 4_096;

/** The rows of a step, some thousands at a time: of its file, or the same that `clobsim flow` makes of the seed. */
export function flowOf(
  step: ReplayStep | GenerateStep,
  setting: FlowSetting,
): AsyncIterable<readonly FlowRow[]> {
  if (step.kind === "replay") return readFlow(step.file, { start: setting.start });
  const profile = profileNamed(step.profile);
  if (profile === undefined) throw new FlowError(step.place.file, 0, 0, `unknown profile ${step.profile}`);
  const { orders, accounts, place } = step;
  try {
    return inBatches(generateFlow({ seed: setting.seed, orders, accounts, profile, market: setting.grid }));
  } catch (error) {
    throw error instanceof RangeError
      ? new FlowError(place.file, place.line, place.column, error.message)
      : error;
  }
}

async function* inBatches(rows: Iterable<FlowRow>): AsyncGenerator<readonly FlowRow[]> {
  let batch: FlowRow[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
