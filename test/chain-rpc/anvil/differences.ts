import { readFileSync } from "node:fs";
import type { Reply } from "./step.ts";

/** A difference of two answers; a missing value is undefined. */
export interface Found {
  /** The step's title and the path, such as `a block: body.result.hash`. */
  readonly where: string;
  readonly anvil: unknown;
  readonly ours: unknown;
}

/** Returns all differences of two replies to a step, down to single values. */
export const differencesOf = (title: string, anvil: Reply, ours: Reply): Found[] => [
  ...within(`${title}:`, " ", anvil, ours),
];

function* within(where: string, separator: string, anvil: unknown, ours: unknown): Generator<Found> {
  if (!isBranch(anvil) || !isBranch(ours) || Array.isArray(anvil) !== Array.isArray(ours)) {
    if (!Object.is(anvil, ours)) yield { where, anvil, ours };
    return;
  }
  for (const key of new Set([...Object.keys(anvil), ...Object.keys(ours)])) {
    yield* within(`${where}${separator}${key}`, ".", anvil[key], ours[key]);
  }
}

const isBranch = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** An expected difference from anvil, with its reason. */
interface Difference {
  /** Patterns of `title: path`, with `*` for any text; each must occur. */
  readonly at: readonly string[];
  readonly why: string;
  /** Whether the two answers differ as expected. */
  readonly are: (found: Found) => boolean;
}

/** Whether a value is expected; the other one is that of the other answer. */
type Expected = (value: unknown, other: unknown) => boolean;

const matches =
  (pattern: RegExp): Expected =>
  (value) =>
    typeof value === "string" && pattern.test(value);

const WORDS: Readonly<Record<string, Expected>> = {
  HASH: matches(/^0x[0-9a-f]{64}$/),
  QUANTITY: matches(/^0x(?:0|[1-9a-f][0-9a-f]*)$/),
  TEXT: (value) => typeof value === "string",
  INTEGER: Number.isInteger,
  NOTHING: (value) => value === undefined,
  ANYTHING: (value) => value !== undefined,
  OBJECT: (value) => !Array.isArray(value),
  LIST_OF_TWO: (value) => Array.isArray(value) && value.length === 2,
  /** The result of a request that only the other node refuses. */
  RESULT: (value, other) => value === undefined || other === undefined,
  /** The text of the other answer, and more. */
  EXTENDED: (value, other) => typeof value === "string" && value.startsWith(String(other)),
};

/** Reads an expected value: a word, a pattern, JSON, or a pattern after the code of an error, which has no result. */
function expectedIn(text: string): Expected {
  const [, code, pattern, flags] = /^(?:(-\d+) )?\/(.*)\/(i?)$/.exec(text) ?? [];
  if (pattern === undefined) return WORDS[text] ?? ((value) => value === JSON.parse(text));
  const isMessage = matches(new RegExp(pattern, flags));
  if (code === undefined) return isMessage;
  return (value, other) => {
    if (value === undefined) return true;
    const error = value as { readonly code?: unknown; readonly message?: unknown };
    return error.code === Number(code) && isMessage(error.message, other);
  };
}

/** Whether a place matches a pattern. */
export function isAt(pattern: string, where: string): boolean {
  const literal = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`).test(where);
}

/** Returns the places of a line: each title with each path. */
function placesIn(line: string): string[] {
  const [titles = "", paths = ""] = line.split(": ");
  return titles.split(" | ").flatMap((title) => paths.split(" | ").map((path) => `${title}: ${path}`));
}

function differenceIn(section: string): Difference {
  const [why = "", anvil = "", ours = "", ...places] = section.trim().split("\n");
  const [theirs, own] = [anvil, ours].map((line) =>
    line
      .replace(/^\w+: /, "")
      .split(" or ")
      .map(expectedIn),
  );
  return {
    ...{ why, at: places.flatMap(placesIn) },
    are: (found) =>
      theirs?.some((fits) => fits(found.anvil, found.ours)) === true &&
      own?.some((fits) => fits(found.ours, found.anvil)) === true,
  };
}

const [, ...sections] = readFileSync(new URL("differences.txt", import.meta.url), "utf8").split(/^## /m);

/** All differences from anvil: reason, expected answers, places. Any other difference is a defect. */
export const DIFFERENCES: readonly Difference[] = sections.map(differenceIn);
