/** Where in a document something stands. */
export interface Where {
  /** The field of the document, and which record of a list, counted from 0; null of what is no list. */
  readonly section: string;
  readonly index: number | null;
  /** The line on which it begins, counted from 1; null when that is not known. */
  readonly line: number | null;
}

/** A document that is no state of an exchange: the line where that is known, the place, what was expected and what was found. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
  /** Such as `orders[3].price`, records counted from 0; empty when the text is no JSON. */
  readonly path: string;
  /** Counted from 1; null when it is not known. */
  readonly line: number | null;

  constructor({ section, index, line }: Where, path: string, expected: string, found: unknown) {
    const place = `${section}${index === null ? "" : `[${index}]`}${path}`.replace(/^\./, "");
    const places = [line === null ? "" : `line ${line}`, place].filter((text) => text !== "");
    super(`${places.join(", ")}: expected ${expected}, found ${shown(found)}`);
    this.path = place;
    this.line = line;
  }
}

const LONGEST_SHOWN = 60;
/** Control characters, and those that change the direction of the text after them, which JSON leaves as they are. */
const UNSEEN = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** A value as a message shows it, whatever it is: on one line, and not all of a long one. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number") return String(value);
  const text = textOf(value).replace(UNSEEN, "\ufffd");
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}...`;
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nothing else that was read from JSON cannot be written as JSON.
    return "something too deeply nested";
  }
}
