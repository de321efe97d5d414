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
export interface Difference {
  /** Patterns of `title: path`, with `*` for any text; each must occur. */
  readonly at: readonly string[];
  readonly why: string;
  /** Whether the two answers differ as expected. */
  readonly are: (found: Found) => boolean;
}

export const HASH = /^0x[0-9a-f]{64}$/;
export const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]*)$/;

type Expected = RegExp | string | number | null | undefined | ((value: unknown) => boolean);

/** Whether a value is as expected: by a pattern, a predicate or equality. */
export function fits(value: unknown, expected: Expected): boolean {
  if (expected instanceof RegExp) return typeof value === "string" && expected.test(value);
  return typeof expected === "function" ? expected(value) : value === expected;
}

/** Expects a value of each of the two answers. */
export const are =
  (anvil: Expected, ours: Expected): Difference["are"] =>
  (found) =>
    fits(found.anvil, anvil) && fits(found.ours, ours);
/** Expects our error and anvil's result. */
export const onlyWeFail =
  (code: number, message: RegExp): Difference["are"] =>
  ({ anvil, ours }) =>
    ours === undefined ? anything(anvil) : anvil === undefined && isError(ours, code, message);
/** Expects anvil's error and our result. */
export const onlyAnvilFails =
  (code: number, message: RegExp): Difference["are"] =>
  ({ anvil, ours }) =>
    onlyWeFail(code, message)({ where: "", anvil: ours, ours: anvil });
export const both = (expected: Expected): Difference["are"] => are(expected, expected);
export const anyText = (value: unknown): boolean => typeof value === "string";
export const anything = (value: unknown): boolean => value !== undefined;
/** Expects anvil's text as the beginning of ours. */
export const isExtended = ({ anvil, ours }: Found): boolean =>
  typeof anvil === "string" && typeof ours === "string" && ours.startsWith(anvil);

function isError(value: unknown, code: number, message: RegExp): boolean {
  const { code: found, message: said } = value as { readonly code?: unknown; readonly message?: unknown };
  return found === code && fits(said, message);
}

/** Whether a place matches a pattern. */
export function isAt(pattern: string, where: string): boolean {
  const literal = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`).test(where);
}

/** Parses places: in a line, titles and then paths, separated by ` | `; each title goes with each path of its line. */
const placesIn = (text: string): string[] =>
  [...text.matchAll(/([^:]+):([^\n]+)/g)].flatMap(([, titles = "", paths = ""]) =>
    titles.split("|").flatMap((title) => paths.split("|").map((path) => `${title.trim()}: ${path.trim()}`)),
  );

/** Builds a row of the table of differences. */
export const differs = (why: string, are: Difference["are"], at: string): Difference => ({
  why,
  are,
  at: placesIn(at),
});
