import { nearest } from "../api/nearest.ts";

/** A flow cannot be read: where it is wrong, and a sentence with what was expected and what was found. */
export class FlowError extends Error {
  override readonly name = "FlowError";
  /** The file as it was named by whoever asked for it. */
  readonly file: string;
  /** From 1; 0 when the file as a whole is wrong. */
  readonly line: number;
  /** From 1, in UTF-16 code units as editors count; 0 when the file as a whole is wrong. */
  readonly column: number;

  constructor(file: string, line: number, column: number, message: string) {
    super(message);
    this.file = file;
    this.line = line;
    this.column = column;
  }
}

const MAX_SHOWN = 60;

/** What stands somewhere, in quotes and cut short, with every invisible character escaped; `nothing` when empty. */
export function shown(text: string): string {
  if (text === "") return "nothing";
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
  return JSON.stringify(cut).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** `, did you mean BUY?` for the word that a mistyped one is likely to mean; nothing when there is none. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const like = word === "" || word.length > MAX_SHOWN ? undefined : nearest(word, candidates);
  return like === undefined ? "" : `, did you mean ${like}?`;
}
