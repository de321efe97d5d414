import type { Millis } from "../../core/units.ts";
import { flowOf } from "../flow/flow-of.ts";
import type { FlowRow } from "../flow/flow-row.ts";
import { lineOfRow } from "../flow/read-flow.ts";
import type { GenerateStep, ReplayStep } from "../language/scenario.ts";
import { RowError } from "../venue/row-error.ts";
import type { BrokenRow, FlowOutcome } from "../venue/venue.ts";
import { note } from "./diff.ts";
import type { DiffLine } from "./result.ts";
import { BROKEN_INVARIANT, defectAt, fail, RunStopped, ScenarioFailure, type Session } from "./session.ts";
import { shownPath } from "./shown-path.ts";

type FlowStep = ReplayStep | GenerateStep;

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Plays an order flow, from a file or made from the scenario's seed. @throws ScenarioFailure */
export async function takeFlow(session: Session, step: FlowStep): Promise<void> {
  const before = session.venue.fillCount();
  const start = await session.venue.now();
  const flow = await play(session, step, start);
  const fills = session.venue.fillCount() - before;
  session.log(
    `${step.number}. ${step.text} → ${counted(flow.rows, "row")}: ${flow.placed} placed, ${flow.canceled} canceled, ${flow.rejected} refused, ${fills} fills`,
  );
  if (flow.broken !== null) {
    const { violations } = flow.broken;
    fail(step.place, BROKEN_INVARIANT, [
      ...violations.map(note),
      await rowNote(step, start, "after", flow.broken),
    ]);
  }
  const wanted = step.kind === "replay" ? step.rejected : 0;
  if (flow.rejected === wanted) return;
  fail(
    step.place,
    `${flow.rejected} row${flow.rejected === 1 ? " is" : "s are"} refused, expected ${wanted}`,
    flow.firstRejection === null
      ? []
      : [
          note(`the first: ${flow.firstRejection}`),
          note(`where that is meant, the step says rejected: ${flow.rejected}`),
        ],
  );
}

async function play(session: Session, step: FlowStep, start: Millis): Promise<FlowOutcome> {
  const { venue } = session;
  const market = session.marketOf(step.market);
  const grid = await venue.gridOf(market);
  const rows = flowOf(step, { seed: session.scenario.seed, start, grid });
  try {
    return await venue.play(stoppable(rows, session.stop), market, session.judging);
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    const defect = defectAt(step.place, error.cause);
    throw new ScenarioFailure([
      { ...defect, diff: [await rowNote(step, start, "at", error), ...defect.diff] },
    ]);
  }
}

/** Rows that nobody asks whether to stop before. */
const ROWS_AT_ONCE = 250;

/** The same rows, until the run is to end. */
async function* stoppable(
  rows: AsyncIterable<readonly FlowRow[]>,
  stop: () => boolean,
): AsyncGenerator<readonly FlowRow[]> {
  for await (const batch of rows) {
    for (let start = 0; start < batch.length; start += ROWS_AT_ONCE) {
      if (stop()) throw new RunStopped();
      yield batch.slice(start, start + ROWS_AT_ONCE);
    }
  }
}

/** `after row 4711 (flow.csv:4712), alice: BUY 10 YES @ 0.55 GTC`. */
async function rowNote(
  step: FlowStep,
  start: Millis,
  when: "at" | "after",
  { row, text }: Pick<BrokenRow, "row" | "text">,
): Promise<DiffLine> {
  return note(`${when} row ${row}${await placeOf(step, row, start)}, ${text}`);
}

async function placeOf(step: FlowStep, row: number, start: Millis): Promise<string> {
  if (step.kind === "generate") return "";
  const line = await lineOfRow(step.file, row, start);
  return line === null ? "" : ` (${shownPath(step.file)}:${line})`;
}
