import { shortened } from "./format.ts";

/** Field names and list indexes that lead to a value. */
export type DocumentPath = readonly (string | number)[];

/** Invalid value in a document. `message` is `line 7, orders[3].price: expected ..., found ...`. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
  readonly expected: string;
  readonly found: unknown;
  /** Such as `orders[3].price`; list items are numbered from 0. Empty for the whole document. */
  path = "";
  /** Line number from 1; null if unknown. */
  line: number | null = null;

  constructor(expected: string, found: unknown, ...path: DocumentPath) {
    super();
    this.expected = expected;
    this.found = found;
    this.within(...path);
  }

  /** Prefixes the path with a field name or a list index. */
  within(...path: DocumentPath): this {
    for (const step of path.toReversed()) {
      const text = typeof step === "number" ? `[${step}]` : step;
      this.path = this.path === "" || this.path.startsWith("[") ? text + this.path : `${text}.${this.path}`;
    }
    const places = [this.line === null ? "" : `line ${this.line}`, this.path].filter((place) => place !== "");
    const place = places.length === 0 ? "" : `${places.join(", ")}: `;
    this.message = `${place}expected ${this.expected}, found ${formatValue(this.found)}`;
    return this;
  }

  onLine(line: number): this {
    this.line = line;
    return this.within();
  }
}

/** @throws DocumentError if the value found at a path is not valid. */
export function check(
  isValid: boolean,
  expected: string,
  found: unknown,
  ...path: DocumentPath
): asserts isValid {
  if (!isValid) throw new DocumentError(expected, found, ...path);
}

/** Runs `run` and prefixes the path of a DocumentError that it throws. */
export function within<Value>(step: string | number, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    throw error instanceof DocumentError ? error.within(step) : error;
  }
}

const MAX_VALUE_LENGTH = 60;
/** Control characters and direction marks that JSON does not escape. */
const INVISIBLE = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Formats any value for a message: on one line, truncated if long. */
export function formatValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number") return String(value);
  return shortened(jsonOf(value).replace(INVISIBLE, "\ufffd"), MAX_VALUE_LENGTH);
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Of values read from JSON, only these cannot be written.
    return "something too deeply nested";
  }
}
