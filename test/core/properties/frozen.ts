import type { State } from "../../../src/core/state.ts";

/** Scratch paper, which states share: nothing in it outlives a decision. */
const SHARED = "plan";

/**
 * Freezes every record that a state is made of, so that whoever writes to one, though it was to be left alone, throws.
 * Typed arrays cannot be frozen, nor what is private to a class.
 */
export function freezeRecords(state: State): void {
  const seen = new Set<unknown>();
  const freeze = (value: unknown): void => {
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || seen.has(value)) return;
    seen.add(value);
    Object.freeze(value);
    if (Symbol.iterator in value) for (const item of value as Iterable<unknown>) freeze(item);
    for (const [key, part] of Object.entries(value)) if (key !== SHARED) freeze(part);
  };
  freeze(state);
}
