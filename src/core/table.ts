const CHUNK_BITS = 9;
const CHUNK_SIZE = 1 << CHUNK_BITS;
const IN_CHUNK = CHUNK_SIZE - 1;

/** Append-only list numbered from 1, in copy-on-write chunks: neither growth nor a copy of the list copies the items. */
export class Table<T> {
  /**
   * The last one may be shared with other lists and then holds their items beyond the size of this one. Undefined if not
   * made yet.
   */
  #chunks: (T[] | undefined)[] = [];
  /** Makes the chunk of an index, the same one for all copies of a list; null if the list is not lazy. */
  #source: ((at: number) => T[]) | null = null;
  #size = 0;
  /** Chunks of the list that this is a copy of; those that are still the same are shared. Null if it is no copy. */
  #original: readonly (T[] | undefined)[] | null = null;
  /** Number of items that are copied when they are first read. */
  #inherited = 0;
  #ownCopy = (item: T): T => item;

  static of<T>(items: ArrayLike<T>): Table<T> {
    return Table.lazy(items.length, (index) => items[index] as T);
  }

  /** Makes a list whose items are made in chunks on first access, by their indexes. */
  static lazy<T>(size: number, make: (index: number) => T): Table<T> {
    const made: T[][] = [];
    const table = new Table<T>();
    table.#size = size;
    table.#source = (at) => {
      const known = made[at];
      if (known !== undefined) return known;
      const chunk: T[] = [];
      const end = Math.min(size, (at + 1) * CHUNK_SIZE);
      // In a loop, because `Array.from` takes twice as long.
      for (let index = at * CHUNK_SIZE; index < end; index += 1) chunk.push(make(index));
      made[at] = chunk;
      return chunk;
    };
    for (let from = 0; from < size; from += CHUNK_SIZE) table.#chunks.push(undefined);
    return table;
  }

  /** Number of items, which is also the number of the latest. */
  get size(): number {
    return this.#size;
  }

  get next(): number {
    return this.#size + 1;
  }

  add(item: T): number {
    const index = this.#size;
    const place = index & IN_CHUNK;
    if (place === 0) this.#chunks.push([]);
    let chunk = this.#chunk(index >> CHUNK_BITS);
    if (chunk.length !== place) chunk = this.#takeChunk(index >> CHUNK_BITS);
    chunk[place] = item;
    this.#size += 1;
    return this.#size;
  }

  /** Appends an item that must get this number. @throws Error otherwise. */
  addAs(number: number, item: T): void {
    if (number !== this.next) throw new Error(`expected number ${this.next}, found ${number}`);
    this.add(item);
  }

  /** Replaces an item. @throws RangeError if the number does not exist. */
  replace(number: number, item: T): void {
    this.peek(number);
    const index = number - 1;
    this.#ownChunk(index >> CHUNK_BITS)[index & IN_CHUNK] = item;
  }

  /** Returns the item of a number. @throws RangeError if the number does not exist. */
  get(number: number): T {
    const item = this.find(number);
    if (item === undefined) throw new RangeError(`no number ${number} in a list of ${this.#size}`);
    return item;
  }

  /** Returns an item, not copied, for reading before the next command. @throws RangeError if the number does not exist. */
  peek(number: number): Readonly<T> {
    if (!(number >= 1 && number <= this.#size)) throw new RangeError(`no number ${number}`);
    return this.#chunk((number - 1) >> CHUNK_BITS)[(number - 1) & IN_CHUNK] as T;
  }

  /** Returns the item of a number; undefined if it does not exist. */
  find(number: number): T | undefined {
    if (!(number >= 1 && number <= this.#size)) return undefined;
    const index = number - 1;
    const item = this.#chunk(index >> CHUNK_BITS)[index & IN_CHUNK] as T;
    return number > this.#inherited ? item : this.#own(index, item);
  }

  /**
   * Returns a writable copy. After that neither this list nor its items may be written to. The copy shares all items and
   * copies each with `ownCopy` when it is first read, so that a caller can write to it; items that it returns stay shared.
   */
  copy(ownCopy: ((item: T) => T) | null = null): Table<T> {
    this.#inherited = 0;
    this.#original = null;
    const copy = new Table<T>();
    copy.#chunks = this.#chunks.slice();
    copy.#source = this.#source;
    copy.#size = this.#size;
    copy.#original = this.#chunks;
    if (ownCopy !== null) {
      copy.#inherited = this.#size;
      copy.#ownCopy = ownCopy;
    }
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

  #chunk(at: number): T[] {
    const chunk = this.#chunks[at];
    if (chunk !== undefined) return chunk;
    if (this.#source === null) throw new Error("a chunk is missing");
    const made = this.#source(at);
    this.#chunks[at] = made;
    return made;
  }

  /** Returns this list's own copy of an item, made if the item is still shared. */
  #own(index: number, item: T): T {
    const at = index >> CHUNK_BITS;
    if (this.#originalChunk(at)?.[index & IN_CHUNK] !== item) return item;
    const own = this.#ownCopy(item);
    if (own !== item) this.#ownChunk(at)[index & IN_CHUNK] = own;
    return own;
  }

  #originalChunk(at: number): T[] | undefined {
    return this.#original === null ? undefined : (this.#original[at] ?? this.#source?.(at));
  }

  /** Returns a chunk that no other list has. */
  #ownChunk(at: number): T[] {
    const chunk = this.#chunk(at);
    return chunk === this.#originalChunk(at) ? this.#takeChunk(at) : chunk;
  }

  /** Replaces a chunk by this list's own copy, without items that other lists have appended. */
  #takeChunk(at: number): T[] {
    const chunk = this.#chunk(at).slice(0, this.#size - at * CHUNK_SIZE);
    this.#chunks[at] = chunk;
    return chunk;
  }
}

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
