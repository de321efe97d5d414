/** What has been told so far, and the moment at which it is as much as is waited for. */
export class Seen<Item> {
  readonly #items: Item[] = [];
  #wake: () => void = () => {};

  readonly add = (...items: readonly Item[]): void => {
    this.#items.push(...items);
    this.#wake();
  };

  /** All of it, as soon as it is so many. */
  count(count: number): Promise<readonly Item[]> {
    return this.until((items) => items.length >= count);
  }

  /** All of it, as soon as it is as it is to be. */
  async until(isEnough: (items: readonly Item[]) => boolean): Promise<readonly Item[]> {
    while (!isEnough(this.#items)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#items;
  }
}
