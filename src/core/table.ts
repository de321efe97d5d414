const CHUNK_BITS = 12;
const CHUNK_SIZE = 1 << CHUNK_BITS;
const IN_CHUNK = CHUNK_SIZE - 1;

/** What a copied list came with. */
interface Inheritance<T> {
  readonly chunks: readonly (readonly T[])[];
  readonly size: number;
  readonly ownCopy: (item: T) => T;
}

/**
 * An append-only list numbered from 1, kept in chunks so that growth never copies what is already there, nor does a
 * copy of the list.
 */
export class Table<T> {
  /** The last one may be shared with other lists, and then hold items of theirs beyond the size of this one. */
  #chunks: T[][] = [];
  #size = 0;
  #inherited: Inheritance<T> | null = null;

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
    const place = index & IN_CHUNK;
    if (place === 0) this.#chunks.push([]);
    let chunk = this.#chunks[index >> CHUNK_BITS] as T[];
    if (chunk.length !== place) chunk = this.#takeChunk(index >> CHUNK_BITS);
    chunk.push(item);
    this.#size += 1;
    return this.#size;
  }

  /** Puts another item in the place of one. @throws RangeError when there is none. */
  replace(number: number, item: T): void {
    this.get(number);
    const index = number - 1;
    this.#takeChunk(index >> CHUNK_BITS)[index & IN_CHUNK] = item;
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
    const item = this.#chunks[index >> CHUNK_BITS]?.[index & IN_CHUNK] as T;
    const inherited = this.#inherited;
    return inherited === null || number > inherited.size ? item : this.#own(inherited, index, item);
  }

  /**
   * A list that goes on from here. From now on nobody may write to this one, nor to what is in it. The copy shares all
   * items, and takes its own of each with `ownCopy` before anybody sees it, so that an item got from the copy can be
   * written to. What is never written to again needs no own copy: `ownCopy` may answer the item itself.
   */
  copy(ownCopy: ((item: T) => T) | null = null): Table<T> {
    this.#inherited = null;
    const copy = new Table<T>();
    copy.#chunks = this.#chunks.slice();
    copy.#size = this.#size;
    if (ownCopy !== null) copy.#inherited = { chunks: this.#chunks, size: this.#size, ownCopy };
    return copy;
  }

  [Symbol.iterator](): Iterator<T> {
    let number = 0;
    return {
      next: () => {
        if (number >= this.#size) return { done: true, value: undefined };
        number += 1;
        return { done: false, value: this.get(number) };
      },
    };
  }

  /** This list's own of an item that it may have inherited. */
  #own({ chunks, ownCopy }: Inheritance<T>, index: number, item: T): T {
    const at = index >> CHUNK_BITS;
    const place = index & IN_CHUNK;
    const inherited = chunks[at] as readonly T[];
    if (inherited[place] !== item) return item;
    const own = ownCopy(item);
    if (own === item) return item;
    const chunk = this.#chunks[at] === inherited ? this.#takeChunk(at) : (this.#chunks[at] as T[]);
    chunk[place] = own;
    return own;
  }

  /** Makes a chunk this list's own, without what other lists have appended to it. */
  #takeChunk(at: number): T[] {
    const chunk = (this.#chunks[at] as T[]).slice(0, this.#size - at * CHUNK_SIZE);
    this.#chunks[at] = chunk;
    return chunk;
  }
}
