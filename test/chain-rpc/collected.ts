/** Collects items and waits until they are enough. */
export class Collected<Item> {
  readonly #items: Item[] = [];
  #wake: () => void = () => {};

  readonly add = (...items: readonly Item[]): void => {
    this.#items.push(...items);
    this.#wake();
  };

  count(count: number): Promise<readonly Item[]> {
    return this.until((items) => items.length >= count);
  }

  /** Waits for a condition and returns all collected items. */
  async until(isEnough: (items: readonly Item[]) => boolean): Promise<readonly Item[]> {
    while (!isEnough(this.#items)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#items;
  }
}
