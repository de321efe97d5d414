import { closeSync, read } from "node:fs";
import { promisify } from "node:util";
import type { Millis } from "../../core/units.ts";
import { FILE_LIMITS, FileRefused, openRegular } from "../../regular-file.ts";
import { CsvFlow } from "./csv-flow.ts";
import { FlowError, shown } from "./flow-error.ts";
import { type FlowFormat, formatOf } from "./flow-format.ts";
import type { FlowRow } from "./flow-row.ts";
import { NdjsonFlow } from "./ndjson-flow.ts";
import { wholeLines } from "./whole-lines.ts";

export interface ReadFlowOptions {
  /** When the flow starts: rows may then name moments. */
  readonly start?: Millis;
  /** How the rows are written; else the end of the file's name says so. */
  readonly format?: FlowFormat;
}

/** About 4,000 rows; also the most of a file that is in memory at a time, beside its rows and one line. */
const PIECE_BYTES = 196_608;

/**
 * The rows of a file, some thousands at a time, read no sooner than they are asked for.
 * @throws FlowError at the first line that is wrong, or when the file cannot be read.
 */
export async function* readFlow(
  path: string,
  options: ReadFlowOptions = {},
): AsyncGenerator<readonly FlowRow[]> {
  const format = options.format ?? formatOf(path);
  if (format === undefined) {
    throw new FlowError(
      path,
      0,
      0,
      `expected a file ending in .csv, .ndjson or .jsonl, found ${shown(path)}`,
    );
  }
  yield* parseFlow(piecesOf(path), path, format, options.start);
}

/**
 * The rows in pieces of a file that somebody else has read, cut anywhere.
 * @throws FlowError at the first line that is wrong; `file` is how it names the file.
 */
export async function* parseFlow(
  pieces: AsyncIterable<Uint8Array>,
  file: string,
  format: FlowFormat,
  start: Millis | null = null,
): AsyncGenerator<readonly FlowRow[]> {
  const flow = readerOf(file, format, start);
  for await (const { text, flaw } of wholeLines(pieces)) {
    const rows = text === null ? [] : flow.read(text);
    if (rows.length > 0) yield rows;
    if (flaw !== null) throw new FlowError(file, flow.line, flaw.column, flaw.message);
  }
  flow.end();
}

const readerOf = (file: string, format: FlowFormat, start: Millis | null): CsvFlow | NdjsonFlow =>
  format === "csv" ? new CsvFlow(file, start) : new NdjsonFlow(file, start);

/** The line at which a row stands in its file, both from 1; null when the file has no such row, or cannot be read. */
export async function lineOfRow(path: string, row: number, start: Millis): Promise<number | null> {
  const format = formatOf(path);
  if (format === undefined) return null;
  // One reader says in which piece of the file the row is, and one that is a piece behind reads that by lines.
  const [ahead, behind] = [readerOf(path, format, start), readerOf(path, format, start)];
  let count = 0;
  try {
    for await (const { text } of wholeLines(piecesOf(path))) {
      if (text === null) return null;
      const found = ahead.read(text).length;
      if (count + found < row) {
        behind.read(text);
        count += found;
        continue;
      }
      for (const line of text.split("\n")) {
        const at = behind.line;
        count += behind.read(line).length;
        if (count >= row) return at;
      }
    }
  } catch (error) {
    if (!(error instanceof FlowError)) throw error;
  }
  return null;
}

/** The bytes of a file, each piece good until the next is asked for. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  const file = opened(path);
  try {
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await readPiece(file, buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    closeSync(file);
  }
}

const readPiece = promisify(read);

function opened(path: string): number {
  try {
    return openRegular(path, FILE_LIMITS.flow);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): FlowError {
  if (error instanceof FileRefused) return new FlowError(path, 0, 0, error.message);
  const { code }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  return new FlowError(path, 0, 0, `expected a file that can be read, found ${shown(path)} (${code})`);
}
