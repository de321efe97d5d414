/** A flow cannot be read; the message says what was expected and what was found. */
export class FlowError extends Error {
  override readonly name = "FlowError";
  /** The file as the caller named it. */
  readonly file: string;
  /** From 1; 0 for the whole file. */
  readonly line: number;
  /** From 1, in UTF-16 code units as in editors; 0 for the whole file. */
  readonly column: number;

  constructor(file: string, line: number, column: number, message: string) {
    super(message);
    this.file = file;
    this.line = line;
    this.column = column;
  }
}

const MAX_SHOWN = 60;

/** Quotes a text for a message, shortened and with invisible characters escaped; `nothing` for an empty text. */
export function shown(text: string): string {
  if (text === "") return "nothing";
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
  return JSON.stringify(cut).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
