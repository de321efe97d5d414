import { checkAll } from "../expect/check.ts";
import type { RaceStep, Step } from "../language/scenario.ts";
import { note } from "./diff.ts";
import { picture } from "./picture.ts";
import type { RaceOutcome } from "./result.ts";
import { ScenarioFailure, type Session } from "./session.ts";
import { takeStep } from "./take-step.ts";

/**
 * Takes the steps of a race in every order, each from the same snapshot and each followed by the rest of the scenario.
 * A step that is refused in some order is one of its outcomes, unless the step says how it must end.
 */
export async function explore(session: Session, race: RaceStep, rest: () => Promise<void>): Promise<void> {
  const start = { kept: await session.venue.snapshot(), memory: session.memory };
  const outcomes: RaceOutcome[] = [];
  session.races.push({ place: race.place, step: race.number, outcomes });
  session.steps += 1;
  const orders = permutationsOf(race.steps);
  for (const [index, order] of orders.entries()) {
    if (index > 0) {
      await session.venue.restore(start.kept);
      session.memory = start.memory;
    }
    session.log(`${race.number}. race, order ${index + 1} of ${orders.length}`);
    await inOrder(order, async () => {
      outcomes.push(await outcomeOf(session, order));
      await checkAll(session, race.after);
      await rest();
    });
  }
  await session.venue.forget(start.kept);
}

async function outcomeOf(session: Session, order: readonly Step[]): Promise<RaceOutcome> {
  const from = session.transcript.length;
  for (const step of order) {
    if (step.kind === "race") throw new Error("a race within a race");
    await takeStep(session, step, "lenient");
  }
  return { lines: session.transcript.slice(from), after: await picture(session) };
}

/** A failure says in which order it happened. */
async function inOrder(order: readonly Step[], run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof ScenarioFailure)) throw error;
    const remark = note(
      `in the order ${order.map(({ number, text }) => `${number}. ${text}`).join(", then ")}`,
    );
    const [first, ...more] = error.mismatches;
    throw first === undefined
      ? error
      : new ScenarioFailure([{ ...first, diff: [...first.diff, remark] }, ...more]);
  }
}

/** Every order of the items, the given one first, then as a dictionary would sort them. */
export function permutationsOf<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutationsOf([...items.slice(0, index), ...items.slice(index + 1)]).map((others) => [item, ...others]),
  );
}
