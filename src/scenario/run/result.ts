import { isObject } from "../../api/errors.ts";
import { counted, shortened } from "../../core/format.ts";
import type { Place } from "../language/page.ts";
import type { Refused } from "../venue/views.ts";

/** Where a scenario runs: in this process, over HTTP on its own server, or on a deployment. */
export type Way = "process" | "http" | "target";

/** A line of a comparison: in both, expected only, found only, or a note. */
export interface DiffLine {
  readonly kind: "same" | "expected" | "found" | "note";
  readonly text: string;
}

/** What made a scenario fail, for code that compares failures; a mismatch without one is of a compared value. */
export type Cause =
  | { readonly kind: "invariant"; readonly name: string }
  /** Something threw this message. */
  | { readonly kind: "defect"; readonly message: string }
  /** A request was refused that should be accepted; `who` is the account, or the word that the step begins with. */
  | { readonly kind: "refused"; readonly who: string; readonly refusal: Refused }
  /** An account of the header cannot be funded. */
  | { readonly kind: "unfunded"; readonly code: string }
  /** An order was never placed; a request was accepted that should be refused; a golden file differs. */
  | { readonly kind: "unplaced" | "accepted" | "golden" };

/** Something that is not as expected. */
export interface Mismatch {
  readonly place: Place;
  /** One sentence. */
  readonly message: string;
  readonly diff: readonly DiffLine[];
  readonly cause?: Cause;
  /** Row of a flow at which it was found, from 1. */
  readonly row?: number;
}

export interface Failure extends Pick<Mismatch, "place" | "message" | "diff"> {
  /** From 1. */
  readonly step: number;
  readonly text: string;
  /** What message and diff describe; at least one. */
  readonly mismatches: readonly Mismatch[];
  /** The latest lines of the transcript, oldest first. */
  readonly recent: readonly string[];
  /** Command line that repeats the failure. */
  readonly repeat: string;
}

export interface RaceOutcome {
  readonly lines: readonly string[];
  /** Summary of books, orders and balances afterwards; equal texts are equal outcomes. */
  readonly after: readonly string[];
}

export interface RaceReport {
  readonly place: Place;
  readonly step: number;
  readonly outcomes: readonly RaceOutcome[];
}

export interface ScenarioResult {
  readonly file: string;
  readonly name: string;
  readonly place: Place;
  readonly seed: string;
  readonly way: Way;
  readonly status: "passed" | "failed" | "skipped";
  readonly reason: string | null;
  readonly failure: Failure | null;
  readonly steps: number;
  readonly durationMs: number;
  /** Hash of the final state; null if unknown. */
  readonly stateHash: string | null;
  readonly races: readonly RaceReport[];
  /** Lines about each step and its results, the same on every venue. */
  readonly transcript: readonly string[];
  /** Files that `--update` wrote. */
  readonly written: readonly string[];
}

export interface SuiteResult
  extends Readonly<Record<ScenarioResult["status"], number>>,
    Pick<ScenarioResult, "durationMs"> {
  readonly results: readonly ScenarioResult[];
}

export const same = (text: string): DiffLine => ({ kind: "same", text });
export const expected = (text: string): DiffLine => ({ kind: "expected", text });
export const found = (text: string): DiffLine => ({ kind: "found", text });
export const note = (text: string): DiffLine => ({ kind: "note", text });

/** Maximum size of the comparison matrix; above it, all lines between the common ends are reported. */
const MAX_CELLS = 250_000;
const MAX_SHOWN = 60;

/**
 * Compares lists of lines by their longest common subsequence, up to `MAX_CELLS` (Wagner and Fischer, "The
 * String-to-String Correction Problem", without substitutions).
 */
export function diffOf(wanted: readonly string[], seen: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < wanted.length && start < seen.length && wanted[start] === seen[start]) start += 1;
  let end = 0;
  const max = Math.min(wanted.length, seen.length) - start;
  while (end < max && wanted[wanted.length - 1 - end] === seen[seen.length - 1 - end]) end += 1;
  if (start === wanted.length && start === seen.length) return wanted.map(same);
  const middle = middleOf(wanted.slice(start, wanted.length - end), seen.slice(start, seen.length - end));
  return nearDifferences([
    ...wanted.slice(0, start).map(same),
    ...middle,
    ...wanted.slice(wanted.length - end).map(same),
  ]);
}

function middleOf(wanted: readonly string[], seen: readonly string[]): DiffLine[] {
  if (wanted.length * seen.length > MAX_CELLS) return [...wanted.map(expected), ...seen.map(found)];
  const width = seen.length + 1;
  const longest = new Uint32Array((wanted.length + 1) * width);
  const at = (row: number, column: number): number => longest[row * width + column] as number;
  for (let row = wanted.length - 1; row >= 0; row -= 1) {
    for (let column = seen.length - 1; column >= 0; column -= 1) {
      longest[row * width + column] =
        wanted[row] === seen[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  for (let row = 0, column = 0; row < wanted.length || column < seen.length; ) {
    const [here, there] = [wanted[row], seen[column]];
    const isNotSeen =
      there === undefined || (here !== undefined && at(row + 1, column) >= at(row, column + 1));
    const line =
      here !== undefined && here === there ? same(here) : isNotSeen ? expected(here ?? "") : found(there);
    lines.push(line);
    if (line.kind !== "found") row += 1;
    if (line.kind !== "expected") column += 1;
  }
  return lines;
}

/** Keeps three lines around each difference, and at most `MAX_SHOWN` lines. */
function nearDifferences(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - 3), index + 4).some(({ kind }) => kind !== "same");
  const near = lines.filter((_line, index) => isNear(index)).slice(0, MAX_SHOWN);
  const left = lines.length - near.length;
  return left === 0 ? near : [...near, note(counted(left, "more line"))];
}

/** A part of an answer that is not as expected. */
interface Difference {
  /** `data[0].price`; `answer` for the whole. */
  readonly path: string;
  readonly wanted: string;
  readonly seen: string;
}

/** Compares an answer: objects may have more fields than expected, lists and single values must be equal. */
export function differences(wanted: unknown, seen: unknown, path = ""): Difference[] {
  if (isObject(wanted) && isObject(seen))
    return Object.entries(wanted).flatMap(([name, value]) => {
      const own = Object.hasOwn(seen, name) ? seen[name] : undefined;
      return differences(value, own, path === "" ? name : `${path}.${name}`);
    });
  const areLists = Array.isArray(wanted) && Array.isArray(seen);
  if (areLists && wanted.length === seen.length)
    return wanted.flatMap((value, index) => differences(value, seen[index], `${path}[${index}]`));
  if (Object.is(wanted, seen)) return [];
  const text = (value: unknown): string =>
    areLists ? `${counted((value as readonly unknown[]).length, "item")} ${shown(value)}` : shown(value);
  return [{ path: path || "answer", wanted: text(wanted), seen: text(seen) }];
}

const MAX_TEXT = 120;

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  return shortened(JSON.stringify(value), MAX_TEXT);
}
