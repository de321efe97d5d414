import { dirname, resolve } from "node:path";
import { isMap, isScalar } from "yaml";
import { readTextFile } from "../../scenario/language/scenario-files.ts";
import { permutationsOf } from "../../scenario/run/run-scenario.ts";
import { bodyAt, childOf, Draft, type Part, type Replacement, withParts } from "./draft.ts";
import type { Environment } from "./trial.ts";

/** A name with the sign that stands for the round; behind a blank, it would begin a comment. */
const NUMBERED = /(?<=[\w-])#(?![\w-])/g;

/** The texts in which one repeat is shorter: its steps once, without it; half as often; an eighth less; once less. */
export function* fewerRounds(draft: Draft): Generator<string> {
  for (const step of draft.steps.flatMap((part) => withParts(part))) {
    const times = step.kind === "step" ? scalarIn(step, "repeat") : null;
    if (times === null || !/^\d+$/.test(times.text)) continue;
    // In its place, its steps as in the first round.
    const inner = childOf(step, "steps")?.children ?? [];
    const first = inner.map((each) => bodyAt(each, step.column).replace(NUMBERED, "1"));
    const once = inner.length === 0 ? null : draft.instead(step, first);
    if (once !== null) yield draft.with([once]);
    const rounds = Number(times.text);
    const fewer = new Set([Math.ceil(rounds / 2), rounds - Math.ceil(rounds / 8), rounds - 1]);
    for (const count of fewer) {
      if (count > 0 && count < rounds) yield draft.with([{ ...times, by: String(count) }]);
    }
  }
}

/** What stands behind a key of a step, and where; null where there is nothing of the kind. */
function scalarIn({ node }: Part, key: string): { text: string; start: number; end: number } | null {
  const value = isMap(node) ? node.get(key, true) : undefined;
  if (!isScalar(value)) return null;
  const [start = 0, end = 0] = value.range ?? [];
  return { text: String(value.value), start, end };
}

/** Races of more steps are tried in their own order and its reverse only. */
const MAX_STEPS = 4;

/**
 * The texts in which one race is a row of steps: in one order instead of every, or one of its steps alone. What must
 * hold after it is expected by a step behind them.
 */
export function* openedRaces(draft: Draft): Generator<string> {
  for (const step of draft.steps) {
    const race = childOf(step, "race")?.children ?? [];
    const after = childOf(step, "after")?.text ?? "";
    const expected = after === "" ? [] : [`expect:${after.slice(after.indexOf(":") + 1)}`];
    for (const order of race.length === 0 ? [] : ordersOf(race)) {
      const opened = draft.instead(step, [...order, ...expected]);
      if (opened !== null) yield draft.with([opened]);
    }
  }
}

function ordersOf(steps: readonly Part[]): (readonly Part[])[] {
  const alone = steps.map((step) => [step]);
  if (steps.length <= MAX_STEPS) return [...alone, ...permutationsOf(steps)];
  return [...alone, steps, [...steps].reverse()];
}

/** A file may include files that include files, but not for ever. */
const DEEPEST = 16;

/** The text with the steps of included files in their places, where they can stand there. */
export function withIncludesInline(draft: Draft, { folder }: Pick<Environment, "folder">, depth = 0): string {
  const included = draft.steps.flatMap((step): Replacement[] => {
    const path = scalarIn(step, "include");
    if (path === null || depth >= DEEPEST) return [];
    const file = resolve(folder, path.text);
    const read = readTextFile(file);
    if (!read.ok) return [];
    const part = partOf(read.text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"));
    const { steps } = new Draft(withIncludesInline(part, { folder: dirname(file) }, depth + 1));
    const instead = steps.length === 0 ? null : draft.instead(step, steps);
    return instead === null ? [] : [instead];
  });
  return draft.with(included);
}

/** An included file as the draft of a scenario: a list stands under the key `steps`. */
function partOf(text: string): Draft {
  const draft = new Draft(text);
  return draft.headers.length > 0 ? draft : new Draft(`steps:\n${text}`);
}
