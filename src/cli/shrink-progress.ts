const DEFAULT_COLUMNS = 80;

/** One line on a terminal that grows, `1,204 steps → 37 → 9`, until it is full: `1,204 steps → … → 9`. */
export class Progress {
  #first = "";
  #line = "";

  show(steps: number): void {
    if (process.stderr.isTTY !== true) return;
    const count = steps.toLocaleString("en-US");
    const isFirst = this.#line === "";
    if (isFirst) this.#first = `${count} steps`;
    const longer = isFirst ? this.#first : `${this.#line} → ${count}`;
    const isFull = longer.length >= (process.stderr.columns || DEFAULT_COLUMNS);
    this.#line = isFull ? `${this.#first} → … → ${count}` : longer;
    process.stderr.write(`\r\u001b[K${this.#line}`);
  }

  end(): void {
    if (this.#line !== "") process.stderr.write("\n");
  }
}
