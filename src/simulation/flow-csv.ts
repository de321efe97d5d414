import Papa from "papaparse";
import type { Millis } from "../core/units.ts";
import { COLUMNS, type Column, type FlowRow } from "./flow.ts";
import { didYouMean, FlowError, shown } from "./flow-error.ts";
import { CellError, type ColumnPlaces, emptyCells, noPlaces, RowReader } from "./flow-row-reader.ts";

/** What the first line of a CSV file says. */
interface Header {
  readonly places: Readonly<ColumnPlaces>;
  /** How many cells each line has. */
  readonly width: number;
}

/** A line has a cell that cannot stand there; `place` counts the cells from 0. */
class PlaceError extends Error {
  override readonly name = "PlaceError";
  readonly place: number;

  constructor(place: number, message: string) {
    super(message);
    this.place = place;
  }
}

/** Without these no order can be placed. */
const NEEDED: readonly Column[] = ["at", "account", "side", "outcome", "price", "size"];
const EXPECTED = `${COLUMNS.slice(0, -1).join(", ")} or ${COLUMNS.at(-1)}`;

/** The header in a line's cells. @throws PlaceError at a name that is unknown or given twice, or when one is missing. */
function readHeader(cells: readonly string[]): Header {
  const names = cells.map((cell) => cell.trim());
  const places = noPlaces();
  names.forEach((name, place) => {
    const column = COLUMNS.find((known) => known === name);
    if (column === undefined) throw new PlaceError(place, unknown(name, names));
    if (places[column] >= 0) throw new PlaceError(place, `expected each column once, found ${column} again`);
    places[column] = place;
  });
  const missing = NEEDED.find((column) => places[column] < 0);
  if (missing !== undefined) {
    throw new PlaceError(names.length, `expected a column ${missing}, found ${shown(names.join())}`);
  }
  return { places, width: names.length };
}

function unknown(name: string, names: readonly string[]): string {
  const free = COLUMNS.filter((column) => !names.includes(column));
  const message = `expected columns such as ${EXPECTED} between commas, found ${shown(name)}`;
  return message + didYouMean(name, free);
}

/** The cells of one line, in the order of the file. */
type Cells = readonly string[];

/** Reads the lines of one CSV file in their order: the header first, then a row a line. */
export class CsvFlow {
  readonly #file: string;
  readonly #reader: RowReader;
  /** Filled anew for each row. */
  readonly #cells = emptyCells();
  #header: Header | null = null;
  #isPadded = false;
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
    // Left in, the quotes of a comment would count.
    const lines = text.includes("#") ? text.replace(/(^|\n)#[^\n]*/g, "$1") : text;
    const records = recordsOf(lines);
    const rows: FlowRow[] = [];
    for (let index = 0; index < records.length; index += 1) {
      const cells = records[index] as Cells | null;
      try {
        if (cells === null) throw misquoted(lineAt(lines, index));
        if (cells.length === 1 && (cells[0] as string).trim() === "") continue;
        if (this.#header === null) this.#header = readHeader(cells);
        else rows.push(this.#row(cells, this.#header));
      } catch (error) {
        if (!(error instanceof CellError) || this.#isPadded) throw this.#located(error, lines, index);
        // Perhaps there are spaces around the cells: from here on they are taken off.
        this.#isPadded = true;
        index -= 1;
      }
    }
    this.#line += records.length;
    return rows;
  }

  /** Nothing follows. @throws FlowError when there was no header. */
  end(): void {
    if (this.#header !== null) return;
    const message = `expected a header such as ${COLUMNS.slice(0, -1).join()}, found nothing`;
    throw new FlowError(this.#file, this.#line, 1, message);
  }

  #row(found: Cells, { places, width }: Header): FlowRow {
    if (found.length !== width) {
      const message = `expected ${width} cells as in the header, found ${found.length}`;
      throw new PlaceError(Math.min(found.length, width), message);
    }
    const record = this.#isPadded ? found.map((cell) => cell.trim()) : found;
    const cells = this.#cells;
    cells.at = cellAt(record, places.at);
    cells.account = cellAt(record, places.account);
    cells.op = cellAt(record, places.op);
    cells.ref = cellAt(record, places.ref);
    cells.side = cellAt(record, places.side);
    cells.outcome = cellAt(record, places.outcome);
    cells.price = cellAt(record, places.price);
    cells.size = cellAt(record, places.size);
    cells.type = cellAt(record, places.type);
    cells.market = cellAt(record, places.market);
    return this.#reader.row(cells);
  }

  /** The error of a line with its file, line and column. */
  #located(error: unknown, lines: string, index: number): unknown {
    if (!(error instanceof CellError || error instanceof PlaceError)) return error;
    const place = error instanceof PlaceError ? error.place : (this.#header?.places[error.cell] ?? 0);
    const column = columnOf(lineAt(lines, index), place);
    return new FlowError(this.#file, this.#line + index, column, error.message);
  }
}

/**
 * The cells of each line. No cell of a flow may hold a line break, so a line is a record; where quotes make no sense
 * within their line, a null ends the list.
 */
function recordsOf(lines: string): readonly (Cells | null)[] {
  if (lines === "") return [[""]];
  const { data, errors } = parse(lines);
  // A line break between quotes joins two lines in one record.
  if (errors.length === 0 && (!lines.includes('"') || data.length === lines.split("\n").length)) return data;
  const records: (Cells | null)[] = [];
  for (const line of lines.split("\n")) {
    const { data, errors } = parse(`${line}\n`);
    records.push(errors.length === 0 ? (data[0] as Cells) : null);
    if (errors.length > 0) break;
  }
  return records;
}

const parse = (text: string): Papa.ParseResult<string[]> =>
  Papa.parse<string[]>(text, { delimiter: ",", newline: "\n" });

/** What is wrong with a line in which a cell opens with a quote that nothing closes. */
function misquoted(line: string): PlaceError {
  const [error] = parse(`${line}\n`).errors;
  const before = line.slice(0, Math.max(0, (error?.index ?? 0) - 1));
  const message = "a cell that opens with a quote expects one more before its comma or the end of its line";
  return new PlaceError(before === "" ? 0 : (parse(before).data[0] as Cells).length - 1, message);
}

const cellAt = (record: Cells, place: number): string => (place < 0 ? "" : (record[place] as string));

const lineAt = (lines: string, index: number): string => lines.split("\n", index + 1)[index] as string;

/** The column at which a cell begins, from 1; behind the end of the line for a cell that is not there. */
function columnOf(line: string, place: number): number {
  const quoted = /"[^"]*"(?:"[^"]*")*/y;
  let start = 0;
  for (let passed = 0; passed < place; passed += 1) {
    quoted.lastIndex = start;
    const comma = line.indexOf(",", quoted.test(line) ? quoted.lastIndex : start);
    if (comma < 0) return line.length + 1;
    start = comma + 1;
  }
  return start + 1;
}
