import { didYouMean } from "../nearest.ts";
import { describeValue } from "./errors.ts";

// Types of the options of a library's functions, used as `option.text`.

export interface Type {
  /** Text after "expects" in a message. */
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  /** Whether the value must not appear in messages. */
  readonly secret?: boolean;
}

const isOf = (type: string) => (value: unknown) => typeof value === type;
const isText = isOf("string");

export const text: Type = { expected: "a text", accepts: isText };
export const secret: Type = { ...text, secret: true };
export const number: Type = { expected: "a number", accepts: Number.isFinite };
export const truth: Type = { expected: "true or false", accepts: isOf("boolean") };
export const textOrNumber: Type = {
  expected: "a text or a number",
  accepts: (value) => isText(value) || Number.isFinite(value),
};
export const texts: Type = {
  expected: "a text or a list of texts",
  accepts: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
};
export const callable: Type = { expected: "a function", accepts: isOf("function") };

/** An integer from 1 to a bound, inclusive. */
export const positive = (max: number): Type => ({
  expected: `a whole number from 1 ${max === Number.MAX_SAFE_INTEGER ? "on" : `to ${max}`}`,
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= max,
});

/** One of some words, or a value of the type `other`. */
export const oneOf = (words: readonly string[], other?: Type): Type => {
  const all = words.map((word) => JSON.stringify(word)).concat(other?.expected ?? []);
  return {
    expected: `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`,
    accepts: (value) => words.some((word) => word === value) || other?.accepts(value) === true,
  };
};

/** An object with these members; others are allowed. */
export const objectWith = (expected: string, members: Readonly<Record<string, Type>>): Type => ({
  expected,
  accepts: (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(members).every(([name, type]) => type.accepts((value as Record<string, unknown>)[name])),
  secret: true,
});

/**
 * Returns a sentence on the first invalid option of a function: its name, what was expected and what was found; or on an
 * option that is not in the table. Returns undefined if all are valid. Options that are undefined are ignored.
 */
export function problemIn(options: unknown, types: Readonly<Record<string, Type>>): string | undefined {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    return `the options are expected as an object, found ${found(options)}`;
  for (const [name, type] of Object.entries(types)) {
    const value = (options as Record<string, unknown>)[name];
    const problem = value === undefined ? undefined : problemOf(name, value, type);
    if (problem !== undefined) return problem;
  }
  const [unknown] =
    Object.entries(options).find(([name, value]) => value !== undefined && !Object.hasOwn(types, name)) ?? [];
  return unknown && `unknown option ${unknown}${didYouMean(unknown, Object.keys(types))}`;
}

/** Returns such a sentence on one value; undefined if it is valid. */
export const problemOf = (name: string, value: unknown, type: Type): string | undefined =>
  type.accepts(value)
    ? undefined
    : `${name} expects ${type.expected}, found ${type.secret === true ? kindOf(value) : found(value)}`;

function found(value: unknown): string {
  if (typeof value === "bigint") return `the bigint ${value}`;
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return typeof value === "function" || typeof value === "symbol" || value instanceof Promise
    ? kindOf(value)
    : describeValue(value);
}

/** Names the type of a value without revealing its content. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return describeValue(value);
  if (Array.isArray(value)) return "an array";
  if (value instanceof Promise) return "a promise, which must be awaited";
  if (typeof value === "object") return "an object that is something else";
  return typeof value === "string" ? "another text" : `a ${typeof value}`;
}
