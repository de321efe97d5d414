import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { Durability } from "../setting.ts";
import { hex8 } from "./checksum.ts";
import { copyBytes, type Disk, type DiskFile, type Range } from "./disk.ts";
import { JOURNAL_FILE, nextTornFile, stateFileIn } from "./files.ts";
import { LineReader, parseLine } from "./journal-codec.ts";
import { BEGINNING, isControl, type JournalEnd, type Line, type OpeningData } from "./journal-line.ts";
import { StoreError } from "./store-error.ts";

const CHUNK = 1 << 22;
/** A small file need not pay for more. */
const LEAST_CHUNK = 1 << 12;
/** What has more bytes cannot become one text. */
const LONGEST_LINE = 1 << 29;
const LINE_FEED = 10;
const LINE_BEGINNING = Buffer.from('{"n":', "latin1");

/** Where the good lines of a journal end, and what stands beyond. */
export interface ScanEnd extends JournalEnd {
  readonly damage: Damage | null;
}

/** Something that is not the next line. */
export interface Damage {
  readonly offset: number;
  /** The number of the line that should stand there. */
  readonly line: number;
  /** How much of it there is, without the zeros behind it where room is made ahead. */
  readonly bytes: number;
  /** Why it is more than a torn end; null when nothing says so. */
  readonly proof: string | null;
}

/** What is known of the lines before a place. */
export interface Before {
  /** How they were kept. */
  readonly durability: Durability;
  /** Whether the last of them says that the program had stopped in good order. */
  readonly wasClosed: boolean;
}

/** Pieces of a file that end with a line feed, but the last, and of a line that is longer than any text: these need not. */
export function* piecesOf(file: DiskFile, from: number): Generator<Buffer> {
  let rest = Buffer.alloc(0);
  for (let position = from; ; ) {
    if (rest.length > LONGEST_LINE) {
      yield rest;
      rest = Buffer.alloc(0);
    }
    const most = Math.max(LEAST_CHUNK, Math.min(CHUNK, file.size - position));
    const chunk = Buffer.allocUnsafe(rest.length + Math.max(most, rest.length));
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

/** Each line from a place on as it stands there, without the line feed that ends it. */
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

/** The data of the first line; null when there is no whole one. */
export function openingIn(file: DiskFile): OpeningData | null {
  for (const piece of piecesOf(file, 0)) {
    const feed = piece.indexOf(LINE_FEED);
    const line = feed < 0 ? null : parseLine(piece.subarray(0, feed));
    return line !== null && isControl(line, "opening") && follows(line, BEGINNING) ? line.d : null;
  }
  return null;
}

/** What is wrong with the beginning of a file that has no whole first line; null of an empty one. */
export const firstDamage = (file: DiskFile): Damage | null => scan(file, BEGINNING, () => {}).damage;

const RESTORE = Buffer.from(',"k":"restore","d":{', "latin1");

/**
 * The lines to which later ones go back, sought from a place on. Text within a line cannot look like the beginning of
 * one: its quotes are escaped.
 */
export function restoreTargets(file: DiskFile, from: JournalEnd): Set<number> {
  const lines = new Set<number>();
  for (const piece of piecesOf(file, from.offset)) {
    for (let at = piece.indexOf(RESTORE); at >= 0; at = piece.indexOf(RESTORE, at + 1)) {
      const start = piece.lastIndexOf(LINE_FEED, at) + 1;
      const end = piece.indexOf(LINE_FEED, at);
      const line = end < 0 ? null : parseLine(piece.subarray(start, end));
      if (line !== null && isControl(line, "restore")) lines.add(line.d.line);
    }
  }
  return lines;
}

/** Hands on each good line with the place after it, in order, and answers where they end. Nothing is skipped. */
export function scan(
  file: DiskFile,
  from: JournalEnd,
  take: (line: Line, end: JournalEnd) => void,
  before: Before = { durability: "process", wasClosed: false },
): ScanEnd {
  let end = from;
  let { durability, wasClosed } = before;
  for (const piece of piecesOf(file, from.offset)) {
    const reader = new LineReader(piece);
    for (let start = 0; start < piece.length; ) {
      const feed = piece.indexOf(LINE_FEED, start);
      const line = feed < 0 ? null : reader.read(start, feed);
      if (line === null || !follows(line, end)) {
        const isEnd = durability === "power" && isRoom(piecesOf(file, end.offset));
        const fault = line === null ? reader.fault : whyNotNext(line, end);
        return { ...end, damage: isEnd ? null : judge(file, end, { durability, wasClosed }, fault) };
      }
      const next = {
        number: line.n,
        check: line.c,
        offset: end.offset + feed + 1 - start,
      };
      take(line, next);
      if (isControl(line, "start")) durability = line.d.durability;
      wasClosed = line.k === "close";
      end = next;
      start = feed + 1;
    }
  }
  return { ...end, damage: null };
}

const follows = (line: Line, { number, check }: JournalEnd): boolean =>
  line.n === number + 1 && line.p === check;

/** Why a whole line is not the one that follows. */
const whyNotNext = ({ n, p }: Line, { number, check }: JournalEnd): string =>
  n === number + 1
    ? `p: expected "${hex8(check)}" as the line before ends, found "${hex8(p)}"`
    : `n: expected ${number + 1}, found ${n}`;

/**
 * What stands where the next line should; `fault` is what is wrong with a line whose own check is right. It may be the torn end of a crash, which nobody was ever told of; but not when
 * it was written to its end, for of what was not written a crash leaves nothing, or zeros; not when a later line says that
 * this one was on the disk, nor, unless nothing is acknowledged before it is on the disk, when any whole line follows; nor
 * after a clean stop, when it is not the beginning of the next start.
 */
function judge(
  file: DiskFile,
  end: JournalEnd,
  { durability, wasClosed }: Before,
  fault: string | null,
): Damage {
  const line = end.number + 1;
  let [bytes, beforeRoom] = [0, 0];
  let proof = fault;
  let isFirst = true;
  for (const piece of piecesOf(file, end.offset)) {
    if (isFirst) proof ??= proofBefore(piece, end, wasClosed);
    isFirst = false;
    const solid = lengthWithoutZeros(piece);
    if (solid > 0) beforeRoom = bytes + solid;
    bytes += piece.length;
    proof ??= proofIn(piece, line, durability);
  }
  return { offset: end.offset, line, bytes: durability === "power" ? beforeRoom : bytes, proof };
}

/** Why the line that stands first in some bytes cannot be torn, whatever follows. */
function proofBefore(bytes: Buffer, end: JournalEnd, wasClosed: boolean): string | null {
  if (wasClosed && !isTornStart(bytes, end))
    return `line ${end.number} says that the program had stopped in good order`;
  const feed = bytes.indexOf(LINE_FEED);
  const hole = bytes.indexOf(0);
  return feed < 0 || (hole >= 0 && hole < feed) ? null : "it was written to its end, and is another line now";
}

function proofIn(piece: Buffer, damaged: number, durability: Durability): string | null {
  for (let start = 0; start < piece.length; ) {
    const feed = piece.indexOf(LINE_FEED, start);
    if (feed < 0) return null;
    // A crash may leave anything before the beginning of a line.
    const begin = piece.lastIndexOf(LINE_BEGINNING, feed);
    const line = begin < start ? null : parseLine(piece.subarray(begin, feed));
    if (line !== null && line.n > damaged) {
      if (line.s >= damaged)
        return `line ${line.n} is whole, and was written when line ${line.s} was on the disk`;
      if (durability === "process") return `line ${line.n} is whole`;
    }
    start = feed + 1;
  }
  return null;
}

const SECTOR = 512;

/**
 * Whether some bytes are zeros, or what a write of the line that follows a clean stop has left: its beginning, or that
 * of a later sector behind zeros.
 */
function isTornStart(bytes: Buffer, { number, check, offset }: JournalEnd): boolean {
  const expected = `{"n":${number + 1},"p":"${check.toString(16).padStart(8, "0")}","s":`;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  if (zeros !== 0) return zeros < 0 || (offset + zeros) % SECTOR === 0;
  const begun = bytes.indexOf(0);
  const text = bytes.toString("latin1", 0, begun < 0 ? bytes.length : begun);
  return text.length < expected.length ? expected.startsWith(text) : text.startsWith(expected);
}

/** Whether nothing but zeros stands in a file from an offset on. */
function isRoom(pieces: Iterable<Uint8Array>): boolean {
  for (const piece of pieces) if (lengthWithoutZeros(piece) > 0) return false;
  return true;
}

/** How many bytes stand before the zeros at the end of some. */
export function lengthWithoutZeros(bytes: Uint8Array): number {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length -= 1;
  return length;
}

/** What can be done about a damaged journal: that of a folder, or a report. */
export const repairHint = (damaged: string): string =>
  `clobsim repair --accept-loss ${damaged} --out NEW makes a new directory of what is whole`;

/** Where a journal is damaged, what is wrong there, and how to look at it. */
export const describeDamage = (path: string, { offset, line, bytes, proof }: Damage): string =>
  `${path} is damaged at byte ${offset}, where line ${line} should begin: ${proof ?? `${bytes} bytes are no whole line`} (sed -n ${line}p ${path} prints it)`;

/** The same with what can be done about it; `name` is that of the folder or report. */
export function damageText(path: string, name: string, damage: Damage): string {
  const remedy = damage.line === 1 ? `clobsim repair ${name} says what can be saved` : repairHint(name);
  return `${describeDamage(path, damage)}; ${remedy}`;
}

/** What is wrong with the beginning of a folder's journal; a state beside it was made when the journal was whole. */
export function openingDamage(disk: Disk, folder: string, journal: DiskFile): Damage | null {
  const damage = firstDamage(journal);
  const state = stateFileIn(disk, folder);
  if (damage === null || damage.proof !== null || state === null) return damage;
  return { ...damage, proof: `it is not whole, and ${state} was made when it was` };
}

/** The end of a journal that a crash has torn off. */
export interface TornEnd {
  /** Where what was cut off is kept. */
  readonly file: string;
  readonly bytes: number;
}

/** @throws StoreError when what stands at the end of a folder's journal is more than torn. */
export function assertTorn(damage: Damage, folder: string): void {
  if (damage.proof === null) return;
  throw new StoreError("corrupt", damageText(join(folder, JOURNAL_FILE), folder, damage));
}

/** Keeps what a crash has torn in a file of its own, and takes it off the journal. */
export function cutOff(disk: Disk, folder: string, journal: DiskFile, { offset, bytes }: Range): TornEnd {
  const file = nextTornFile(disk, folder);
  copyBytes(disk, journal, { offset, bytes }, file);
  disk.syncFolder(folder);
  journal.truncate(offset);
  journal.sync();
  return { file, bytes };
}
