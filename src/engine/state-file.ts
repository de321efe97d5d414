import { Buffer } from "node:buffer";
import { createHash, randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Adapter, Low } from "lowdb";
import { parseDocument } from "../core/rebuild-state.ts";
import {
  address,
  DocumentError,
  type Infer,
  id,
  integer,
  list,
  moment,
  orNull,
  record,
  text,
  textLike,
  within,
} from "../core/schema.ts";
import type { State } from "../core/state.ts";
import { documentLines } from "../core/state-document.ts";
import { type Disk, type DiskFile, writeFully } from "./disk.ts";
import type { Snapshot } from "./exchange.ts";
import { draftOf, PREVIOUS_STATE_FILE, STATE_FILE } from "./files.ts";
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
import { StoreError } from "./store-error.ts";

export const STATE_FORMAT = "clobsim-state/1";
const FORMAT_NAME = STATE_FORMAT.slice(0, STATE_FORMAT.indexOf("/") + 1);

/** What of a header counts where a state begins a history of its own. */
const BEGINNING_FIELDS = { now: moment(), sequence: integer(), devAccounts: list(address()) } as const;
const Beginning = record(BEGINNING_FIELDS, { isOpen: true });

/** Where in a history a state stands. */
const StateHeader = record(
  {
    format: text(),
    engine: engineVersion,
    /** The last line of the journal that is in it, its check, and the size of the journal up to there. */
    line: id(),
    check: textLike(/^[0-9a-f]{8}$/, "8 hex digits"),
    offset: id(),
    /** The digest of what led there, as `HistoryDigest.text`; null where an earlier version has written it. */
    digest: orNull(textLike(/^[0-9a-f]{32}$/, "32 hex digits")),
    ...BEGINNING_FIELDS,
    clock: record(
      { setting: record(CLOCK_SETTING, { isOpen: true }), virtual: moment(), wall: wallTime },
      { isOpen: true },
    ),
    /** How the lines before were kept. */
    durability,
    /** How many refused requests they note; earlier versions noted none. */
    refused: integer(),
  },
  { isOpen: true },
);
export type StateHeader = Infer<typeof StateHeader>;

/** @throws DocumentError where it is no header of a state that can begin a history. */
export const readBeginning = (header: unknown) => within("clobsim", () => Beginning.parse(header));

/** The header of the state in a file. @throws StoreError `newer`, `corrupt`; DocumentError */
export function readHeader(header: unknown, path: string): StateHeader {
  const format = (header as Partial<StateHeader> | null | undefined)?.format;
  if (format === STATE_FORMAT) {
    const fields = { digest: null, refused: 0, ...(header as object) };
    return within("clobsim", () => StateHeader.parse(fields));
  }
  if (typeof format !== "string" || !format.startsWith(FORMAT_NAME))
    throw new StoreError("corrupt", `${path} has no header that says where its state stands`);
  throw new StoreError(
    "newer",
    `${path} was written by a newer version: its format is ${format}, this one reads ${STATE_FORMAT}`,
  );
}

/** A state with its place in a history. */
export interface Checkpoint {
  readonly header: StateHeader;
  readonly state: State;
}

/** How long writing holds up everything else before it lets others have their turn. */
const SLICE_MS = 2;
const PIECE_LENGTH = 1 << 16;
const CHECK = '"sha256":"';
/** `"sha256":"..."` and the brace, each with its line feed. */
const TAIL_LENGTH = CHECK.length + 64 + 4;

/**
 * Lowdb's adapter for a state that must not be lost: the whole file is on the disk and has been read back before it takes
 * its name, and the one before keeps another. Only "there is none" is read as none.
 */
export class DurableAdapter implements Adapter<Checkpoint | null> {
  readonly #disk: Disk;
  readonly #path: string;

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  /** @throws StoreError `corrupt` when the file is not what was written. */
  async read(): Promise<Checkpoint | null> {
    return readStateFile(this.#disk, this.#path);
  }

  /** Writes in slices, so that requests are answered meanwhile; the state must not change. */
  async write(kept: Checkpoint | null): Promise<void> {
    if (kept === null) return;
    const draft = draftOf(this.#path, randomUUID());
    const file = this.#disk.open(draft, "new");
    try {
      const size = await writeSlowly(file, stateLines(kept));
      await assertWritten(file, size);
      file.sync();
    } catch (error) {
      file.close();
      this.#disk.remove(draft);
      throw error;
    }
    file.close();
    this.#install(draft);
  }

  #install(draft: string): void {
    const folder = dirname(this.#path);
    if (this.#disk.names(folder)?.includes(STATE_FILE)) {
      this.#disk.rename(this.#path, join(folder, PREVIOUS_STATE_FILE));
    }
    this.#disk.rename(draft, this.#path);
    this.#disk.syncFolder(folder);
  }
}

/** The lowdb database of a folder's latest state. */
export const stateDatabase = (disk: Disk, folder: string): Low<Checkpoint | null> =>
  new Low<Checkpoint | null>(new DurableAdapter(disk, join(folder, STATE_FILE)), null);

/** The lines of a state's file; the last but one names the bytes of all before it. */
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

/** Writes pieces of text, giving way to others in between, and answers how many bytes they are. */
async function writeSlowly(file: DiskFile, pieces: Iterable<string>): Promise<number> {
  let size = 0;
  let began = performance.now();
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, "utf8");
    writeFully(file, bytes, size);
    size += bytes.length;
    if (performance.now() - began < SLICE_MS) continue;
    await nextTurn();
    began = performance.now();
  }
  return size;
}

/** Reads back what was written. @throws Error when it is not that. */
async function assertWritten(file: DiskFile, size: number): Promise<void> {
  const checksum = new Checksum(file);
  for (const _piece of checksum.pieces()) await nextTurn();
  if (file.size === size && checksum.isWhole()) return;
  throw Object.assign(new Error("the disk holds something else than was written"), { code: "EIO" });
}

/**
 * The state in a file, which is read once; null when there is no such file.
 * @throws StoreError `corrupt` when it is not as it was written, `newer` when a newer version has written it.
 */
export function readStateFile(disk: Disk, path: string): Checkpoint | null {
  const file = openIfThere(disk, path);
  if (file === null) return null;
  const checksum = new Checksum(file);
  try {
    const { state, others } = parseDocument(checksum.pieces(), textOf);
    if (!checksum.isWhole()) throw broken(path);
    return { header: readHeader(others.get("clobsim"), path), state };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    if (!checksum.isWhole()) throw broken(path);
    throw new StoreError("corrupt", `${path}: ${error.message}`, { cause: error });
  } finally {
    file.close();
  }
}

function openIfThere(disk: Disk, path: string): DiskFile | null {
  try {
    return disk.open(path, "read");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Whether the bytes of a file are those that its end names, found out while they are read for something else. */
class Checksum {
  readonly #hash = createHash("sha256");
  #digest: string | null = null;
  readonly #pieces: Generator<Buffer>;
  /** How many bytes are still to come before those that name them. */
  #left: number;
  #end = "";

  constructor(file: DiskFile) {
    this.#pieces = piecesOf(file, 0);
    this.#left = Math.max(0, file.size - TAIL_LENGTH);
  }

  *pieces(): Generator<Buffer> {
    for (let next = this.#pieces.next(); !next.done; next = this.#pieces.next()) {
      const piece = next.value;
      this.#hash.update(piece.subarray(0, this.#left));
      this.#end += piece.toString("latin1", this.#left);
      this.#left = Math.max(0, this.#left - piece.length);
      yield piece;
    }
  }

  /** Reads what has not been read. */
  isWhole(): boolean {
    for (const _piece of this.pieces());
    this.#digest ??= this.#hash.digest("hex");
    return this.#end === `${CHECK}${this.#digest}"\n}\n`;
  }
}

const broken = (path: string): StoreError =>
  new StoreError("corrupt", `${path} is not as it was written: its end does not name its content`);

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("utf8");

/** A state as an exchange goes on from it. */
export function snapshotOf({ header: { now, sequence, digest }, state }: Checkpoint): Snapshot {
  if (digest === null) throw new Error("a state that does not tell its history cannot be gone on from");
  return { state, now, sequence, digest, mark: null };
}

/** Where in a journal a state stands. */
export const journalEndOf = ({ header: { line, check, offset } }: Checkpoint): JournalEnd => ({
  number: line,
  check: Number.parseInt(check, 16),
  offset,
});

/**
 * The first of some states, newest first, from which all that comes after it in a journal can be told: nothing goes back
 * to what was before, and it tells the digest of its history, which earlier versions did not write. Null when there is none, and all begins at the opening. One that is damaged is told of.
 * @throws StoreError when a state is of another journal, or the journal has lost what the state has seen of it.
 */
export function findCheckpoint(
  readers: readonly (() => Checkpoint | null)[],
  journal: DiskFile,
  path: string,
  damaged: (message: string) => void,
): Checkpoint | null {
  for (const read of readers) {
    let kept: Checkpoint | null = null;
    try {
      kept = read();
    } catch (error) {
      if (!(error instanceof StoreError) || error.problem !== "corrupt") throw error;
      damaged(error.message);
    }
    if (kept !== null && leadsOn(kept.header, journal, path)) return kept;
  }
  return null;
}

function leadsOn({ line, check, offset, digest }: StateHeader, journal: DiskFile, path: string): boolean {
  const end = Buffer.from(`,"c":"${check}"}\n`, "latin1");
  const found = Buffer.alloc(end.length);
  if (offset > journal.size) {
    throw new StoreError(
      "corrupt",
      `${path} ends at byte ${journal.size}, and its line ${line} was on the disk up to byte ${offset}: ${repairHint(dirname(path))}`,
    );
  }
  journal.read(found, Math.max(0, offset - end.length));
  if (!found.equals(end)) {
    throw new StoreError(
      "corrupt",
      `${path} has another line ${line}, up to byte ${offset}, than the state that was made after it: ${repairHint(dirname(path))}`,
    );
  }
  if (digest === null) return false;
  for (const earlier of restoreTargets(journal, { number: line, check: 0, offset })) {
    if (earlier < line) return false;
  }
  return true;
}

/** No line that says how a program has stopped is longer. */
const LONGEST_CLOSE = 1024;
const LINE_FEED = 10;

/** Whether the line that ends at a place says that the program had stopped in good order. */
export function isClosedAt(journal: DiskFile, offset: number): boolean {
  const start = Math.max(0, offset - LONGEST_CLOSE);
  const bytes = Buffer.alloc(Math.max(0, offset - start - 1));
  journal.read(bytes, start);
  const line = parseLine(bytes.subarray(bytes.lastIndexOf(LINE_FEED) + 1));
  return line !== null && isControl(line, "close");
}
