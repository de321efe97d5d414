import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { scheduler } from "node:timers/promises";
import { Low } from "lowdb";
import { DocumentError, within } from "../core/document-error.ts";
import { shellOption } from "../core/format.ts";
import { parseDocument } from "../core/rebuild-state.ts";
import {
  address,
  type Infer,
  id,
  integer,
  list,
  moment,
  openRecord,
  orNull,
  text,
  textLike,
} from "../core/schema.ts";
import type { State } from "../core/state.ts";
import { documentLines } from "../core/state-document.ts";
import { runSteps } from "../core/steps.ts";
import { ifThere } from "../regular-file.ts";
import { type Disk, type DiskFile, writeFully } from "./disk.ts";
import type { Snapshot } from "./exchange.ts";
import { JOURNAL_FILE, PREVIOUS_STATE_FILE, STATE_FILE, stateDraftOf } from "./files.ts";
import { DataFileError } from "./journal.ts";
import { parseLine } from "./journal-codec.ts";
import {
  CLOCK_SETTING,
  durability,
  engineVersion,
  isControl,
  type JournalEnd,
  wallTime,
} from "./journal-line.ts";
import { piecesOf, repairHint, restoreTargets } from "./journal-scan.ts";

export const STATE_FORMAT = "clobsim-state/1";
const FORMAT_NAME = STATE_FORMAT.slice(0, STATE_FORMAT.indexOf("/") + 1);

/** The header fields that are used when a state begins a new history. */
const BEGINNING_FIELDS = { now: moment(), sequence: integer(), devAccounts: list(address()) } as const;
const Beginning = openRecord(BEGINNING_FIELDS);

/** Position of a state in a history. */
const StateHeader = openRecord({
  format: text(),
  engine: engineVersion,
  /** The last journal line that the state includes, its check, and its end in the journal. */
  line: id(),
  check: textLike(/^[0-9a-f]{8}$/, "8 hex digits"),
  offset: id(),
  /** Digest of the history, as `HistoryDigest.text`; null in files of earlier versions. */
  digest: orNull(textLike(/^[0-9a-f]{32}$/, "32 hex digits")),
  ...BEGINNING_FIELDS,
  clock: openRecord({ setting: openRecord(CLOCK_SETTING), virtual: moment(), wall: wallTime }),
  /** Durability of the lines before. */
  durability,
  /** Number of refused requests in those lines; absent in files of earlier versions. */
  refused: integer(),
});
export type StateHeader = Infer<typeof StateHeader>;

/** @throws DocumentError if it is not the header of a state that can begin a history */
export const readBeginning = (header: unknown) => within("clobsim", () => Beginning.parse(header));

/** Parses the header of a state file. @throws DataFileError `newer`, `corrupt`; DocumentError */
function readHeader(header: unknown, path: string): StateHeader {
  const format = (header as Partial<StateHeader> | null | undefined)?.format;
  if (format === STATE_FORMAT) {
    const fields = { digest: null, refused: 0, ...(header as object) };
    return within("clobsim", () => StateHeader.parse(fields));
  }
  if (typeof format !== "string" || !format.startsWith(FORMAT_NAME))
    throw new DataFileError("corrupt", `${path} has no header with the position of its state`);
  const what = `its format is ${format}, this one reads ${STATE_FORMAT}`;
  throw new DataFileError("newer", `${path} was written by a newer version: ${what}`);
}

/** A state with its position in a history. */
export interface Checkpoint {
  readonly header: StateHeader;
  readonly state: State;
}

/** Longest time for which writing holds the event loop. */
const SLICE_MS = 2;
const PIECE_LENGTH = 1 << 16;
const CHECK = '"sha256":"';
/** `"sha256":"..."` and the brace, each with its line feed. */
const TAIL_LENGTH = CHECK.length + 64 + 4;

/** Writes the latest state of a directory by lowdb. The state must not change meanwhile. */
export function writeState(disk: Disk, folder: string, checkpoint: Checkpoint): Promise<void> {
  const path = join(folder, STATE_FILE);
  const read = async (): Promise<Checkpoint | null> => readStateFile(disk, path);
  return new Low({ read, write: (data) => writeDurably(disk, path, data) }, checkpoint).write();
}

/**
 * Writes a state durably: the whole file is synced and read back before it is renamed to its name, and the previous file
 * is retained under another. Writes in slices, so that requests are answered meanwhile.
 */
async function writeDurably(disk: Disk, path: string, checkpoint: Checkpoint): Promise<void> {
  const folder = dirname(path);
  const draft = stateDraftOf(path);
  const file = disk.open(draft, "new");
  try {
    try {
      const size = await writeSlowly(file, stateLines(checkpoint));
      await assertWritten(file, size);
      file.sync();
    } finally {
      file.close();
    }
    if (disk.names(folder)?.includes(STATE_FILE)) disk.rename(path, join(folder, PREVIOUS_STATE_FILE));
    disk.rename(draft, path);
  } catch (error) {
    disk.remove(draft);
    throw error;
  }
  disk.syncFolder(folder);
}

/** Generates the lines of a state file; the last but one is the checksum of all before it. */
function* stateLines({ header, state }: Checkpoint): Generator<string> {
  const hash = createHash("sha256");
  const piece = (lines: string): string => {
    hash.update(lines);
    return lines;
  };
  let waiting = `{\n"clobsim":${JSON.stringify(header)},\n`;
  for (const line of documentLines(state)) {
    if (waiting.length >= PIECE_LENGTH) {
      yield piece(waiting);
      waiting = "";
    }
    waiting += `${line}\n`;
  }
  yield piece(`${waiting.slice(0, -1)},\n`);
  yield `${CHECK}${hash.digest("hex")}"\n}\n`;
}

/** Writes pieces of text, yields to the event loop in between, and returns the number of bytes. */
async function writeSlowly(file: DiskFile, pieces: Iterable<string>): Promise<number> {
  let size = 0;
  let began = performance.now();
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, "utf8");
    writeFully(file, bytes, size);
    size += bytes.length;
    if (performance.now() - began < SLICE_MS) continue;
    await scheduler.yield();
    began = performance.now();
  }
  return size;
}

/** Reads the file back. @throws Error if it is not what was written */
async function assertWritten(file: DiskFile, size: number): Promise<void> {
  const pieces = checkedPieces(file);
  let next = pieces.next();
  for (; next.done !== true; next = pieces.next()) await scheduler.yield();
  if (file.size === size && next.value) return;
  throw Object.assign(new Error("the disk returns other data than was written"), { code: "EIO" });
}

/**
 * Reads a state file in one pass; null if there is no such file.
 * @throws DataFileError `corrupt` if it is not as it was written, `newer` if a newer version wrote it
 */
export function readStateFile(disk: Disk, path: string): Checkpoint | null {
  const file = ifThere(() => disk.open(path, "read"));
  if (file === null) return null;
  let isIntact = false;
  const pieces = function* () {
    isIntact = yield* checkedPieces(file);
  };
  try {
    const { state, others } = parseDocument(pieces(), textOf);
    if (!isIntact) {
      const advice = `clobsim serve ${shellOption("world", path)} --data NEW opens it as it is`;
      const what = `its SHA-256 does not match its content (${advice})`;
      throw new DataFileError("corrupt", `${path} was changed: ${what}`);
    }
    return { header: readHeader(others.get("clobsim"), path), state };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const how = runSteps(checkedPieces(file)) ? "" : " was changed or cut";
    const what = file.size === 0 ? " is empty" : `${how}: ${error.message}`;
    throw new DataFileError("corrupt", path + what, { cause: error });
  } finally {
    file.close();
  }
}

/** Yields the pieces of a file. Returns whether the checksum at its end is that of all bytes before. */
function* checkedPieces(file: DiskFile): Generator<Buffer, boolean> {
  const hash = createHash("sha256");
  /** Number of bytes left before the checksum. */
  let left = Math.max(0, file.size - TAIL_LENGTH);
  let end = "";
  for (const piece of piecesOf(file, 0)) {
    hash.update(piece.subarray(0, left));
    end += piece.toString("latin1", left);
    left = Math.max(0, left - piece.length);
    yield piece;
  }
  return end === `${CHECK}${hash.digest("hex")}"\n}\n`;
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("utf8");

/** Returns a snapshot from which an exchange continues. */
export function snapshotOf({ header: { now, sequence, digest }, state }: Checkpoint): Snapshot {
  if (digest === null) throw new Error("a state without a digest of its history cannot be continued");
  return { state, now, sequence, digest, mark: null };
}

/** Position of a state in the journal. */
export const journalEndOf = ({ header: { line, check, offset } }: Checkpoint): JournalEnd => ({
  number: line,
  check: Number.parseInt(check, 16),
  offset,
});

/**
 * Returns the first usable state of a data directory, newest first, else null: it has a digest, unlike those of earlier
 * versions, and the journal after it restores nothing older. Calls `damaged` for a damaged one.
 * @throws DataFileError if a state belongs to another journal, or the journal has lost lines that the state includes
 */
export function findCheckpoint(
  disk: Disk,
  folder: string,
  journal: DiskFile,
  damaged: (message: string) => void,
): Checkpoint | null {
  for (const path of [STATE_FILE, PREVIOUS_STATE_FILE].map((name) => join(folder, name))) {
    let checkpoint: Checkpoint | null = null;
    try {
      checkpoint = readStateFile(disk, path);
    } catch (error) {
      if (!(error instanceof DataFileError) || error.problem !== "corrupt") throw error;
      damaged(`${error.message}; it is ignored, and the state comes from the journal`);
    }
    if (checkpoint !== null && isUsable(checkpoint.header, journal, join(folder, JOURNAL_FILE)))
      return checkpoint;
  }
  return null;
}

function isUsable({ line, check, offset, digest }: StateHeader, journal: DiskFile, path: string): boolean {
  const end = Buffer.from(`,"c":"${check}"}\n`, "latin1");
  const found = Buffer.alloc(end.length);
  const corrupt = (what: string) =>
    new DataFileError("corrupt", `${path} ${what}: ${repairHint(dirname(path))}`);
  if (offset > journal.size) {
    throw corrupt(`ends at byte ${journal.size}, but its line ${line} was durable up to byte ${offset}`);
  }
  journal.read(found, Math.max(0, offset - end.length));
  if (!found.equals(end))
    throw corrupt(`has another line ${line}, up to byte ${offset}, than the state written after it`);
  if (digest === null) return false;
  const targets = [...restoreTargets(journal, { number: line, check: 0, offset })];
  return targets.every((target) => target >= line);
}

/** Longest `close` line. */
const MAX_CLOSE = 1024;
const LINE_FEED = 10;

/** Whether the line that ends at an offset records a clean stop. */
export function isClosedAt(journal: DiskFile, offset: number): boolean {
  const start = Math.max(0, offset - MAX_CLOSE);
  const bytes = Buffer.alloc(Math.max(0, offset - start - 1));
  journal.read(bytes, start);
  const line = parseLine(bytes.subarray(bytes.lastIndexOf(LINE_FEED) + 1));
  return line !== null && isControl(line, "close");
}
