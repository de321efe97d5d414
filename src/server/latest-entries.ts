/** Characters that are kept for readers that fall behind or come back. */
const MAX_KEPT = 8 * 1024 * 1024;
/** Characters that a reader is sent at a time. */
const MAX_PIECE = 128 * 1024;

/**
 * The latest entries of a live feed, as texts that begin with the line of their id. Each has a place that counts on
 * whatever is forgotten, so that a reader is nothing but a place.
 */
export class LatestEntries {
  #texts: string[] = [];
  #first = 0;
  #before: string;
  #length = 0;

  /** `before` is the line of the id behind which the first entry will come. */
  constructor(before: string) {
    this.#before = before;
  }

  /** The place of the oldest one. */
  get first(): number {
    return this.#first;
  }

  /** The place of the next. */
  get end(): number {
    return this.#first + this.#texts.length;
  }

  /** The line of the id of the latest one. */
  get latest(): string {
    return firstLine(this.#texts.at(-1) ?? this.#before);
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#length > MAX_KEPT) this.#forget();
  }

  /** Forgets so many of the oldest that it is not soon called again. */
  #forget(): void {
    let count = 0;
    while (this.#length > MAX_KEPT / 2) this.#length -= (this.#texts[count++] as string).length;
    this.#before = firstLine(this.#texts.splice(0, count).at(-1) as string);
    this.#first += count;
  }

  /** Forgets all: none of the places given so far is reached any more. */
  clear(before: string): void {
    this.#first = this.end + 1;
    this.#before = before;
    this.#texts = [];
    this.#length = 0;
  }

  /** The place behind the entry that begins with one of these; null when it is not held. */
  behind(beginnings: readonly string[]): number | null {
    const isMeant = (text: string): boolean => beginnings.some((beginning) => text.startsWith(beginning));
    const index = this.#texts.findLastIndex(isMeant);
    if (index >= 0) return this.#first + index + 1;
    return isMeant(this.#before) ? this.#first : null;
  }

  /** The texts from a place up to another, no more than a piece of them, and the place behind it. */
  read(from: number, to: number): { readonly text: string; readonly next: number } {
    let next = from;
    for (let length = 0; next < to && length < MAX_PIECE; next += 1) {
      length += (this.#texts[next - this.#first] as string).length;
    }
    return { text: this.#texts.slice(from - this.#first, next - this.#first).join(""), next };
  }
}

const firstLine = (text: string): string => text.slice(0, text.indexOf("\n") + 1);
