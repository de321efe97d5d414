import type { GenerateStep, ReplayStep } from "../language/scenario.ts";
import { note } from "./diff.ts";
import { fail, type Session } from "./session.ts";

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Plays an order flow, from a file or made from the scenario's seed. */
export async function takeFlow(session: Session, step: ReplayStep | GenerateStep): Promise<void> {
  const market = session.marketOf(step.market);
  const before = session.venue.fillCount();
  const start = await session.venue.now();
  // What reads and makes flows is loaded only for scenarios that have one.
  const { flowOf } = await import("../flow/flow-of.ts");
  const grid = await session.venue.gridOf(market);
  const rows = flowOf(step, { seed: session.scenario.seed, start, grid });
  const flow = await session.venue.play(rows, market);
  const fills = session.venue.fillCount() - before;
  session.log(
    `${step.number}. ${step.text} → ${counted(flow.rows, "row")}: ${flow.placed} placed, ${flow.canceled} canceled, ${flow.rejected} refused, ${fills} fills`,
  );
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
