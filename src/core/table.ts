const CHUNK_BITS = 12;
const CHUNK_SIZE = 1 << CHUNK_BITS;
const IN_CHUNK = CHUNK_SIZE - 1;

/** What a copied list came with. */
interface Inheritance<T> {
  readonly chunks: readonly (readonly T[] | undefined)[];
  readonly size: number;
  readonly ownCopy: (item: T) => T;
}

/**
 * An append-only list numbered from 1, kept in chunks so that growth never copies what is already there, nor does a
 * copy of the list.
 */
export class Table<T> {
  /**
   * The last one may be shared with other lists, and then hold items of theirs beyond the size of this one. Undefined where
   * nobody has looked yet.
   */
  #chunks: (T[] | undefined)[] = [];
  /** Makes a chunk that nobody has looked at, the same one for all copies of a list; null where there is none. */
  #source: ((at: number) => T[]) | null = null;
  #size = 0;
  #inherited: Inheritance<T> | null = null;

  /** A list of these items, numbered from 1. */
  static of<T>(items: ArrayLike<T>): Table<T> {
    return Table.lazy(items.length, (from, to) => {
      const chunk: T[] = [];
      for (let index = from; index < to; index += 1) chunk.push(items[index] as T);
      return chunk;
    });
  }

  /** The same, its items made when somebody first looks near them: `make` answers those from an index up to another. */
  static lazy<T>(size: number, make: (from: number, to: number) => T[]): Table<T> {
    const made: T[][] = [];
    const table = new Table<T>();
    table.#size = size;
    table.#source = (at) => {
      made[at] ??= make(at * CHUNK_SIZE, Math.min(size, (at + 1) * CHUNK_SIZE));
      return made[at];
    };
    for (let from = 0; from < size; from += CHUNK_SIZE) table.#chunks.push(undefined);
    return table;
  }

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
    let chunk = this.#chunk(index >> CHUNK_BITS);
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

  /** The item of a number for somebody who only reads it, and asks again after the next command: nothing is copied for that. */
  peek(number: number): Readonly<T> {
    if (!(number >= 1 && number <= this.#size)) throw new RangeError(`no number ${number}`);
    return this.#chunk((number - 1) >> CHUNK_BITS)[(number - 1) & IN_CHUNK] as T;
  }

  /** The item of a number that may not exist. */
  find(number: number): T | undefined {
    if (!(number >= 1 && number <= this.#size)) return undefined;
    const index = number - 1;
    const item = this.#chunk(index >> CHUNK_BITS)[index & IN_CHUNK] as T;
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
    copy.#source = this.#source;
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

  /** One of the chunks that this list has. */
  #chunk(at: number): T[] {
    const chunk = this.#chunks[at];
    if (chunk !== undefined) return chunk;
    const made = this.#made(at);
    this.#chunks[at] = made;
    return made;
  }

  #made(at: number): T[] {
    if (this.#source === null) throw new Error("a chunk is missing");
    return this.#source(at);
  }

  /** This list's own of an item that it may have inherited. */
  #own({ chunks, ownCopy }: Inheritance<T>, index: number, item: T): T {
    const at = index >> CHUNK_BITS;
    const place = index & IN_CHUNK;
    const inherited = chunks[at] ?? this.#made(at);
    if (inherited[place] !== item) return item;
    const own = ownCopy(item);
    if (own === item) return item;
    const chunk = this.#chunks[at] === inherited ? this.#takeChunk(at) : this.#chunk(at);
    chunk[place] = own;
    return own;
  }

  /** Makes a chunk this list's own, without what other lists have appended to it. */
  #takeChunk(at: number): T[] {
    const chunk = this.#chunk(at).slice(0, this.#size - at * CHUNK_SIZE);
    this.#chunks[at] = chunk;
    return chunk;
  }
}
