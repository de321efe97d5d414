import { Buffer } from "node:buffer";
import { createHash, randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Adapter, Low } from "lowdb";
import { DocumentError } from "../core/document/document-error.ts";
import { documentLines } from "../core/document/document-lines.ts";
import { parseDocument } from "../core/document/parse-document.ts";
import type { State } from "../core/state.ts";
import { type Disk, type DiskFile, writeWhole } from "./disk.ts";
import { draftOf, PREVIOUS_STATE_FILE, STATE_FILE } from "./files.ts";
import { piecesOf } from "./journal-scan.ts";
import { readHeader, type StateHeader } from "./state-header.ts";
import { StoreError } from "./store-error.ts";

/** A state with its place in a history. */
export interface KeptState {
  readonly header: StateHeader;
  readonly state: State;
}

/** How long writing holds up everything else before it lets others have their turn. */
const SLICE_MS = 2;
const PIECE_LENGTH = 1 << 16;
const READ_CHUNK = 1 << 22;
const CHECK = '"sha256":"';
/** `"sha256":"..."` and the brace, each with its line feed. */
const TAIL_LENGTH = CHECK.length + 64 + 4;

/**
 * Lowdb's adapter for a state that must not be lost: the whole file is on the disk and has been read back before it takes
 * its name, and the one before keeps another. Only "there is none" is read as none.
 */
export class DurableAdapter implements Adapter<KeptState | null> {
  readonly #disk: Disk;
  readonly #path: string;

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  /** @throws StoreError `corrupt` when the file is not what was written. */
  async read(): Promise<KeptState | null> {
    return readStateFile(this.#disk, this.#path);
  }

  /** Writes in slices, so that requests are answered meanwhile; the state must not change. */
  async write(kept: KeptState | null): Promise<void> {
    if (kept === null) return;
    const draft = draftOf(this.#path, randomUUID());
    const file = this.#disk.open(draft, "new");
    try {
      const written = await writeSlowly(file, stateLines(kept));
      await demandWritten(file, written);
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
export const stateDatabase = (disk: Disk, folder: string): Low<KeptState | null> =>
  new Low<KeptState | null>(new DurableAdapter(disk, join(folder, STATE_FILE)), null);

/** The lines of a state's file; the last but one names the bytes of all before it. */
function* stateLines({ header, state }: KeptState): Generator<string> {
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

/** Writes pieces of text, giving way to others in between, and answers the SHA-256 of all bytes. */
async function writeSlowly(
  file: DiskFile,
  pieces: Iterable<string>,
): Promise<{ size: number; sha256: string }> {
  const hash = createHash("sha256");
  let size = 0;
  let began = performance.now();
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, "utf8");
    hash.update(bytes);
    writeWhole(file, bytes, size);
    size += bytes.length;
    if (performance.now() - began < SLICE_MS) continue;
    await nextTurn();
    began = performance.now();
  }
  return { size, sha256: hash.digest("hex") };
}

/** Reads back what was written. @throws Error when it is not that. */
async function demandWritten(file: DiskFile, written: { size: number; sha256: string }): Promise<void> {
  const hash = createHash("sha256");
  const chunk = new Uint8Array(READ_CHUNK);
  let position = 0;
  for (let length = file.read(chunk, 0); length > 0; length = file.read(chunk, position)) {
    hash.update(chunk.subarray(0, length));
    position += length;
    await nextTurn();
  }
  if (position === written.size && hash.digest("hex") === written.sha256) return;
  throw Object.assign(new Error("the disk holds something else than was written"), { code: "EIO" });
}

/**
 * The state in a file, which is read once; null when there is no such file.
 * @throws StoreError `corrupt` when it is not as it was written, `newer` when a newer version has written it.
 */
export function readStateFile(disk: Disk, path: string): KeptState | null {
  const file = openIfThere(disk, path);
  if (file === null) return null;
  const seal = new Seal(file);
  try {
    const { state, others } = parseDocument(seal.pieces(), textOf);
    if (!seal.isWhole()) throw broken(path);
    return { header: readHeader(others.get("clobsim"), path), state };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    if (!seal.isWhole()) throw broken(path);
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
class Seal {
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
