/** Returns the number of leading indexes for which `holds` is true, by binary search; after the first false all must be false. */
export function countWhile(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the number of elements of an ascending list that are at most `bound`. */
export const countAtMost = (ascending: readonly number[], bound: number): number =>
  countWhile(ascending.length, (index) => (ascending[index] as number) <= bound);
