import { didYouMean, shown } from "./flow-error.ts";
import { MAX_NAME_LENGTH } from "./flow-names.ts";
import type { Column } from "./flow-row.ts";

/** A cell of a row says something else than what is expected there. */
export class CellError extends Error {
  override readonly name = "CellError";
  readonly cell: Column;

  constructor(cell: Column, message: string) {
    super(message);
    this.cell = cell;
  }
}

/** The cell holds another word than those that are known. */
export function notOneOf(cell: Column, found: string, words: readonly string[]): CellError {
  const expected = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  return new CellError(cell, `${cell} expects ${expected}, found ${shown(found)}${didYouMean(found, words)}`);
}

const NAMES = {
  account: "a name such as trader-1: a letter, then letters, digits, _ and -",
  market: "a name such as rain: a letter or digit, then letters, digits, _ and -",
  ref: "the name of an order such as o1: a letter or digit, then letters, digits, _, -, . and :",
} as const;

/** The cell holds nothing that could be such a name. */
export function notAName(cell: keyof typeof NAMES, found: string): CellError {
  const limit = found.length > MAX_NAME_LENGTH ? `, ${MAX_NAME_LENGTH} at most` : "";
  return new CellError(cell, `${cell} expects ${NAMES[cell]}${limit}, found ${shown(found)}`);
}

/** The cell holds no amount above 0 in plain digits, or one that is too large or too fine. */
export function notAnAmount(cell: "price" | "size", what: string, places: number, found: string): CellError {
  const message = `${cell} expects ${what} in plain digits with at most ${places} decimal places, found ${shown(found)}`;
  return new CellError(cell, message);
}
