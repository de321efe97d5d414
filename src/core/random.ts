import seedrandom from "seedrandom/lib/alea.js";

/**
 * Makes the random stream of a name: a seeded source of integers and choices. A draw in one stream never shifts another.
 * The generator is Johannes Baagøe's Alea, from the package seedrandom.
 */
export function seededRandom(seed: string, name: string) {
  const generator = seedrandom(`${name}\u0000${seed}`);
  /** Returns an integer, 0 <= n < bound; bound at most 2^32. */
  const below = (bound: number): number => Math.floor(((generator.int32() >>> 0) / 4294967296) * bound);
  return {
    below,
    /** Returns an integer, low <= n <= high. */
    between: (low: number, high: number): number => low + below(high - low + 1),
    /** Returns true with probability 1 / outOf. */
    oneIn: (outOf: number): boolean => below(outOf) === 0,
    /** Returns one of the items. @throws RangeError if there are none. */
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new RangeError("nothing to pick from");
      return items[below(items.length)] as T;
    },
  };
}
export type Random = ReturnType<typeof seededRandom>;
