import * as fs from "node:fs";
import { promisify } from "node:util";
import { makeFolder } from "../make-folder.ts";
import { FILE_LIMITS, ifThere, openRegular } from "../regular-file.ts";

/** An open file. Every method throws the system's error. */
export interface DiskFile {
  readonly size: number;
  /** Reads from a position and returns the number of bytes; 0 at the end. */
  read(into: Uint8Array, position: number): number;
  /** Writes at a position and returns the number of bytes; fewer than given if the disk is full. */
  write(bytes: Uint8Array, position: number): number;
  truncate(size: number): void;
  /** Waits until the written data is durable. */
  sync(): void;
  /** Resolves when the written data is durable. */
  syncAsync(): Promise<void>;
  close(): void;
}

/** `read`: the file must exist. `write`: it is created if missing. `new`: it must not exist. */
export type OpenMode = "read" | "write" | "new";

/** File system operations of the engine; tests of crashes replace them. */
export interface Disk {
  /** Creates a directory and its parents, if missing, for its owner only. */
  makeFolder(path: string): void;
  /** Names of the entries of a directory, sorted; null if there is no such directory. */
  names(path: string): string[] | null;
  /** @throws FileRefused if it is not a regular file */
  open(path: string, how: OpenMode): DiskFile;
  /** What distinguishes the file at a path from all others, while that is open; null if there is none. */
  identity(path: string): unknown;
  rename(from: string, to: string): void;
  /** Creates a hard link, which must not exist. */
  link(from: string, to: string): void;
  remove(path: string): void;
  /** Waits until files created, renamed and removed in a directory are durable. */
  syncFolder(path: string): void;
}

const OWNER_ONLY = 0o600;
const FOLDER_OF_OWNER = 0o700;
const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL } = fs.constants;
const FLAGS: Readonly<Record<OpenMode, number>> = {
  read: O_RDONLY,
  write: O_RDWR | O_CREAT,
  new: O_RDWR | O_CREAT | O_EXCL,
};

const syncData = promisify(fs.fdatasync);

class NodeFile implements DiskFile {
  readonly #fd: number;
  /** Number of running syncs. The descriptor is closed after them, because the system may reuse its number. */
  #syncing = 0;
  #isClosed = false;

  constructor(path: string, how: OpenMode) {
    this.#fd = openRegular(path, FILE_LIMITS.journal, FLAGS[how], OWNER_ONLY);
  }

  get size(): number {
    return fs.fstatSync(this.#fd).size;
  }

  read(into: Uint8Array, position: number): number {
    return fs.readSync(this.#fd, into, 0, into.length, position);
  }

  write(bytes: Uint8Array, position: number): number {
    return fs.writeSync(this.#fd, bytes, 0, bytes.length, position);
  }

  truncate(size: number): void {
    fs.ftruncateSync(this.#fd, size);
  }

  sync(): void {
    fs.fdatasyncSync(this.#fd);
  }

  async syncAsync(): Promise<void> {
    this.#syncing += 1;
    try {
      await syncData(this.#fd);
    } finally {
      this.#syncing -= 1;
      if (this.#isClosed) this.close();
    }
  }

  close(): void {
    this.#isClosed = true;
    if (this.#syncing === 0) fs.closeSync(this.#fd);
  }
}

/** The file system of this machine. */
export const nodeDisk: Disk = {
  makeFolder: (path) => void makeFolder(path, FOLDER_OF_OWNER),
  names: (path) => ifThere(() => fs.readdirSync(path).sort()),
  open: (path, how) => new NodeFile(path, how),
  identity: (path) => {
    try {
      const { dev, ino } = fs.statSync(path);
      return `${dev}:${ino}`;
    } catch {
      return null;
    }
  },
  rename: fs.renameSync,
  link: fs.linkSync,
  remove: fs.unlinkSync,
  syncFolder: (path) => {
    // Windows cannot open directories; its renames are durable by themselves.
    if (process.platform === "win32") return;
    const fd = fs.openSync(path, O_RDONLY);
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  },
};

/** Writes all bytes. @throws Error with code ENOSPC if the disk is full */
export function writeFully(file: DiskFile, bytes: Uint8Array, position: number): void {
  for (let rest = bytes, at = position; rest.length > 0; ) {
    const written = file.write(rest, at);
    if (written === rest.length) return;
    if (written <= 0) throw Object.assign(new Error("the disk takes no more bytes"), { code: "ENOSPC" });
    rest = rest.subarray(written);
    at += written;
  }
}

const COPY_CHUNK = 1 << 22;

/** A byte range of a file. */
export interface Range {
  readonly offset: number;
  readonly bytes: number;
}

/** Creates a file with what `write` writes; if that fails, removes it again. */
export function createFile<Result>(disk: Disk, path: string, write: (file: DiskFile) => Result): Result {
  const file = disk.open(path, "new");
  try {
    try {
      return write(file);
    } finally {
      file.close();
    }
  } catch (error) {
    disk.remove(path);
    throw error;
  }
}

/** Copies bytes of a file into a new one that is on the disk when this answers. */
export const copyBytes = (disk: Disk, file: DiskFile, { offset, bytes }: Range, path: string): number =>
  createFile(disk, path, (copy) => {
    const chunk = new Uint8Array(Math.min(COPY_CHUNK, bytes));
    let done = 0;
    while (done < bytes) {
      const length = file.read(chunk.subarray(0, bytes - done), offset + done);
      if (length === 0) break;
      writeFully(copy, chunk.subarray(0, length), done);
      done += length;
    }
    copy.sync();
    return done;
  });
