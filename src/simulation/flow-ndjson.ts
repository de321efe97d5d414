import type { Millis } from "../core/units.ts";
import { COLUMNS, type Column, type FlowRow } from "./flow.ts";
import { didYouMean, FlowError, shown } from "./flow-error.ts";
import {
  CellError,
  type ColumnPlaces,
  emptyCells,
  noPlaces,
  type RowCells,
  RowReader,
} from "./flow-row-reader.ts";

/** A line is no flat JSON object of known names; `offset` counts UTF-16 code units from its start. */
class JsonError extends Error {
  override readonly name = "JsonError";
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** What JSON numbers may stand for; everything else is a text. */
const NUMERIC: readonly Column[] = ["at", "price", "size"];

const TAB = 9;
const LINE_FEED = 10;
const RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/**
 * Reads lines that hold one JSON object each, of known names with texts, numbers and nulls. Not JSON.parse, because
 * that rounds numbers: here the digits arrive as they were written.
 */
class FlatObjectReader {
  /** What the line just read says; `null` says nothing. */
  cells: RowCells = emptyCells();
  /** Where the value of each name begins in that line, in UTF-16 code units. */
  offsets: ColumnPlaces = noPlaces();
  readonly #number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  #line = "";
  #offset = 0;

  /** Reads a line into `cells`. @throws JsonError at the first character that is wrong. */
  read(line: string): void {
    this.cells = emptyCells();
    this.offsets = noPlaces();
    this.#line = line;
    this.#offset = 0;
    this.#expect(OPENING_BRACE, 'an object such as {"at":0}');
    if (this.#next() === CLOSING_BRACE) this.#offset += 1;
    else while (this.#member());
    if (!Number.isNaN(this.#next())) throw this.#unexpected("nothing after the object");
  }

  /** Reads a name and its value; whether another follows. */
  #member(): boolean {
    this.#next();
    const start = this.#offset;
    const name = this.#text("a name in quotes");
    const column = columnOf(name);
    if (column === undefined) {
      const message = `expected names such as ${COLUMNS.join(", ")}, found ${shown(name)}${didYouMean(name, COLUMNS)}`;
      throw new JsonError(start, message);
    }
    if (this.offsets[column] >= 0)
      throw new JsonError(start, `expected each name once, found ${column} again`);
    this.#expect(COLON, "a colon");
    this.#next();
    this.offsets[column] = this.#offset;
    this.cells[column] = this.#value(column);
    if (this.#next() === COMMA) {
      this.#offset += 1;
      return true;
    }
    this.#expect(CLOSING_BRACE, "a comma or the end of the object");
    return false;
  }

  #value(column: Column): string {
    const start = this.#offset;
    if (this.#line.charCodeAt(start) === QUOTE) return this.#text("");
    if (this.#line.startsWith("null", start)) {
      this.#offset += "null".length;
      return "";
    }
    if (!NUMERIC.includes(column)) throw this.#unexpected(`a text in quotes as ${column}`);
    this.#number.lastIndex = start;
    const number = this.#number.exec(this.#line)?.[0];
    if (number === undefined) throw this.#unexpected(`a number or a text in quotes as ${column}`);
    this.#offset += number.length;
    return number;
  }

  /** Reads a text in quotes. */
  #text(expected: string): string {
    const line = this.#line;
    const start = this.#offset;
    if (line.charCodeAt(start) !== QUOTE) throw this.#unexpected(expected);
    let hasEscapes = false;
    let end = start + 1;
    for (let code = line.charCodeAt(end); code !== QUOTE; code = line.charCodeAt(end)) {
      if (!(code >= SPACE)) {
        this.#offset = end;
        throw this.#unexpected("a quote that closes the text");
      }
      if (code === BACKSLASH) hasEscapes = true;
      end += code === BACKSLASH ? 2 : 1;
    }
    this.#offset = end + 1;
    return hasEscapes ? unescaped(line, start, end + 1) : line.slice(start + 1, end);
  }

  #expect(code: number, expected: string): void {
    if (this.#next() !== code) throw this.#unexpected(expected);
    this.#offset += 1;
  }

  /** Skips white space and answers the code of what follows; NaN at the end of the line. */
  #next(): number {
    for (;;) {
      const code = this.#line.charCodeAt(this.#offset);
      if (code !== SPACE && code !== TAB && code !== RETURN && code !== LINE_FEED) return code;
      this.#offset += 1;
    }
  }

  #unexpected(expected: string): JsonError {
    const found = this.#line.slice(this.#offset, this.#offset + 1);
    const word = found === "" ? "the end of the line" : shown(this.#line.slice(this.#offset));
    return new JsonError(this.#offset, `expected ${expected}, found ${word}`);
  }
}

/** The text that a JSON string stands for. */
function unescaped(line: string, start: number, end: number): string {
  try {
    return JSON.parse(line.slice(start, end)) as string;
  } catch {
    throw new JsonError(
      start,
      `expected a text with the escapes of JSON, found ${shown(line.slice(start, end))}`,
    );
  }
}

const columnOf = (name: string): Column | undefined => COLUMNS.find((column) => column === name);

/** Reads the lines of one NDJSON file in their order: an object a line. */
export class NdjsonFlow {
  readonly #file: string;
  readonly #reader: RowReader;
  readonly #objects = new FlatObjectReader();
  #line = 1;

  /** `start`: when the flow starts; null when that is not known. */
  constructor(file: string, start: Millis | null) {
    this.#file = file;
    this.#reader = new RowReader(start);
  }

  /** The number of the next line. */
  get line(): number {
    return this.#line;
  }

  /** The rows of the next whole lines. @throws FlowError at the first line that is wrong. */
  read(text: string): readonly FlowRow[] {
    const rows: FlowRow[] = [];
    for (const line of text.split("\n")) {
      if (!line.startsWith("#") && line.trim() !== "") rows.push(this.#row(line));
      this.#line += 1;
    }
    return rows;
  }

  /** Nothing follows; a file without rows is a flow too. */
  end(): void {}

  #row(line: string): FlowRow {
    try {
      this.#objects.read(line);
      return this.#reader.row(this.#objects.cells);
    } catch (error) {
      if (error instanceof JsonError) throw this.#located(error.offset, error.message);
      if (error instanceof CellError) {
        throw this.#located(Math.max(0, this.#objects.offsets[error.cell]), error.message);
      }
      throw error;
    }
  }

  #located(offset: number, message: string): FlowError {
    return new FlowError(this.#file, this.#line, offset + 1, message);
  }
}
