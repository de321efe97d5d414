import type { Millis } from "../../core/units.ts";
import { CellError } from "./cell-error.ts";
import { FlatObjectReader, JsonError } from "./flat-object.ts";
import { FlowError } from "./flow-error.ts";
import type { FlowRow } from "./flow-row.ts";
import { RowReader } from "./row-reader.ts";

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
