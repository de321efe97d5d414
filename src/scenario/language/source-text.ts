import type { Place } from "./problem.ts";

const BYTE_ORDER_MARK = 0xfeff;

/** The text of a file as it is read: without a byte order mark, each line ended by a line feed alone. */
export class SourceText {
  /** As the user named it. */
  readonly file: string;
  readonly text: string;
  readonly #original: string;
  #lineStarts: readonly number[] | null = null;
  #removed: readonly number[] | null = null;

  constructor(file: string, original: string) {
    const text = original.charCodeAt(0) === BYTE_ORDER_MARK ? original.slice(1) : original;
    this.file = file;
    this.text = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    this.#original = original;
  }

  /** Where a character stands; columns count UTF-16 code units, as editors do. */
  placeOf(offset: number): Place {
    this.#lineStarts ??= lineStartsOf(this.text);
    const line = countUpTo(this.#lineStarts, offset);
    return { file: this.file, line, column: offset - (this.#lineStarts[line - 1] ?? 0) + 1 };
  }

  /** Where a character stands in the file itself, in UTF-16 code units from its start. */
  originalOffset(offset: number): number {
    if (this.#original.length === this.text.length) return offset;
    this.#removed ??= removedFrom(this.#original);
    return offset + countUpTo(this.#removed, offset);
  }
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}

/** For each character that was left out, the offset in the text of what followed it. */
function removedFrom(original: string): number[] {
  const removed = original.charCodeAt(0) === BYTE_ORDER_MARK ? [0] : [];
  for (let at = original.indexOf("\r\n"); at >= 0; at = original.indexOf("\r\n", at + 2)) {
    removed.push(at - removed.length);
  }
  return removed;
}

/** How many of some numbers in rising order are not above a bound. */
export function countUpTo(rising: readonly number[], bound: number): number {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rising[middle] as number) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
