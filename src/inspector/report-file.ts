import { Buffer } from "node:buffer";
import { StoreError } from "../engine/journal.ts";
import { LineReader } from "../engine/journal-codec.ts";
import {
  assertKnown,
  assertNotNewer,
  BEGINNING,
  type JournalEnd,
  type Line,
} from "../engine/journal-line.ts";
import { damageText, openingIn, scan } from "../engine/journal-scan.ts";
import { CUT_WARNING, endsReport, memoryFile } from "../history/report.ts";
import { History } from "./history.ts";

/** Bytes of a report to read before yielding to the page. */
const SLICE_BYTES = 1 << 20;
/** Typical size of a line. */
const TYPICAL_LINE_BYTES = 160;
const LINE_FEED = 10;

/** Opened report; `damage` describes what follows the valid lines, null if the file is complete. */
export type OpenedReport = Awaited<ReturnType<typeof openReport>>;

/**
 * Parses a report and replays it in slices; calls and awaits `onProgress` after each with the part read, 0 to 1. A damaged report is opened up to the
 * damage. `engine` is the version of this program.
 * @throws StoreError if it is not a report, its first line is damaged, or a newer version made it.
 */
export async function openReport(
  name: string,
  content: Uint8Array,
  engine: string,
  onProgress: (progress: Readonly<{ done: number; commands: number }>) => Promise<void>,
) {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const whole = memoryFile(bytes);
  const opening = openingIn(whole);
  if (opening === null) throw notOpened(name, bytes);
  assertKnown(opening, name, engine);
  const reader = new LineReader(bytes);
  /** Offsets of the ends of the opening and of each row. */
  const ends: number[] = [];
  const lineAt = (row: number): Line => {
    const [start, end] = [ends[row], ends[row + 1]];
    const line = start === undefined || end === undefined ? null : reader.read(start, end - 1);
    if (line === null) throw new Error(`line ${row + 2} of the report cannot be read`);
    return line;
  };
  const history = new History(opening, name, lineAt, bytes.length / TYPICAL_LINE_BYTES);
  let end: JournalEnd = BEGINNING;
  let damage: string | null = null;
  let isEnded = false;
  const take = (line: Line, next: JournalEnd): void => {
    isEnded = endsReport(line);
    assertNotNewer(line, name, engine);
    ends.push(next.offset);
    if (line.n > 1) history.take(line);
  };
  while (end.offset < bytes.length && damage === null) {
    const cut = bytes.indexOf(LINE_FEED, end.offset + SLICE_BYTES) + 1;
    const isLast = cut === 0;
    const slice = isLast ? whole : memoryFile(bytes.subarray(0, cut));
    let scanned = scan(slice, end, take);
    // How an unreadable line is classified depends on the rest of the file.
    if (scanned.damage !== null && !isLast) scanned = scan(whole, scanned, take);
    if (scanned.damage !== null) damage = damageText(name, name, scanned.damage);
    else if (isLast && !isEnded) damage = CUT_WARNING;
    end = scanned;
    await onProgress({ done: end.offset / bytes.length, commands: history.exchange.sequence });
    if (isLast) break;
  }
  return { history, damage };
}

function notOpened(name: string, bytes: Buffer): StoreError {
  const { damage } = scan(memoryFile(bytes), BEGINNING, () => {});
  const isReport = bytes.subarray(0, 5).equals(Buffer.from('{"n":'));
  if (bytes.length === 0) return new StoreError("usage", `${name} is empty`);
  if (!isReport || damage === null) {
    return new StoreError(
      "usage",
      `${name} is not a report: expected a file written by GET /sim/report, clobsim report or a failed scenario`,
    );
  }
  return new StoreError("corrupt", damageText(name, name, damage));
}
