import { Buffer } from "node:buffer";
import { DataFileError } from "../engine/journal.ts";
import { LineReader } from "../engine/journal-codec.ts";
import { assertKnown, assertNotNewer, BEGINNING, type Line } from "../engine/journal-line.ts";
import { damageText, firstDamage, openingIn, scanInSteps } from "../engine/journal-scan.ts";
import { MemoryFile } from "../engine/memory-disk.ts";
import { describeProblem } from "../history/describe-line.ts";
import { CUT_WARNING, endsReport } from "../history/report.ts";
import { History } from "./history.ts";

/** Bytes of a report to read before yielding to the page. */
const SLICE_BYTES = 1 << 20;
/** Typical size of a line. */
const TYPICAL_LINE_BYTES = 160;

/**
 * Parses a report and replays it in slices; calls and awaits `onProgress` after each with the part read, 0 to 1. A damaged
 * report is opened up to the damage. The notice says at which line the history stops, and what follows the valid lines;
 * null if there is nothing to say.
 * @throws DataFileError if it is not a report, its first line is damaged, or a newer version made it.
 */
export async function openReport(
  name: string,
  content: Uint8Array,
  onProgress: (progress: Readonly<{ done: number; commands: number }>) => Promise<void>,
) {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const file = new MemoryFile(bytes);
  const opening = openingIn(file);
  if (opening === null) throw notOpened(name, file, bytes);
  assertKnown(opening, name);
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
  let isEnded = false;
  let read = 0;
  const reading = scanInSteps(file, BEGINNING, (line, { offset }) => {
    isEnded = endsReport(line);
    assertNotNewer(line, name);
    ends.push(offset);
    read = offset;
    if (line.n > 1) history.take(line);
  });
  const progress = () => onProgress({ done: read / bytes.length, commands: history.exchange.sequence });
  let step = reading.next();
  for (let shown = 0; step.done !== true; step = reading.next()) {
    if (read - shown < SLICE_BYTES) continue;
    await progress();
    shown = read;
  }
  await progress();
  const { damage: found } = step.value;
  const damage = found === null ? (isEnded ? null : CUT_WARNING) : damageText(name, name, found);
  const lines = [...problemLines(history, name), ...(damage === null ? [] : [damage])];
  return { history, notice: lines.join("\n") || null };
}

/** Describes the line at which the history stops, with its recorded result and that of this program. */
function problemLines({ problem, exchange }: History, name: string): string[] {
  if (problem === null) return [];
  const { heading, asked, rows } = describeProblem(problem, name, exchange.state);
  const compared = rows.map(([what, recorded, now]) => `${what}: recorded ${recorded}; now ${now}`);
  return [heading, ...asked, ...compared];
}

function notOpened(name: string, file: MemoryFile, bytes: Buffer): DataFileError {
  const damage = firstDamage(file);
  const isReport = bytes.subarray(0, 5).equals(Buffer.from('{"n":'));
  if (bytes.length === 0) return new DataFileError("usage", `${name} is empty`);
  if (!isReport || damage === null) {
    return new DataFileError(
      "usage",
      `${name} is not a report: expected a file written by GET /sim/report, clobsim report or a failed scenario`,
    );
  }
  return new DataFileError("corrupt", damageText(name, name, damage));
}
