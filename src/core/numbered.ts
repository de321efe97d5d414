const CHUNK_BITS = 12;
const CHUNK_SIZE = 1 << CHUNK_BITS;

/** An append-only list numbered from 1, kept in chunks so that growth never copies what is already there. */
export class Numbered<T> {
  readonly #chunks: T[][] = [];
  #size = 0;

  /** How many there are, which is also the number of the latest. */
  get size(): number {
    return this.#size;
  }

  /** The number the next item will get. */
  get next(): number {
    return this.#size + 1;
  }

  /** Appends an item and answers its number. */
  add(item: T): number {
    const index = this.#size;
    if ((index & (CHUNK_SIZE - 1)) === 0) this.#chunks.push([]);
    (this.#chunks[index >> CHUNK_BITS] as T[]).push(item);
    this.#size += 1;
    return this.#size;
  }

  /** The item of a number. @throws RangeError when there is none: a number is only made by `add`. */
  get(number: number): T {
    const item = this.find(number);
    if (item === undefined) throw new RangeError(`no number ${number} in a list of ${this.#size}`);
    return item;
  }

  /** The item of a number that may not exist. */
  find(number: number): T | undefined {
    if (!(number >= 1 && number <= this.#size)) return undefined;
    const index = number - 1;
    return this.#chunks[index >> CHUNK_BITS]?.[index & (CHUNK_SIZE - 1)];
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const chunk of this.#chunks) yield* chunk;
  }
}
