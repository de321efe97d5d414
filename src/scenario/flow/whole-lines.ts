import { isUtf8 } from "node:buffer";

/** The most bytes that a line may have, without its end. */
export const MAX_LINE_BYTES = 65_536;

/** Why a line cannot be read as text; `column` as editors count. */
export interface LineFlaw {
  readonly column: number;
  readonly message: string;
}

/** Some lines of a file in a row. */
export interface WholeLines {
  /** The lines, with a line feed between them and none at the end; null when there is no sound line. */
  readonly text: string | null;
  /** What is wrong with the line that follows; nothing comes after it. */
  readonly flaw: LineFlaw | null;
}

interface Flaw {
  /** Offset of the first byte that is wrong. */
  readonly offset: number;
  readonly message: string;
}

const NUL = 0;
const LINE_FEED = 10;
const CARRIAGE_RETURN = "\r";
const MARK = Buffer.from("\ufeff");

/**
 * Cuts bytes, as they come, into texts of whole lines, and never holds more than one piece and one line. A byte order
 * mark at the start and carriage returns before line feeds are left out; what follows the last line feed is a line too,
 * unless it is empty.
 */
export async function* wholeLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<WholeLines> {
  let rest = Buffer.alloc(0);
  let isStart = true;
  for await (const piece of pieces) {
    const bytes = Buffer.concat([rest, piece]);
    const end = bytes.lastIndexOf(LINE_FEED);
    if (end < 0 && bytes.length <= MAX_LINE_BYTES + MARK.length) {
      rest = bytes;
      continue;
    }
    const lines = checked(end < 0 ? bytes : bytes.subarray(0, end), isStart);
    yield lines;
    if (lines.flaw !== null) return;
    isStart = false;
    rest = Buffer.from(bytes.subarray(end + 1));
  }
  if (rest.length > 0) yield checked(rest, isStart);
}

/** The text of whole lines, up to the first that is flawed. */
function checked(bytes: Buffer, isStart: boolean): WholeLines {
  const hasMark = isStart && bytes.subarray(0, MARK.length).equals(MARK);
  const lines = hasMark ? bytes.subarray(MARK.length) : bytes;
  const flaw = firstFlaw(lines);
  if (flaw === null) return { text: textOf(lines), flaw: null };
  const start = lines.lastIndexOf(LINE_FEED, flaw.offset) + 1;
  return {
    text: start === 0 ? null : textOf(lines.subarray(0, start - 1)),
    flaw: {
      column: lines.subarray(start, flaw.offset).toString("utf8").length + 1,
      message: flaw.message,
    },
  };
}

/** The flaw that comes first, whatever its kind: where the pieces were cut decides nothing. */
function firstFlaw(lines: Buffer): Flaw | null {
  const flaws = [
    { offset: endlessLine(lines), message: `a line has at most ${MAX_LINE_BYTES} bytes, this one has more` },
    { offset: notUtf8(lines), message: "expected UTF-8 text, found a byte that is none" },
    { offset: lines.indexOf(NUL), message: "expected text, found a NUL byte" },
    {
      offset: lines.indexOf(MARK),
      message: "expected text, found a byte order mark that is not at the start",
    },
  ].filter(({ offset }) => offset >= 0);
  return flaws.sort((a, b) => a.offset - b.offset)[0] ?? null;
}

/** Where the first line that is too long exceeds the limit, or -1. It leaps from line to line as far as one may reach. */
function endlessLine(lines: Buffer): number {
  let start = 0;
  while (lines.length - start > MAX_LINE_BYTES) {
    const end = lines.lastIndexOf(LINE_FEED, start + MAX_LINE_BYTES);
    if (end < start) return start + MAX_LINE_BYTES;
    start = end + 1;
  }
  return -1;
}

/** Where the first sequence of bytes begins that is not UTF-8, or -1. */
function notUtf8(bytes: Buffer): number {
  if (isUtf8(bytes)) return -1;
  for (let offset = 0; offset < bytes.length; ) {
    const length = sequenceLength(bytes[offset] as number);
    if (!isUtf8(bytes.subarray(offset, offset + length))) return offset;
    offset += length;
  }
  return -1;
}

/** How many bytes a sequence has that begins with this one. */
function sequenceLength(first: number): number {
  if (first < 0xc0) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

function textOf(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!text.includes(CARRIAGE_RETURN)) return text;
  const lines = text.replaceAll("\r\n", "\n");
  return lines.endsWith(CARRIAGE_RETURN) ? lines.slice(0, -1) : lines;
}
