const ZERO = 48;
const NINE = 57;
/** So many digits are always an exact integer, and no array is meant to be longer. */
const MOST_DIGITS = 9;
/** A number may run ahead of those seen so far by this much and still be a cell of the array. */
const MOST_AHEAD = 4_096;

/**
 * Order numbers by the names that a flow gives them. A flow of millions mostly counts: o1, o2, o3. Such a name is a cell
 * of an array, any other an entry of a map, which costs ten times as much.
 */
export class OrderRefs {
  readonly #named = new Map<string, number>();
  readonly #counted: number[] = [];
  /** What stands before the digits of counted names; those of the first name with digits. */
  #prefix: string | null = null;

  set(ref: string, order: number): void {
    this.#prefix ??= ref.replace(/\d+$/, "");
    const count = this.#countIn(ref);
    if (count < 0 || count > this.#counted.length + MOST_AHEAD) {
      this.#named.set(ref, order);
      return;
    }
    while (this.#counted.length < count) this.#counted.push(0);
    this.#counted[count] = order;
    // The name may have run ahead of the array when it was used before.
    if (this.#named.size > 0) this.#named.delete(ref);
  }

  /** Undefined when the name was never used. */
  get(ref: string): number | undefined {
    const count = this.#countIn(ref);
    const order = count < 0 ? 0 : (this.#counted[count] ?? 0);
    return order === 0 ? this.#named.get(ref) : order;
  }

  /** The number that a counted name ends in, as it would be written again; -1 for every other name. */
  #countIn(ref: string): number {
    const prefix = this.#prefix;
    if (prefix === null || !ref.startsWith(prefix)) return -1;
    const from = prefix.length;
    const digits = ref.length - from;
    if (digits < 1 || digits > MOST_DIGITS || (digits > 1 && ref.charCodeAt(from) === ZERO)) return -1;
    let count = 0;
    for (let index = from; index < ref.length; index += 1) {
      const code = ref.charCodeAt(index);
      if (code < ZERO || code > NINE) return -1;
      count = count * 10 + (code - ZERO);
    }
    return count;
  }
}
