import type { RaceOutcome, RaceReport } from "../run/result.ts";
import { hung, indented } from "./columns.ts";
import { count } from "./figures.ts";
import type { Paint } from "./paint.ts";
import { visible } from "./printable.ts";

/** Different outcomes that are shown of one race. */
const MOST_SHOWN = 12;

/** The orders of a race by what they led to, in the order in which it was first seen. */
function byOutcome(outcomes: readonly RaceOutcome[]): RaceOutcome[][] {
  const groups = new Map<string, RaceOutcome[]>();
  for (const outcome of outcomes) {
    const key = JSON.stringify(outcome.after);
    const others = groups.get(key);
    if (others === undefined) groups.set(key, [outcome]);
    else others.push(outcome);
  }
  return [...groups.values()];
}

/** `2 orders, 2 outcomes`, and each outcome: the first order that led to it, then what it led to. */
export function raceLines({ step, outcomes }: RaceReport, paint: Paint, width: number): string[] {
  const groups = byOutcome(outcomes);
  const shown = groups.slice(0, MOST_SHOWN);
  const digits = String(shown.length).length;
  const lines = shown.flatMap((orders, index) => {
    const room = width - digits - 4;
    const [first] = orders;
    const told = (first?.lines ?? []).flatMap((line) => hung("", visible(line), room));
    if (orders.length > 1)
      told.push(paint.dim(`and the same after ${count(orders.length - 1, "other order")}`));
    const after = (first?.after ?? []).flatMap((line) => hung("= ", visible(line), room).map(paint.dim));
    const number = String(index + 1).padStart(digits);
    return [...told, ...after].map((line, at) =>
      `  ${at === 0 ? number : " ".repeat(digits)}  ${line}`.trimEnd(),
    );
  });
  const more = groups.length - shown.length;
  if (more > 0)
    lines.push(...indented([`and ${count(more, "more outcome")}: the json report holds them all`], 2));
  return [
    `race at step ${step}: ${count(outcomes.length, "order")}, ${count(groups.length, "outcome")}`,
    ...lines,
  ];
}
