import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { FILE_LIMITS, openRegular } from "../regular-file.ts";

/** A file that is open. Every call throws the system's error when it cannot be done. */
export interface DiskFile {
  /** Bytes. */
  readonly size: number;
  /** Reads what stands from a position on, and answers how many bytes that were; 0 at the end. */
  read(into: Uint8Array, position: number): number;
  /** Writes at a position, and answers how many bytes were written: fewer than asked when the disk is full. */
  write(bytes: Uint8Array, position: number): number;
  /** Forgets all beyond a size. */
  truncate(size: number): void;
  /** Answers once what was written is on the disk itself. */
  sync(): void;
  /** The same without waiting. */
  syncAsync(): Promise<void>;
  close(): void;
}

/** `read`: it must be there. `write`: it is made when it is not there. `new`: it must not be there. */
export type OpenMode = "read" | "write" | "new";

/** What the store needs of a file system; another one stands in its place where crashes are tried. */
export interface Disk {
  /** Makes a folder with those above it; what is there stays. Only its owner may look into it. */
  makeFolder(path: string): void;
  /** What is in a folder, sorted; null when there is no such folder. */
  names(path: string): string[] | null;
  /** @throws FileRefused when it is no file */
  open(path: string, how: OpenMode): DiskFile;
  rename(from: string, to: string): void;
  /** Gives a file a second name. It must not be there. */
  link(from: string, to: string): void;
  remove(path: string): void;
  /** Answers once what was made, renamed and removed in a folder is on the disk itself. */
  syncFolder(path: string): void;
}

const OWNER_ONLY = 0o600;
const FOLDER_OF_OWNER = 0o700;
const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL } = constants;
const FLAGS: Readonly<Record<OpenMode, number>> = {
  read: O_RDONLY,
  write: O_RDWR | O_CREAT,
  new: O_RDWR | O_CREAT | O_EXCL,
};

class NodeFile implements DiskFile {
  readonly #fd: number;
  /** How many syncs are under way; a number that is closed before they have ended may be another file's by then. */
  #syncing = 0;
  #isClosed = false;

  constructor(path: string, how: OpenMode) {
    this.#fd = openRegular(path, FILE_LIMITS.journal, FLAGS[how], OWNER_ONLY);
  }

  get size(): number {
    return fstatSync(this.#fd).size;
  }

  read(into: Uint8Array, position: number): number {
    return readSync(this.#fd, into, 0, into.length, position);
  }

  write(bytes: Uint8Array, position: number): number {
    return writeSync(this.#fd, bytes, 0, bytes.length, position);
  }

  truncate(size: number): void {
    ftruncateSync(this.#fd, size);
  }

  sync(): void {
    fdatasyncSync(this.#fd);
  }

  syncAsync(): Promise<void> {
    this.#syncing += 1;
    return new Promise((resolve, reject) => {
      fdatasync(this.#fd, (error) => {
        this.#syncing -= 1;
        if (this.#isClosed && this.#syncing === 0) closeSync(this.#fd);
        if (error === null) resolve();
        else reject(error);
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    if (this.#syncing === 0) closeSync(this.#fd);
  }
}

/** By hand: where a file system makes no folders, such as /proc, Node's own way of making those above tries for ever. */
function makeFolder(path: string): void {
  if (hasMade(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: FOLDER_OF_OWNER });
}

/** Whether a folder is there now; false when it needs one above it. */
function hasMade(path: string): boolean {
  try {
    mkdirSync(path, { mode: FOLDER_OF_OWNER });
    return true;
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return true;
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    return false;
  }
}

/** The file system of this machine. */
export const nodeDisk: Disk = {
  makeFolder,
  names: (path) => {
    try {
      return readdirSync(path).sort();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  },
  open: (path, how) => new NodeFile(path, how),
  rename: renameSync,
  link: linkSync,
  remove: unlinkSync,
  syncFolder: (path) => {
    // Windows has no folders that can be opened; its renames are on the disk by themselves.
    if (process.platform === "win32") return;
    const fd = openSync(path, O_RDONLY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  },
};

/** Writes all of the bytes. @throws Error of the code ENOSPC when the disk takes no more. */
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

/** Some bytes of a file. */
export interface Range {
  readonly offset: number;
  readonly bytes: number;
}

/** Copies bytes of a file into a new one that is on the disk when this answers. */
export function copyBytes(disk: Disk, file: DiskFile, { offset, bytes }: Range, path: string): number {
  const copy = disk.open(path, "new");
  let done = 0;
  try {
    const chunk = new Uint8Array(Math.min(COPY_CHUNK, bytes));
    while (done < bytes) {
      const length = file.read(chunk.subarray(0, bytes - done), offset + done);
      if (length === 0) break;
      writeFully(copy, chunk.subarray(0, length), done);
      done += length;
    }
    copy.sync();
    return done;
  } finally {
    copy.close();
  }
}
