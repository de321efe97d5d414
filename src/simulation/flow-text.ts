import {
  decimalText,
  MONEY_PLACES,
  PRICE_PLACES,
  priceText,
  SIZE_PLACES,
  sizeText,
  unitsOf,
} from "../core/format.ts";
import { anyOf, ORDER_TYPES, OUTCOMES, SIDES, unreachable } from "../core/terms.ts";
import { parseDuration, parseIso } from "../core/time.ts";
import {
  FULL_PRICE,
  MAX_ISSUANCE,
  MAX_MILLIS,
  MAX_SIZE,
  type Millis,
  money,
  price,
  size,
} from "../core/units.ts";
import { didYouMean } from "../nearest.ts";
import {
  COLUMNS,
  type Column,
  FlowError,
  type FlowFormat,
  type FlowRow,
  type PlaceRow,
  shown,
} from "./flow.ts";

/** Texts of a row's cells in the order of `COLUMNS`; empty for missing cells. */
type Cells = TextOf<typeof COLUMNS>;
type TextOf<Names extends readonly string[]> = { readonly [Place in keyof Names]: string };

/** A line is invalid, at the cell of a column or at an offset in UTF-16 code units. */
class LineError extends Error {
  readonly at: Column | number;

  constructor(at: Column | number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Required columns of a CSV file. */
const REQUIRED: readonly Column[] = ["at", "account", "side", "outcome", "price", "size"];
/** Columns that may be JSON numbers; the others must be strings. */
const NUMERIC: readonly Column[] = ["at", "price", "size"];

const OPS = ["place", "cancel", "cancel-all", "fund"] as const;
/** Columns that must be empty in rows that do not place an order. */
const LEFT_EMPTY = {
  cancel: ["side", "outcome", "price", "size", "type"],
  "cancel-all": ["ref", "side", "outcome", "price", "size", "type"],
  fund: ["ref", "side", "price", "type"],
} as const satisfies Partial<Record<FlowRow["op"], readonly Column[]>>;

const MAX_NAME_LENGTH = 128;
const NAMES = {
  account: [/^[a-zA-Z][\w-]{0,127}$/, "a name such as trader-1: a letter, then letters, digits, _ and -"],
  market: [
    /^[a-zA-Z0-9][\w-]{0,127}$/,
    "a name such as rain: a letter or digit, then letters, digits, _ and -",
  ],
  ref: [
    /^[a-zA-Z0-9][\w.:-]{0,127}$/,
    "the name of an order such as o1: a letter or digit, then letters, digits, _, -, . and :",
  ],
} as const;

/** Rule for an amount above 0, in units of 10^-places. */
type Amount = ReturnType<typeof upTo>;

const upTo = (max: number, what: string, places: number) => ({
  what: `${what} above 0 and up to ${decimalText(max, places)}`,
  places,
  max,
});
const PRICE: Amount = { what: "USDC above 0 and below 1", places: PRICE_PLACES, max: FULL_PRICE - 1 };
const SIZE = upTo(MAX_SIZE, "shares", SIZE_PLACES);
const USDC = upTo(MAX_ISSUANCE, "USDC", MONEY_PLACES);
/** At most the sets that all USDC of an exchange can back. */
const SHARES = upTo(MAX_ISSUANCE / FULL_PRICE, "shares", SIZE_PLACES);

/** `price expects ..., found "..."`. */
const unexpected = (column: Column, expected: string, found: string, what: string = column): LineError =>
  new LineError(column, `${what} expects ${expected}, found ${shown(found)}`);

/** V8 represents a substring of at least this length as a reference to its parent string. */
const MIN_SLICED_LENGTH = 13;

/** Copies an ASCII text, so that it does not keep the text of the file in memory. */
const copied = (text: string): string =>
  text.length < MIN_SLICED_LENGTH ? text : Buffer.from(text, "latin1").toString("latin1");

/** Returns a copy of a name. @throws LineError if it is invalid */
function nameIn(column: keyof typeof NAMES, text: string): string {
  const [pattern, expected] = NAMES[column];
  if (pattern.test(text)) return copied(text);
  const limit = text.length > MAX_NAME_LENGTH ? `, ${MAX_NAME_LENGTH} at most` : "";
  throw unexpected(column, expected + limit, text);
}

/** Returns the known word, not the text, which would keep its file in memory. @throws LineError if it is unknown */
function wordIn<Word extends string>(column: Column, text: string, words: readonly Word[]): Word {
  const word = words[words.indexOf(text as Word)];
  if (word !== undefined) return word;
  const found = `${shown(text)}${didYouMean(text, words)}`;
  throw new LineError(column, `${column} expects ${anyOf(words)}, found ${found}`);
}

function amountIn(column: "price" | "size", text: string, { what, places, max }: Amount): number {
  const units = unitsOf(text, places);
  if (units !== null && units > 0 && units <= max) return units;
  throw unexpected(column, `${what} in plain digits with at most ${places} decimal places`, text);
}

interface LineFormat {
  /** Returns the cells of a line, valid until the next line; null if it has no row. @throws LineError */
  cells(line: string): Cells | null;
  /** Returns the offset of a column's cell in the latest line, in UTF-16 code units. */
  offsetOf(column: Column, line: string): number;
  /** Returns what is missing at the end of the file; null if nothing. */
  missing?(): string | null;
}

const NO_CELLS = COLUMNS.map(() => "");

class CsvLines implements LineFormat {
  /** Index of the column of each cell; null before the header. */
  #columns: readonly number[] | null = null;
  readonly #cells = NO_CELLS.slice();

  cells(line: string): Cells | null {
    const columns = this.#columns;
    if (columns === null) {
      this.#columns = readHeader(cellsIn(line), line);
      return null;
    }
    const cells = this.#cells;
    const count = visitCells(line, (text, place) => {
      if (place < columns.length) cells[columns[place] as number] = text;
    });
    if (count === columns.length) return cells as unknown as Cells;
    const message = `expected ${columns.length} cells as in the header, found ${count}`;
    throw new LineError(startOfCell(line, Math.min(count, columns.length)), message);
  }

  offsetOf(column: Column, line: string): number {
    return startOfCell(line, Math.max(0, this.#columns?.indexOf(COLUMNS.indexOf(column)) ?? 0));
  }

  missing(): string | null {
    if (this.#columns !== null) return null;
    return `expected a header such as ${COLUMNS.slice(0, -1).join()}, found nothing`;
  }
}

const LAST_SPACE = 32;
const FIRST_NOT_ASCII = 128;
const mayBeSpace = (code: number): boolean => code <= LAST_SPACE || code >= FIRST_NOT_ASCII;

/** A cell in quotes, which may be followed by spaces; a quote within it is written twice. */
const QUOTED = /"((?:[^"]|"")*)"\s*(?=,|$)/y;

/** Returns the cell in quotes at an offset, before `QUOTED.lastIndex`; undefined if it has none. @throws LineError if they stay open */
function quotedAt(line: string, start: number): string | undefined {
  if (line[start] !== '"') return undefined;
  QUOTED.lastIndex = start;
  const text = QUOTED.exec(line)?.[1];
  if (text !== undefined) return text.replaceAll('""', '"');
  throw new LineError(start, "expected a closing quote before the comma or the end of the line");
}

/**
 * Visits the trimmed cells of a line with their offsets, and returns their number. With `split` and `trim`, a row takes 1.2
 * times as many instructions. @throws LineError as `quotedAt`
 */
function visitCells(line: string, visit: (cell: string, place: number, start: number) => void): number {
  const hasQuotes = line.includes('"');
  let start = 0;
  for (let place = 0; ; place += 1) {
    const quoted = hasQuotes ? quotedAt(line, start) : undefined;
    const comma = line.indexOf(",", quoted === undefined ? start : QUOTED.lastIndex);
    const cell = quoted ?? line.slice(start, comma < 0 ? line.length : comma);
    const hasSpace =
      cell !== "" && (mayBeSpace(cell.charCodeAt(0)) || mayBeSpace(cell.charCodeAt(cell.length - 1)));
    visit(hasSpace ? cell.trim() : cell, place, start);
    if (comma < 0) return place + 1;
    start = comma + 1;
  }
}

/** Returns the offset of a cell in its line; the length of the line if there is no such cell. */
function startOfCell(line: string, wanted: number): number {
  let found = line.length;
  visitCells(line, (_cell, place, start) => {
    if (place === wanted) found = start;
  });
  return found;
}

function cellsIn(line: string): string[] {
  const cells: string[] = [];
  visitCells(line, (cell) => cells.push(cell));
  return cells;
}

/** Returns the index of each column. @throws LineError for an unknown, repeated or missing column */
function readHeader(names: readonly string[], line: string): number[] {
  names.forEach((name, place) => {
    const at = startOfCell(line, place);
    if (!COLUMNS.some((column) => column === name)) {
      const free = COLUMNS.filter((column) => !names.includes(column));
      const found = `${shown(name)}${didYouMean(name, free)}`;
      throw new LineError(at, `expected columns such as ${anyOf(COLUMNS)} between commas, found ${found}`);
    }
    if (names.indexOf(name) < place)
      throw new LineError(at, `expected each column once, found ${name} again`);
  });
  const missing = REQUIRED.find((column) => !names.includes(column));
  if (missing === undefined) return names.map((name) => COLUMNS.indexOf(name as Column));
  throw new LineError(line.length, `expected a column ${missing}, found ${shown(names.join())}`);
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|null/y;
const NULL = /null/y;
/** A text without its closing quote. */
const TEXT = /"(?:[ !#-[\]-\uffff]|\\[\s\S]?)*/y;
const PLACE_OF: ReadonlyMap<string, number> = new Map(COLUMNS.map((column, index) => [column, index]));

/** NDJSON of flat objects. Not parsed with JSON.parse, because that rounds numbers. */
class JsonLines implements LineFormat {
  #line = "";
  #offset = 0;
  /** Offset of each column's value in the line; -1 if missing. */
  readonly #starts: number[] = COLUMNS.map(() => -1);

  cells(line: string): Cells {
    this.#line = line;
    this.#offset = 0;
    this.#starts.fill(-1);
    const cells = NO_CELLS.slice();
    this.#mark("{", 'an object such as {"at":0}');
    for (let isMore = this.#next() !== "}"; isMore; ) {
      const index = this.#name();
      this.#mark(":", "a colon");
      const isText = this.#next() === '"';
      this.#starts[index] = this.#offset;
      cells[index] = isText ? this.#text() : this.#bare(index);
      isMore = this.#next() === ",";
      if (isMore) this.#offset += 1;
    }
    this.#mark("}", "a comma or the end of the object");
    if (this.#next() !== undefined) throw this.#unexpected("nothing after the object");
    return cells as unknown as Cells;
  }

  offsetOf(column: Column): number {
    return Math.max(0, this.#starts[COLUMNS.indexOf(column)] as number);
  }

  /** Reads a name and returns the index of its column. */
  #name(): number {
    if (this.#next() !== '"') throw this.#unexpected("a name in quotes");
    const start = this.#offset;
    const name = this.#text();
    const index = PLACE_OF.get(name);
    if (index === undefined) {
      const found = `${shown(name)}${didYouMean(name, COLUMNS)}`;
      throw new LineError(start, `expected names such as ${COLUMNS.join(", ")}, found ${found}`);
    }
    if (this.#starts[index] === -1) return index;
    throw new LineError(start, `expected each name once, found ${name} again`);
  }

  /** Reads a number; null is an empty cell. */
  #bare(index: number): string {
    const column = COLUMNS[index] as Column;
    const isNumeric = NUMERIC.includes(column);
    const value = this.#taken(isNumeric ? NUMBER : NULL);
    if (value === "")
      throw this.#unexpected(`${isNumeric ? "a number or a text" : "a text"} in quotes as ${column}`);
    return value === "null" ? "" : value;
  }

  /** Reads a string from its opening quote. */
  #text(): string {
    const start = this.#offset;
    this.#taken(TEXT);
    if (this.#line[this.#offset] !== '"') throw this.#unexpected("a quote that closes the text");
    this.#offset += 1;
    const text = this.#line.slice(start, this.#offset);
    if (!text.includes("\\")) return text.slice(1, -1);
    try {
      return JSON.parse(text) as string;
    } catch {
      throw new LineError(start, `expected a text with the escapes of JSON, found ${shown(text)}`);
    }
  }

  /** Passes over what matches a sticky pattern, and returns it. */
  #taken(pattern: RegExp): string {
    const start = this.#offset;
    pattern.lastIndex = start;
    if (pattern.test(this.#line)) this.#offset = pattern.lastIndex;
    return this.#line.slice(start, this.#offset);
  }

  #mark(character: string, expected: string): void {
    if (this.#next() !== character) throw this.#unexpected(expected);
    this.#offset += 1;
  }

  /** Skips white space and returns the next character; undefined at the end of the line. */
  #next(): string | undefined {
    for (;;) {
      const character = this.#line[this.#offset];
      if (character !== " " && character !== "\t" && character !== "\r") return character;
      this.#offset += 1;
    }
  }

  #unexpected(expected: string): LineError {
    const rest = this.#line.slice(this.#offset);
    const found = rest === "" ? "the end of the line" : shown(rest);
    return new LineError(this.#offset, `expected ${expected}, found ${found}`);
  }
}

/** Whether a line is a row or a header, not a comment and not empty. */
export const hasCells = (line: string): boolean => !line.startsWith("#") && line.trim() !== "";

/** Reads the lines of a file in order. */
export class FlowReader {
  readonly #file: string;
  readonly #format: LineFormat;
  readonly #start: Millis | null;
  #line = 1;
  /** Time of the previous row. */
  #last = 0;

  /** `start`: when the flow starts; null if unknown, which excludes absolute times. */
  constructor(file: string, format: FlowFormat, start: Millis | null) {
    this.#file = file;
    this.#format = format === "csv" ? new CsvLines() : new JsonLines();
    this.#start = start;
  }

  /** The number of the next line. */
  get line(): number {
    return this.#line;
  }

  /** Returns the rows of the next lines. @throws FlowError at the first invalid line. */
  read(text: string): readonly FlowRow[] {
    const rows: FlowRow[] = [];
    for (const line of text.split("\n")) {
      const row = hasCells(line) ? this.#rowIn(line) : null;
      if (row !== null) rows.push(row);
      this.#line += 1;
    }
    return rows;
  }

  /** Ends the file. @throws FlowError if something is missing. */
  end(): void {
    const missing = this.#format.missing?.() ?? null;
    if (missing !== null) throw new FlowError(this.#file, this.#line, 1, missing);
  }

  #rowIn(line: string): FlowRow | null {
    try {
      const cells = this.#format.cells(line);
      return cells === null ? null : this.#row(cells);
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      const offset = typeof error.at === "number" ? error.at : this.#format.offsetOf(error.at, line);
      throw new FlowError(this.#file, this.#line, offset + 1, error.message);
    }
  }

  #row(cells: Cells): FlowRow {
    const [time, name, word, ref, , outcome, , amount, , place] = cells;
    const at = this.#at(time);
    const account = nameIn("account", name);
    const market = place === "" ? null : nameIn("market", place);
    const op = word === "" ? "place" : wordIn("op", word, OPS);
    if (op === "place") return this.#place(at, account, market, cells);
    const id = op === "cancel" ? nameIn("ref", ref) : "";
    const filled = LEFT_EMPTY[op].find((column) => cells[COLUMNS.indexOf(column)] !== "");
    if (filled !== undefined)
      throw unexpected(filled, `no ${filled}`, cells[COLUMNS.indexOf(filled)] as string, op);
    if (op === "cancel") return { op, at, account, market, ref: id };
    if (op === "cancel-all") return { op, at, account, market };
    const asset = wordIn("outcome", outcome, ["USDC", ...OUTCOMES]);
    return asset === "USDC"
      ? { op, at, account, market, asset, amount: money(amountIn("size", amount, USDC)) }
      : { op, at, account, market, asset, amount: size(amountIn("size", amount, SHARES)) };
  }

  #place(at: number, account: string, market: string | null, cells: Cells): PlaceRow {
    const [, , , ref, side, outcome, limit, amount, type] = cells;
    const orderType = type.startsWith("GTD ") ? "GTD" : wordIn("type", type || "GTC", ORDER_TYPES);
    return {
      op: "place",
      at,
      account,
      market,
      ref: ref === "" ? "" : nameIn("ref", ref),
      side: wordIn("side", side, SIDES),
      outcome: wordIn("outcome", outcome, OUTCOMES),
      price: price(amountIn("price", limit, PRICE)),
      size: size(amountIn("size", amount, SIZE)),
      type: orderType,
      expiresIn: orderType === "GTD" ? this.#expiresIn(at, type) : null,
    };
  }

  /** Parses a time as milliseconds since the start of the flow. */
  #at(text: string): number {
    const at = /^\d{1,15}$/.test(text) ? Number(text) : (parseDuration(text) ?? this.#sinceStart("at", text));
    if (at === null || (this.#start ?? 0) + at > MAX_MILLIS) {
      const expected = "milliseconds since the start, a duration such as 1m30s or a moment such as";
      throw unexpected("at", `${expected} 2026-01-01T00:00:00Z`, text);
    }
    if (at < 0) throw unexpected("at", "no moment before the start", text);
    if (at < this.#last) {
      const expected = `a time not before that of the previous row, ${this.#last} ms after the start`;
      throw unexpected("at", expected, text);
    }
    this.#last = at;
    return at;
  }

  /** Returns the milliseconds from `at` until an order of type `GTD +60s` or `GTD 2026-01-01T00:00:00Z` expires. */
  #expiresIn(at: number, type: string): number {
    const end = type.slice("GTD ".length);
    const moment = end.startsWith("+") ? null : this.#sinceStart("type", end);
    const length = end.startsWith("+") ? parseDuration(end.slice(1)) : moment === null ? null : moment - at;
    if (length === null) {
      const expected = "its end after one space, such as GTD +60s or GTD 2026-01-01T00:00:00Z";
      throw unexpected("type", expected, type, "GTD");
    }
    if (length < 1 || (this.#start ?? 0) + at + length > MAX_MILLIS) {
      const expected = "an end later than the order itself and not after the year 9999";
      throw unexpected("type", expected, type, "GTD");
    }
    return length;
  }

  /** Returns the milliseconds from the start of the flow to a moment; null if the text is not a moment. */
  #sinceStart(column: Column, text: string): number | null {
    const moment = parseIso(text);
    if (moment === null) return null;
    if (this.#start !== null) return moment - this.#start;
    throw unexpected(column, "a time since the start, because the start is unknown", text);
  }
}

/** Approximate number of characters of a batch. */
const BATCH_LENGTH = 65_536;

/**
 * Writes a flow of one market in batches, with the shortest decimals, as CSV with a header or as NDJSON. Reading it gives
 * equal rows.
 */
export function* writeFlow(rows: Iterable<FlowRow>, format: FlowFormat): Generator<string> {
  const line = format === "csv" ? csvLine : jsonLine;
  let batch = format === "csv" ? csvLine(COLUMNS) : "";
  for (const row of rows) {
    batch += line(cellsOf(row));
    if (batch.length < BATCH_LENGTH) continue;
    yield batch;
    batch = "";
  }
  if (batch !== "") yield batch;
}

const csvLine = (cells: readonly string[]): string => `${cells.slice(0, -1).join()}\n`;

const jsonLine = (cells: Cells): string =>
  `{${COLUMNS.flatMap((column, index) => {
    const cell = cells[index] as string;
    if (cell === "") return [];
    return `"${column}":${NUMERIC.includes(column) ? cell : `"${cell}"`}`;
  }).join()}}\n`;

/** Cells of a row; the market is the reader's. */
function cellsOf(row: FlowRow): Cells {
  const at = String(row.at);
  const { account, op } = row;
  switch (row.op) {
    case "place": {
      const { ref, side, outcome } = row;
      const [price, size] = [priceText(row.price), sizeText(row.size)];
      return [at, account, op, ref, side, outcome, price, size, typeText(row), ""];
    }
    case "cancel":
      return [at, account, op, row.ref, "", "", "", "", "", ""];
    case "cancel-all":
      return [at, account, op, "", "", "", "", "", "", ""];
    case "fund": {
      const amount = decimalText(row.amount, row.asset === "USDC" ? MONEY_PLACES : SIZE_PLACES);
      return [at, account, op, "", "", row.asset, "", amount, "", ""];
    }
    default:
      throw unreachable(row);
  }
}

function typeText({ type, expiresIn }: PlaceRow): string {
  if (expiresIn === null) return type;
  return `${type} +${expiresIn % 1000 === 0 ? `${expiresIn / 1000}s` : `${expiresIn}ms`}`;
}
