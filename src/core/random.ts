import seedrandom from "seedrandom/lib/alea.js";

/** Seeded random source of integers and choices. */
export interface Stream {
  /** Returns an integer, 0 <= n < bound; bound at most 2^32. */
  below(bound: number): number;
  /** Returns an integer, low <= n <= high. */
  between(low: number, high: number): number;
  oneIn(outOf: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/**
 * Makes the random stream of a name; a draw in one stream never shifts another.
 * The generator is Johannes Baagøe's Alea, from the package seedrandom.
 */
export function stream(seed: string, name: string): Stream {
  const generator = seedrandom(`${name}\u0000${seed}`);
  const below = (bound: number): number => Math.floor(((generator.int32() >>> 0) / 4294967296) * bound);
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    oneIn: (outOf) => below(outOf) === 0,
    pick: (items) => {
      if (items.length === 0) throw new RangeError("nothing to pick from");
      return items[below(items.length)] as (typeof items)[number];
    },
  };
}
