import { dirname, resolve } from "node:path";
import { isMap, isScalar } from "yaml";
import { readTextFile } from "../../scenario/language/scenario-files.ts";
import { permutationsOf } from "../../scenario/run/run-scenario.ts";
import { bodyAt, childOf, Draft, type Part, type Replacement, withParts } from "./draft.ts";
import type { Environment } from "./trial.ts";

/** The `#` in a name that stands for the number of the round; after a blank it begins a comment. */
const ROUND = /(?<=[\w-])#(?![\w-])/g;

/** Yields texts with fewer rounds of one repeat: its steps once without it, half, an eighth less, one less. */
export function* fewerRounds(draft: Draft): Generator<string> {
  for (const step of draft.steps.flatMap((part) => withParts(part))) {
    const times = step.kind === "step" ? scalarIn(step, "repeat") : null;
    if (times === null || !/^\d+$/.test(times.text)) continue;
    const inner = childOf(step, "steps")?.children ?? [];
    const firstRound = inner.map((each) => bodyAt(each, step.column).replace(ROUND, "1"));
    const once = inner.length === 0 ? null : draft.replacement(step, firstRound);
    if (once !== null) yield draft.with([once]);
    const rounds = Number(times.text);
    const fewer = new Set([Math.ceil(rounds / 2), rounds - Math.ceil(rounds / 8), rounds - 1]);
    for (const count of fewer) {
      if (count > 0 && count < rounds) yield draft.with([{ ...times, by: String(count) }]);
    }
  }
}

/** Returns the scalar value of a key of a step, with its offsets; null if there is none. */
function scalarIn({ node }: Part, key: string): { text: string; start: number; end: number } | null {
  const value = isMap(node) ? node.get(key, true) : undefined;
  if (!isScalar(value)) return null;
  const [start = 0, end = 0] = value.range ?? [];
  return { text: String(value.value), start, end };
}

/** Maximum number of steps of a race for which all orders are tried, not only its own and the reverse. */
const MAX_PERMUTED = 4;

/** Yields texts in which one race is replaced by its steps in one order, or by one of them, with its `after` as a step. */
export function* unrolledRaces(draft: Draft): Generator<string> {
  for (const step of draft.steps) {
    const race = childOf(step, "race")?.children ?? [];
    const after = childOf(step, "after")?.text ?? "";
    const expected = after === "" ? [] : [`expect:${after.slice(after.indexOf(":") + 1)}`];
    for (const order of race.length === 0 ? [] : ordersOf(race)) {
      const unrolled = draft.replacement(step, [...order, ...expected]);
      if (unrolled !== null) yield draft.with([unrolled]);
    }
  }
}

function ordersOf(steps: readonly Part[]): (readonly Part[])[] {
  const alone = steps.map((step) => [step]);
  if (steps.length <= MAX_PERMUTED) return [...alone, ...permutationsOf(steps)];
  return [...alone, steps, [...steps].reverse()];
}

/** Maximum nesting of included files. */
const MAX_DEPTH = 16;

/** Returns the text with included files replaced by their steps, where possible. */
export function withIncludesInline(draft: Draft, { folder }: Pick<Environment, "folder">, depth = 0): string {
  const included = draft.steps.flatMap((step): Replacement[] => {
    const path = scalarIn(step, "include");
    if (path === null || depth >= MAX_DEPTH) return [];
    const file = resolve(folder, path.text);
    const read = readTextFile(file);
    if (!read.ok) return [];
    const draftOfFile = includedDraft(read.text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"));
    const { steps } = new Draft(withIncludesInline(draftOfFile, { folder: dirname(file) }, depth + 1));
    const replacement = steps.length === 0 ? null : draft.replacement(step, steps);
    return replacement === null ? [] : [replacement];
  });
  return draft.with(included);
}

/** Reads an included file as a scenario; a list is put under the key `steps`. */
function includedDraft(text: string): Draft {
  const draft = new Draft(text);
  return draft.headers.length > 0 ? draft : new Draft(`steps:\n${text}`);
}
