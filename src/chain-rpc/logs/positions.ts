/** Where transactions stand in the order in which they were mined, ascending, each once. */
export class Positions {
  readonly #positions: number[] = [];

  /** Adds one that is not below the last. */
  add(position: number): void {
    if (this.#positions.at(-1) !== position) this.#positions.push(position);
  }

  /** Forgets all above one. */
  cut(last: number): void {
    const length = this.#firstAbove(last);
    if (length < this.#positions.length) this.#positions.length = length;
  }

  /** How many there are within a range, both ends included. */
  count(from: number, to: number): number {
    return this.#firstAbove(to) - this.#firstAbove(from - 1);
  }

  /** Those within a range. */
  within(from: number, to: number): number[] {
    return this.#positions.slice(this.#firstAbove(from - 1), this.#firstAbove(to));
  }

  #firstAbove(position: number): number {
    const positions = this.#positions;
    let [low, high] = [0, positions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((positions[middle] as number) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
