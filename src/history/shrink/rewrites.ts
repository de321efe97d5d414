import { dirname, resolve } from "node:path";
import { isMap, isScalar } from "yaml";
import { readTextFile } from "../../scenario/language/scenario-files.ts";
import { permutationsOf } from "../../scenario/run/run-scenario.ts";
import { bodyAt, Draft, lineOf, listed, type Part, withParts } from "./draft.ts";
import type { Place } from "./trial.ts";

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

/** Races of more steps are tried in their own order and its reverse only. */
const MAX_STEPS = 4;

/**
 * The texts in which one race is a row of steps: in one order instead of every, or one of its steps alone. What must
 * hold after it is expected by a step behind them.
 */
export function* openedRaces(draft: Draft): Generator<string> {
  for (const step of draft.steps) {
    const race = step.children.find(({ name }) => name === "race");
    const line = lineOf(draft, step);
    if (race === undefined || line === null) continue;
    const after = step.children.find(({ name }) => name === "after");
    const expected = after === undefined ? [] : [expectStep(draft, after, line.column)];
    for (const order of ordersOf(race.children)) {
      const bodies = [...order.map((inner) => bodyAt(draft, inner, line.column)), ...expected];
      yield draft.replaced(line, listed(bodies, line.column));
    }
  }
}

function ordersOf(steps: readonly Part[]): (readonly Part[])[] {
  const alone = steps.map((step) => [step]);
  if (steps.length <= MAX_STEPS) return [...alone, ...permutationsOf(steps)];
  return [...alone, steps, [...steps].reverse()];
}

/** What stands under `after`, as a step. */
function expectStep(draft: Draft, after: Part, column: number): string {
  const whole = draft.textOf(after.span).trimEnd();
  const value = whole.slice(whole.indexOf(":") + 1);
  // The value of a key two columns to the right of the dash keeps its lines.
  return column === after.span.start ? value : `expect:${value}`;
}

/** A file may include files that include files, but not for ever. */
const DEEPEST = 16;

/** The text with the steps of included files in their places; null where nothing is included, or cannot stand there. */
export function withIncludesInline(draft: Draft, { folder }: Pick<Place, "folder">): string | null {
  const text = inlined(draft, folder, 0);
  return text === draft.text ? null : text;
}

function inlined(draft: Draft, folder: string, depth: number): string {
  let { text } = draft;
  // From the last to the first, so that those before stay where they are.
  for (const step of [...draft.steps].reverse()) {
    const path = includedBy(step);
    const line = lineOf(draft, step);
    if (path === null || line === null || depth >= DEEPEST) continue;
    const file = resolve(folder, path);
    const read = readTextFile(file);
    if (!read.ok) continue;
    const part = partOf(read.text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"));
    const within = new Draft(inlined(part, dirname(file), depth + 1));
    if (within.steps.length === 0) continue;
    const steps = listed(
      within.steps.map((inner) => bodyAt(within, inner, line.column)),
      line.column,
    );
    text = text.slice(0, line.start) + steps + text.slice(line.end);
  }
  return text;
}

/** An included file as the draft of a scenario: a list stands under the key `steps`. */
function partOf(text: string): Draft {
  const draft = new Draft(text);
  return draft.headers.length > 0 ? draft : new Draft(`steps:\n${text}`);
}

function includedBy({ node }: Part): string | null {
  if (!isMap(node)) return null;
  const path = node.get("include", true);
  return isScalar(path) ? String(path.value) : null;
}
