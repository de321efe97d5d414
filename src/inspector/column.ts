type Numbers = Float64Array | Uint32Array | Uint8Array;

/** Append-only list of numbers in a typed array, for millions of values. */
export class Column {
  readonly #Kind: new (
    size: number,
  ) => Numbers;
  #values: Numbers;
  #length = 0;

  constructor(Kind: new (size: number) => Numbers) {
    this.#Kind = Kind;
    this.#values = new Kind(1024);
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new this.#Kind(this.#length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }
}
