import type { Found } from "./compare.ts";

/** Where we answer otherwise than anvil, and why. */
export interface Difference {
  /** Places as `title: path`, a `*` for any text; each of them must occur. */
  readonly at: readonly string[];
  readonly why: string;
  /** What the two answers are there. */
  readonly are: (found: Found) => boolean;
}

export const HASH = /^0x[0-9a-f]{64}$/;
export const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]*)$/;

type Expected = RegExp | string | number | null | undefined | ((value: unknown) => boolean);

/** Whether an answer is as expected: a text by its pattern, all else by a question or by its value. */
export function fits(value: unknown, expected: Expected): boolean {
  if (expected instanceof RegExp) return typeof value === "string" && expected.test(value);
  return typeof expected === "function" ? expected(value) : value === expected;
}

/** What each of the two answers is. */
export const are =
  (anvil: Expected, ours: Expected): Difference["are"] =>
  (found) =>
    fits(found.anvil, anvil) && fits(found.ours, ours);
/** We answer an error where anvil has a result. */
export const onlyWeFail =
  (code: number, message: RegExp): Difference["are"] =>
  ({ anvil, ours }) =>
    ours === undefined ? anything(anvil) : anvil === undefined && isError(ours, code, message);
/** The other way round. */
export const onlyAnvilFails =
  (code: number, message: RegExp): Difference["are"] =>
  ({ anvil, ours }) =>
    onlyWeFail(code, message)({ where: "", anvil: ours, ours: anvil });
export const both = (expected: Expected): Difference["are"] => are(expected, expected);
export const anyText = (value: unknown): boolean => typeof value === "string";
export const anything = (value: unknown): boolean => value !== undefined;
/** The same words, and then more. */
export const goesOn = ({ anvil, ours }: Found): boolean =>
  typeof anvil === "string" && typeof ours === "string" && ours.startsWith(anvil);

function isError(value: unknown, code: number, message: RegExp): boolean {
  const { code: found, message: said } = value as { readonly code?: unknown; readonly message?: unknown };
  return found === code && fits(said, message);
}

/** Whether a place is one of a difference. */
export function isAt(pattern: string, where: string): boolean {
  const literal = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`).test(where);
}

/** A row of the table of differences. */
export const otherwise = (why: string, areSo: Difference["are"], ...at: readonly string[]): Difference => ({
  at,
  why,
  are: areSo,
});
