import { closeSync, read } from "node:fs";
import { promisify } from "node:util";
import type { Millis } from "../core/units.ts";
import { FILE_LIMITS, FileRefused, invalidUtf8Offset, NOT_UTF8, openRegular } from "../regular-file.ts";
import {
  FLOW_FILE,
  FlowError,
  type FlowFormat,
  type FlowProfileName,
  type FlowRow,
  formatOf,
  PROFILES,
  shown,
} from "./flow.ts";
import { FlowReader, hasCells } from "./flow-text.ts";
import { type GenerateFlowOptions, generateFlow } from "./generate-flow.ts";

/** Without the end of the line. */
const MAX_LINE_BYTES = 65_536;

const NUL = 0;
const LINE_FEED = 10;
const CARRIAGE_RETURN = "\r";
const MARK = Buffer.from("\ufeff");

/**
 * Splits a stream of bytes into whole lines, up to one that is too long; buffers at most one piece and one line. Removes a
 * byte order mark at the start. A last line without a line feed is included, unless it is empty.
 */
async function* wholeLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  let isStart = true;
  for await (const piece of pieces) {
    const bytes = Buffer.concat([rest, piece]);
    const end = bytes.lastIndexOf(LINE_FEED);
    if (end < 0 && bytes.length <= MAX_LINE_BYTES + MARK.length) {
      rest = bytes;
      continue;
    }
    const lines = end < 0 ? bytes : bytes.subarray(0, end);
    yield isStart ? withoutMark(lines) : lines;
    if (end < 0) return;
    isStart = false;
    rest = Buffer.from(bytes.subarray(end + 1));
  }
  if (rest.length > 0) yield isStart ? withoutMark(rest) : rest;
}

const withoutMark = (bytes: Buffer): Buffer =>
  bytes.subarray(bytes.subarray(0, MARK.length).equals(MARK) ? MARK.length : 0);

/**
 * Returns the first flaw of any kind with the offset of its first byte; null if there is none. The result does not depend on
 * the boundaries of pieces.
 */
function firstFlaw(lines: Buffer) {
  const tooLong = `a line has at most ${MAX_LINE_BYTES} bytes, this one has more`;
  const mark = "expected text, found a byte order mark that is not at the start";
  const flaws = [
    { offset: longLineOffset(lines), message: tooLong },
    { offset: invalidUtf8Offset(lines), message: NOT_UTF8 },
    { offset: lines.indexOf(NUL), message: "expected text, found a NUL byte" },
    { offset: lines.indexOf(MARK), message: mark },
  ].filter(({ offset }) => offset >= 0);
  return flaws.sort((a, b) => a.offset - b.offset)[0] ?? null;
}

/** Returns the offset at which the first too long line exceeds the limit, or -1. Searches backwards from each limit. */
function longLineOffset(lines: Buffer): number {
  let start = 0;
  while (lines.length - start > MAX_LINE_BYTES) {
    const end = lines.lastIndexOf(LINE_FEED, start + MAX_LINE_BYTES);
    if (end < start) return start + MAX_LINE_BYTES;
    start = end + 1;
  }
  return -1;
}

/** Returns the text of lines, without the carriage returns at their ends. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!text.includes(CARRIAGE_RETURN)) return text;
  const lines = text.replaceAll("\r\n", "\n");
  return lines.endsWith(CARRIAGE_RETURN) ? lines.slice(0, -1) : lines;
}

/** Source of a flow: a file, or options of the generator; `place` is that of the step. */
type FlowSource =
  | { readonly kind: "replay"; readonly file: string }
  | (Pick<GenerateFlowOptions, "orders" | "accounts"> & {
      readonly kind: "generate";
      readonly profile: FlowProfileName;
      readonly place: { readonly file: string; readonly line: number; readonly column: number };
    });

/** Context in which a flow is generated or read. */
interface FlowSetting {
  readonly seed: string;
  /** When the flow starts. */
  readonly start: Millis;
  readonly grid: Pick<GenerateFlowOptions, "tickSize" | "minOrderSize">;
}

/** A run may be stopped between two batches. */
const BATCH_ROWS = 512;

/** Returns the rows of a source in batches. @throws FlowError if the generator cannot make such a flow. */
export function flowOf(source: FlowSource, setting: FlowSetting): AsyncIterable<readonly FlowRow[]> {
  if (source.kind === "replay") return readFlow(source.file, setting.start);
  const { orders, accounts, place } = source;
  const profile = PROFILES[source.profile];
  try {
    return inBatches(generateFlow({ seed: setting.seed, orders, accounts, profile, ...setting.grid }));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new FlowError(place.file, place.line, place.column, error.message);
  }
}

async function* inBatches(rows: Iterable<FlowRow>): AsyncGenerator<readonly FlowRow[]> {
  let batch: FlowRow[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const READ_BYTES = 262_144;
/** About 700 rows. The reader holds the rows of one piece in memory, and with more of them, collecting garbage takes longer. */
const PIECE_BYTES = READ_BYTES / 8;

/**
 * Reads the rows of a file in batches, lazily. Rows with absolute times need the start of the flow.
 * @throws FlowError at the first invalid line, or if the file cannot be read.
 */
export async function* readFlow(path: string, start?: Millis): AsyncGenerator<readonly FlowRow[]> {
  const format = formatOf(path);
  if (format === undefined) throw new FlowError(path, 0, 0, `expected ${FLOW_FILE}, found ${shown(path)}`);
  yield* parseFlow(piecesOf(path), path, format, start);
}

/**
 * Parses the rows of a file whose bytes come in any pieces.
 * @throws FlowError at the first invalid line, with `file` as the name of the file.
 */
export async function* parseFlow(
  pieces: AsyncIterable<Uint8Array>,
  file: string,
  format: FlowFormat,
  start: Millis | null = null,
): AsyncGenerator<readonly FlowRow[]> {
  const flow = new FlowReader(file, format, start);
  for await (const lines of wholeLines(pieces)) {
    const flaw = firstFlaw(lines);
    const end = flaw === null ? lines.length : lines.lastIndexOf(LINE_FEED, flaw.offset);
    const rows = end < 0 ? [] : flow.read(textOf(lines.subarray(0, end)));
    if (rows.length > 0) yield rows;
    if (flaw === null) continue;
    const column = lines.subarray(end + 1, flaw.offset).toString("utf8").length + 1;
    throw new FlowError(file, flow.line, column, flaw.message);
  }
  flow.end();
}

/** Returns the line of a row in its file, both from 1; null if there is no such row, or the file cannot be read. */
export async function lineOfRow(path: string, row: number): Promise<number | null> {
  let line = 0;
  let left = formatOf(path) === "csv" ? 1 + row : row;
  try {
    for await (const lines of wholeLines(piecesOf(path))) {
      for (const each of textOf(lines).split("\n")) {
        line += 1;
        if (hasCells(each)) left -= 1;
        if (left === 0) return line;
      }
    }
  } catch (error) {
    if (!(error instanceof FlowError)) throw error;
  }
  return null;
}

/** Reads the bytes of a file; each piece is valid until the next is requested. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  let file: number | null = null;
  try {
    file = openRegular(path, FILE_LIMITS.flow);
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (;;) {
      const { bytesRead } = await readPiece(file, buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      for (let at = 0; at < bytesRead; at += PIECE_BYTES)
        yield buffer.subarray(at, Math.min(at + PIECE_BYTES, bytesRead));
    }
  } catch (error) {
    if (error instanceof FileRefused) throw new FlowError(path, 0, 0, error.message);
    const { code }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
    throw new FlowError(path, 0, 0, `expected a file that can be read, found ${shown(path)} (${code})`);
  } finally {
    if (file !== null) closeSync(file);
  }
}

const readPiece = promisify(read);
