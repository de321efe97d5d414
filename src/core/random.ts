import seedrandom from "seedrandom/lib/alea.js";

/** A seeded source of numbers that answers nothing but integers and plain choices. */
export interface Stream {
  /** An integer, 0 <= n < bound; bound at most 2^32. */
  below(bound: number): number;
  /** An integer, low <= n <= high. */
  between(low: number, high: number): number;
  /** True once in `outOf` draws, on average. */
  oneIn(outOf: number): boolean;
  /** One of the items. @throws RangeError when there are none. */
  pick<T>(items: readonly T[]): T;
}

/**
 * Independent streams of one seed, by name: a draw in one never shifts another.
 * The generator is Johannes Baagøe's Alea, as the package seedrandom keeps it.
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
