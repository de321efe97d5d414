import type { Reply } from "./step.ts";

/** One place where two answers differ; what is missing is undefined. */
export interface Found {
  /** The step's title and the path, such as `a block: body.result.hash`. */
  readonly where: string;
  readonly anvil: unknown;
  readonly ours: unknown;
}

/** Every place where two replies to a step differ, to the last leaf. */
export const differencesOf = (title: string, anvil: Reply, ours: Reply): Found[] => [
  ...within(`${title}:`, " ", anvil, ours),
];

function* within(where: string, joint: string, anvil: unknown, ours: unknown): Generator<Found> {
  if (!isBranch(anvil) || !isBranch(ours) || Array.isArray(anvil) !== Array.isArray(ours)) {
    if (!Object.is(anvil, ours)) yield { where, anvil, ours };
    return;
  }
  for (const key of new Set([...Object.keys(anvil), ...Object.keys(ours)])) {
    yield* within(`${where}${joint}${key}`, ".", anvil[key], ours[key]);
  }
}

const isBranch = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
