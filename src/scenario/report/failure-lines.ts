import { placeText } from "../language/problem.ts";
import type { DiffLine, Failure } from "../run/result.ts";
import { hung, indented, wrapped } from "./columns.ts";
import type { Paint } from "./paint.ts";
import { oneLine, visible } from "./printable.ts";

/** What stands before a line of a comparison. */
export const DIFF_MARKS: Readonly<Record<DiffLine["kind"], string>> = {
  same: " ",
  expected: "-",
  found: "+",
  note: "#",
};

function diffLines(diff: readonly DiffLine[], paint: Paint, width: number): string[] {
  const paints: Readonly<Record<DiffLine["kind"], (line: string) => string>> = {
    same: (line) => line,
    expected: paint.red,
    found: paint.green,
    note: paint.dim,
  };
  return diff.flatMap(({ kind, text }) => {
    const lines = hung(`${DIFF_MARKS[kind]} `, visible(text), width);
    return lines.map((line) => (line === "" ? "" : paints[kind](line)));
  });
}

/**
 * A failure as a person reads it: where, which step, what is wrong, what differs, what came before, how to repeat it.
 * Its place and its command are never broken, so that they can be followed and pasted.
 */
export function failureLines(failure: Failure, paint: Paint, width: number): string[] {
  const { place, step, text, message, diff, recent, repeat } = failure;
  const part = (lines: readonly string[]): string[] => (lines.length === 0 ? [] : ["", ...lines]);
  const events = recent.flatMap((line) => hung("", visible(line), width - 2));
  return [
    paint.bold(oneLine(placeText(place))),
    ...hung(`step ${step}  `, oneLine(text), width),
    ...wrapped(oneLine(message), width).map(paint.red),
    ...part(indented(diffLines(diff, paint, width - 2), 2)),
    ...part(events.length === 0 ? [] : [paint.dim("what happened last"), ...indented(events, 2)]),
    ...part([`${paint.dim("repeat")}  ${oneLine(repeat)}`]),
  ];
}
