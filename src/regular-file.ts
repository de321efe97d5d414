import { Buffer, isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join, sep } from "node:path";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** Maximum size of the files of a kind, bytes. */
export const FILE_LIMITS = {
  /** A world or a state, read as one text. */
  world: 500 * MIB,
  golden: 64 * MIB,
  wallets: MIB,
  flow: 64 * GIB,
  /** A journal, a report, or another file of a data directory. */
  journal: 256 * GIB,
} as const;

/** Returns a path of this system with slashes between its names. */
export const withSlashes = (path: string): string => path.split(sep).join("/");

/** The path is not a regular file, or the file is too large; the message says what was expected and found. */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/** Whether an error is of a system call, with one of the codes. */
export const isSystemError = (
  error: unknown,
  ...codes: readonly string[]
): error is Error & { readonly code: string; readonly path?: string } =>
  error instanceof Error && "syscall" in error && "code" in error && codes.includes(String(error.code));

/** Whether the system refused a path for lack of permission. */
export const isForbidden = (error: unknown) => isSystemError(error, "EACCES", "EPERM", "EROFS");

/** Whether the disk is the cause of an error: it is full or broken. */
export const isDiskFailure = (error: unknown): boolean =>
  ["ENOSPC", "EDQUOT", "EIO"].includes(String((error as Partial<NodeJS.ErrnoException>).code));

/** Returns what `read` returns; null if it fails because there is no such file. @throws any other error of `read` */
export function ifThere<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null;
    throw error;
  }
}

/** Returns the stats of a path; undefined if nothing is there, also below a file, where Node 20 throws and Node 22 does not. */
export function statOf(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Windows has neither this flag nor pipes in the file system. */
const NONBLOCK = fs.constants.O_NONBLOCK ?? 0;

/**
 * Opens a regular file. Opening a pipe would block, and a device may have no end.
 * @param flags those of `open` @param maxBytes maximum size of the file
 * @throws FileRefused; the system's error
 */
export function openRegular(
  path: string,
  maxBytes: number,
  flags: number = fs.constants.O_RDONLY,
  mode?: number,
): number {
  // Checked before, because opening a device may have effects.
  const known = statOf(path);
  if (known !== undefined) requireRegular(path, known, maxBytes);
  // The path may have been replaced by a pipe since, so this must not block.
  const file = fs.openSync(path, flags | NONBLOCK, mode);
  try {
    requireRegular(path, fs.fstatSync(file), maxBytes);
  } catch (error) {
    fs.closeSync(file);
    throw error;
  }
  return file;
}

/** Reads a file. @throws FileRefused, also if it has grown above `maxBytes`; the system's error */
export function readRegular(path: string, maxBytes: number): Buffer {
  const file = openRegular(path, maxBytes);
  try {
    const bytes = Buffer.allocUnsafe(Math.min(fs.fstatSync(file).size, maxBytes) + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = fs.readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length > maxBytes) throw tooLarge(path, maxBytes);
    return bytes.subarray(0, length);
  } finally {
    fs.closeSync(file);
  }
}

/** Reads a file as text, without the byte order mark that some editors write. @throws as `readRegular` */
export const readText = (path: string, maxBytes: number): string =>
  readRegular(path, maxBytes)
    .toString("utf8")
    .replace(/^\ufeff/, "");

/** Path of the draft of a file: beside it, with a short name because that of the file may be as long as possible. */
export const draftBeside = (path: string): string => join(dirname(path), `.clobsim-${randomUUID()}.draft`);

/** Creates a file; if it cannot be written completely, there is none. @throws the system's error, with the path */
export function createComplete(path: string, content: string | Uint8Array, mode?: number): void {
  const file = fs.openSync(path, "wx", mode);
  try {
    fs.writeFileSync(file, content);
  } catch (error) {
    fs.rmSync(path, { force: true });
    throw Object.assign(error as Error, { path });
  } finally {
    fs.closeSync(file);
  }
}

/** Creates or replaces a file; most failures leave it as before. Owner, mode and symbolic links stay. @throws as `createComplete` */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const known = statOf(path);
  if (known === undefined) {
    // A link to nothing is followed.
    if (fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) createComplete(path, content);
    else fs.writeFileSync(path, content);
    return;
  }
  fs.accessSync(path, fs.constants.W_OK);
  const real = fs.realpathSync(path);
  const draft = draftBeside(real);
  try {
    createComplete(draft, content, known.mode);
    fs.chownSync(draft, known.uid, known.gid);
    fs.chmodSync(draft, known.mode);
    fs.renameSync(draft, real);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    // Only the content may be changed: the folder takes no files, the owner is another user, or the file is a mount point.
    if (!isForbidden(error) && !isSystemError(error, "EBUSY")) throw Object.assign(error as Error, { path });
    fs.writeFileSync(real, content);
  }
}

export const NOT_UTF8 = "expected UTF-8 text, found an invalid byte";

/** Returns the offset of the first sequence of bytes that is not UTF-8, or -1. */
export function invalidUtf8Offset(bytes: Buffer): number {
  if (isUtf8(bytes)) return -1;
  const replaced = Buffer.from(bytes.toString("utf8"));
  let offset = replaced.findIndex((byte, index) => byte !== bytes[index]);
  // The first differing byte may be within the replacement character.
  while (((replaced[offset] ?? 0) & 0xc0) === 0x80) offset -= 1;
  return offset;
}

/** Explains why a file could not be read; returns the message of any other error. */
export function readFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return message;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "the file may not be read";
  return `the file cannot be read: ${code}`;
}

function requireRegular(path: string, stats: fs.Stats, maxBytes: number): void {
  if (!stats.isFile()) throw new FileRefused(path, `expected a file, found ${typeOf(stats)}`);
  if (stats.size > maxBytes) throw tooLarge(path, maxBytes);
}

const tooLarge = (path: string, maxBytes: number): FileRefused =>
  new FileRefused(path, `expected at most ${maxBytes} bytes, found more`);

function typeOf(stats: fs.Stats): string {
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a named pipe";
  return stats.isSocket() ? "a socket" : "a device";
}
