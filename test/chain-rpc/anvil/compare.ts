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
