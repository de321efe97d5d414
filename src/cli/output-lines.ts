const PIECE_LENGTH = 1 << 16;

/** Lines for stdout, handed over in pieces. */
export class OutputLines {
  #waiting = "";

  add(line: string): void {
    this.#waiting += `${line}\n`;
    if (this.#waiting.length >= PIECE_LENGTH) this.end();
  }

  end(): void {
    if (this.#waiting !== "") process.stdout.write(this.#waiting);
    this.#waiting = "";
  }
}
