import { Buffer } from "node:buffer";
import { join } from "node:path";
import { counted, shellPath } from "../core/format.ts";
import { hex8 } from "../core/hash.ts";
import { runSteps, type Steps } from "../core/steps.ts";
import type { Durability } from "../setting.ts";
import { copyBytes, type Disk, type DiskFile, type Range } from "./disk.ts";
import { JOURNAL_FILE, nextTornFile, stateFileIn } from "./files.ts";
import { DataFileError } from "./journal.ts";
import { LineReader, parseLine } from "./journal-codec.ts";
import { BEGINNING, isControl, type JournalEnd, type Line, type OpeningData } from "./journal-line.ts";

const CHUNK = 1 << 22;
/** Smallest chunk, for small files. */
const MIN_CHUNK = 1 << 12;
/** A longer line cannot be converted to a string. */
const MAX_LINE = 1 << 29;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/** A step of `scanInSteps` takes less than a millisecond. */
const STEP_LINES = 256;
const LINE_BEGINNING = Buffer.from('{"n":', "latin1");

/** End of the valid lines of a journal, and what follows them. */
export interface ScanEnd extends JournalEnd {
  readonly damage: Damage | null;
}

/** Bytes that are not the next line. */
export interface Damage {
  readonly offset: number;
  /** Number of the line expected there. */
  readonly line: number;
  /** Length of the bytes, without preallocated zeros at the end. */
  readonly bytes: number;
  /** Why it is damage and not a torn end; null if it may be a torn end. */
  readonly proof: string | null;
}

/** The context of a position, from the lines before it. */
interface Before {
  /** Durability of those lines. */
  readonly durability: Durability;
  /** Whether the last one records a clean stop. */
  readonly wasClosed: boolean;
}

/** Reads a file in pieces that end with a line feed, except the last one and pieces of lines longer than `MAX_LINE`. */
export function* piecesOf(file: DiskFile, from: number): Generator<Buffer> {
  let rest = Buffer.alloc(0);
  for (let position = from; ; ) {
    if (rest.length > MAX_LINE) {
      yield rest;
      rest = Buffer.alloc(0);
    }
    const size = Math.max(MIN_CHUNK, Math.min(CHUNK, file.size - position));
    const chunk = Buffer.allocUnsafe(rest.length + Math.max(size, rest.length));
    rest.copy(chunk);
    const length = file.read(chunk.subarray(rest.length), position);
    position += length;
    const bytes = chunk.subarray(0, rest.length + length);
    if (length === 0) {
      if (bytes.length > 0) yield bytes;
      return;
    }
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    rest = bytes.subarray(end);
    if (end > 0) yield bytes.subarray(0, end);
  }
}

/** Reads each line from `from` on as bytes, without its line feed. */
export function* rawLines(file: DiskFile, from: number): Generator<Buffer> {
  for (const piece of piecesOf(file, from)) {
    for (let start = 0; start < piece.length; ) {
      const feed = piece.indexOf(LINE_FEED, start);
      const end = feed < 0 ? piece.length : feed;
      yield piece.subarray(start, end);
      start = end + 1;
    }
  }
}

/** Returns each line that ends with a line feed and contains `part`, without its line feed. Looks at every byte once. */
function* linesWith(part: Buffer, pieces: Iterable<Buffer>): Generator<Buffer> {
  for (const piece of pieces) {
    for (let at = piece.indexOf(part); at >= 0; ) {
      const end = piece.indexOf(LINE_FEED, at);
      if (end < 0) break;
      yield piece.subarray(piece.lastIndexOf(LINE_FEED, at) + 1, end);
      at = piece.indexOf(part, end);
    }
  }
}

/** Reads the first record; null if there is no complete one. */
export function openingIn(file: DiskFile): OpeningData | null {
  for (const piece of piecesOf(file, 0)) {
    const feed = piece.indexOf(LINE_FEED);
    const line = feed < 0 ? null : parseLine(piece.subarray(0, feed));
    return line !== null && isControl(line, "opening") && follows(line, BEGINNING) ? line.d : null;
  }
  return null;
}

/** Returns the damage of a file without a complete first line; null for an empty one. */
export const firstDamage = (file: DiskFile): Damage | null => scan(file, BEGINNING, () => {}).damage;

const RESTORE = Buffer.from(',"k":"restore","d":{', "latin1");

/**
 * Finds the lines that later `restore` lines refer to, from a position on. Text inside a line cannot match, because its
 * quotes are escaped.
 */
export function restoreTargets(file: DiskFile, from: JournalEnd): Set<number> {
  const lines = new Set<number>();
  for (const bytes of linesWith(RESTORE, piecesOf(file, from.offset))) {
    const line = parseLine(bytes);
    if (line !== null && isControl(line, "restore")) lines.add(line.d.line);
  }
  return lines;
}

/** Whether a file has an undamaged line anywhere. */
export function hasLine(file: DiskFile): boolean {
  for (const bytes of linesWith(LINE_BEGINNING, piecesOf(file, 0)))
    if (parseLine(bytes) !== null) return true;
  return false;
}

/**
 * Calls `take` with each valid line and the position after it, in order, up to the first invalid one. Reads the file
 * again after judging that one: another process may have written it between two reads.
 */
export const scan = (...given: Parameters<typeof scanInSteps>): ScanEnd => runSteps(scanInSteps(...given));

/** Does the same in steps of some lines each. */
export function* scanInSteps(
  file: DiskFile,
  from: JournalEnd,
  take: (line: Line, end: JournalEnd) => void,
  before: Before = { durability: "process", wasClosed: false },
): Steps<ScanEnd> {
  let end = from;
  let { durability, wasClosed } = before;
  let damage: Damage | null = null;
  for (;;) {
    const invalid = yield* scanOnce(file, end, (line, next) => {
      take(line, next);
      if (isControl(line, "start")) durability = line.d.durability;
      wasClosed = line.k === "close";
      end = next;
    });
    if (invalid === null || (durability === "power" && areZeros(piecesOf(file, end.offset))))
      return { ...end, damage: null };
    if (damage?.offset === end.offset) return { ...end, damage };
    damage = judge(file, end, { durability, wasClosed }, invalid.problem);
  }
}

/** Takes the valid lines of one reading. Returns the error in the content of the first invalid one; null at the end. */
function* scanOnce(file: DiskFile, from: JournalEnd, take: (line: Line, end: JournalEnd) => void) {
  let end = from;
  for (const piece of piecesOf(file, from.offset)) {
    const reader = new LineReader(piece);
    for (let start = 0; start < piece.length; ) {
      const feed = piece.indexOf(LINE_FEED, start);
      const line = feed < 0 ? null : reader.read(start, feed);
      if (line === null) return { problem: reader.problem };
      if (!follows(line, end)) return { problem: whyNotNext(line, end) };
      end = { number: line.n, check: line.c, offset: end.offset + feed + 1 - start };
      take(line, end);
      start = feed + 1;
      if (end.number % STEP_LINES === 0) yield;
    }
  }
  return null;
}

const follows = (line: Line, { number, check }: JournalEnd): boolean =>
  line.n === number + 1 && line.p === check;

/** Why a valid line is not the next one. */
const whyNotNext = ({ n, p }: Line, { number, check }: JournalEnd): string =>
  n === number + 1
    ? `p: expected "${hex8(check)}" as the line before ends, found "${hex8(p)}"`
    : `n: expected ${number + 1}, found ${n}`;

/**
 * Describes the bytes that are not the next line; `problem` is an error in the content of a line with a correct check. They may be
 * the torn end after a crash, which was never acknowledged. They are damage if the line is complete, because a crash
 * truncates a line or leaves zeros; if a later line records that this one was durable; if any valid line follows,
 * unless answers wait for the sync; and after a clean stop, unless they are the beginning of the next start.
 */
function judge(file: DiskFile, end: JournalEnd, { durability, wasClosed }: Before, problem: string | null) {
  const line = end.number + 1;
  let [bytes, beforeZeros] = [0, 0];
  let proof = problem;
  let isFirst = true;
  for (const piece of piecesOf(file, end.offset)) {
    if (isFirst) proof ??= proofBefore(piece, end, wasClosed);
    isFirst = false;
    const solid = lengthWithoutZeros(piece);
    if (solid > 0) beforeZeros = bytes + solid;
    bytes += piece.length;
    proof ??= proofIn(piece, line, durability);
  }
  return { offset: end.offset, line, bytes: durability === "power" ? beforeZeros : bytes, proof };
}

/** Why the first line of some bytes is not torn, whatever follows. */
function proofBefore(bytes: Buffer, end: JournalEnd, wasClosed: boolean): string | null {
  if (wasClosed && !isTornStart(bytes, end))
    return `line ${end.number} says that the program stopped cleanly`;
  const feed = bytes.indexOf(LINE_FEED);
  const hole = bytes.indexOf(0);
  if (feed < 0 || (hole >= 0 && hole < feed)) return null;
  return bytes[feed - 1] === CARRIAGE_RETURN
    ? "it ends with CR LF, to which something converted the line feeds"
    : "it was written completely, and has been changed since";
}

function proofIn(piece: Buffer, damaged: number, durability: Durability): string | null {
  for (const bytes of linesWith(LINE_BEGINNING, [piece])) {
    // A crash may leave anything before the start of a line.
    const line = parseLine(bytes.subarray(bytes.lastIndexOf(LINE_BEGINNING)));
    if (line !== null && line.n > damaged) {
      if (line.s >= damaged)
        return `line ${line.n} is complete, and was written when line ${line.s} was durable`;
      if (durability === "process") return `line ${line.n} is complete`;
    }
  }
  return null;
}

const SECTOR = 512;

/**
 * Whether some bytes are zeros, or part of the line after a clean stop: its beginning, or the beginning of a later
 * sector after zeros.
 */
function isTornStart(bytes: Buffer, { number, check, offset }: JournalEnd): boolean {
  const expected = `{"n":${number + 1},"p":"${hex8(check)}","s":`;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  if (zeros !== 0) return zeros < 0 || (offset + zeros) % SECTOR === 0;
  const begun = bytes.indexOf(0);
  const text = bytes.toString("latin1", 0, begun < 0 ? bytes.length : begun);
  return text.length < expected.length ? expected.startsWith(text) : text.startsWith(expected);
}

function areZeros(pieces: Iterable<Uint8Array>): boolean {
  for (const piece of pieces) if (lengthWithoutZeros(piece) > 0) return false;
  return true;
}

/** Length of some bytes without the zeros at their end. */
export function lengthWithoutZeros(bytes: Uint8Array): number {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length -= 1;
  return length;
}

/** The command that repairs a damaged data directory or report. */
export const repairHint = (damaged: string): string =>
  `clobsim repair --accept-loss ${shellPath(damaged)} --out NEW copies the undamaged part to a new directory`;

/** Describes damage: position, cause, and how to look at it. */
export const describeDamage = (path: string, { offset, line, bytes, proof }: Damage): string =>
  `${path} is damaged at byte ${offset}, where line ${line} should begin: ${proof ?? `${counted(bytes, "byte")} without a complete line`} (sed -n ${line}p ${shellPath(path)} prints it)`;

/** Describes damage and the remedy; `name` is the directory or report. */
export function damageText(path: string, name: string, damage: Damage): string {
  const remedy =
    damage.line === 1 ? `clobsim repair ${shellPath(name)} says what can be saved` : repairHint(name);
  return `${describeDamage(path, damage)}; ${remedy}`;
}

/** Returns the damage of a journal without a first line. A state file beside it proves that it was complete once. */
export function openingDamage(disk: Disk, folder: string, journal: DiskFile): Damage | null {
  const damage = firstDamage(journal);
  const state = stateFileIn(disk, folder);
  if (damage === null || damage.proof !== null || state === null) return damage;
  return { ...damage, proof: `it is incomplete, but was complete when ${state} was written` };
}

/** @throws DataFileError if the end of a directory's journal is damaged, not torn */
export function assertTorn(damage: Damage, folder: string): void {
  if (damage.proof === null) return;
  throw new DataFileError("corrupt", damageText(join(folder, JOURNAL_FILE), folder, damage));
}

/** Moves the torn end of a journal after a crash to a separate file. Returns a warning that says so. */
export function cutOff(disk: Disk, folder: string, journal: DiskFile, { offset, bytes }: Range): string {
  const file = nextTornFile(disk, folder);
  copyBytes(disk, journal, { offset, bytes }, file);
  disk.syncFolder(folder);
  journal.truncate(offset);
  journal.sync();
  return `a crash tore the end of the journal: ${counted(bytes, "byte")} moved to ${file}`;
}
