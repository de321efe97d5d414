import { isMap, isScalar } from "yaml";
import { type Draft, type Part, withParts } from "./draft.ts";
import { bodyAt, lineOf, listed } from "./step-list.ts";

/** A name with the sign that stands for the round; behind a blank, it would begin a comment. */
const NUMBERED = /(?<=[\w-])#(?![\w-])/g;

/** The texts in which one repeat is shorter: its steps once, without it; half as often; an eighth less; once less. */
export function* fewerRounds(draft: Draft): Generator<string> {
  for (const step of draft.steps.flatMap((part) => [...withParts(part)])) {
    const times = timesOf(step);
    if (times === null) continue;
    const once = unrepeated(draft, step);
    if (once !== null) yield once;
    const { value, start, end } = times;
    const fewer = new Set([Math.ceil(value / 2), value - Math.ceil(value / 8), value - 1]);
    for (const count of fewer) {
      if (count > 0 && count < value) yield draft.replaced({ start, end }, String(count));
    }
  }
}

/** How often a step repeats its steps, and where that stands; null where it does not. */
function timesOf({ kind, node }: Part): { value: number; start: number; end: number } | null {
  const times = kind === "step" && isMap(node) ? node.get("repeat", true) : undefined;
  if (!isScalar(times) || !/^\d+$/.test(String(times.value))) return null;
  const [start = 0, end = 0] = times.range ?? [];
  return { value: Number(times.value), start, end };
}

/** The text with the steps of a repeat in its place, as in its first round. */
function unrepeated(draft: Draft, step: Part): string | null {
  const line = lineOf(draft, step);
  const inner = step.children.find(({ name }) => name === "steps")?.children ?? [];
  if (line === null || inner.length === 0) return null;
  const bodies = inner.map((each) => bodyAt(draft, each, line.column).replace(NUMBERED, "1"));
  return draft.replaced(line, listed(bodies, line.column));
}
