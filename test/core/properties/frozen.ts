import type { State } from "../../../src/core/state.ts";

/** Buffer of one decision, which states share. */
const SHARED = "plan";

/** Freezes every record of a state, so that a write throws. Typed arrays and private fields cannot be frozen. */
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
