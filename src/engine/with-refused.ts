import type { Entry, RefusedEntry } from "./journal.ts";

/** Accepted commands and refused requests, both oldest first, in the order in which they came. */
export function* withRefused<Command extends Pick<Entry, "sequence">>(
  entries: Iterable<Command>,
  refused: readonly RefusedEntry[],
): Generator<Command | RefusedEntry> {
  let next = 0;
  for (const entry of entries) {
    for (let one = refused[next]; one !== undefined && one.sequence < entry.sequence; one = refused[next]) {
      yield one;
      next += 1;
    }
    yield entry;
  }
  yield* refused.slice(next);
}
