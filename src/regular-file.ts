import { Buffer } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** The most bytes that a file of a kind may have, so that reading it ends. */
export const FILE_LIMITS = {
  /** A world or a state that is read as one text. */
  world: 500 * MIB,
  golden: 64 * MIB,
  wallets: MIB,
  flow: 64 * GIB,
  /** A journal, a report, and what else lies in a data directory. */
  journal: 256 * GIB,
} as const;

/** A path that leads to something else than a file of a sane size; the message says what was expected and found. */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

const FORBIDDEN: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

/** Whether the system refuses a path for want of rights: its user can choose another place. */
export const isForbidden = (
  error: unknown,
): error is Error & { readonly code: string; readonly path?: string } =>
  error instanceof Error && "syscall" in error && "code" in error && FORBIDDEN.has(String(error.code));

/** Windows has no such flag, nor pipes that have a place among files. */
const NONBLOCK = constants.O_NONBLOCK ?? 0;

/**
 * Opens a file, and nothing else: opening a pipe waits for somebody at its other end, and a device never ends.
 * @param flags as `open` takes them. @param most bytes that it may have.
 * @throws FileRefused; the system's error.
 */
export function openRegular(
  path: string,
  most: number,
  flags: number = constants.O_RDONLY,
  mode?: number,
): number {
  // Opening a device may already do something to it.
  const known = statSync(path, { throwIfNoEntry: false });
  if (known !== undefined) requireRegular(path, known, most);
  // What has taken its place since is not waited for either.
  const file = openSync(path, flags | NONBLOCK, mode);
  try {
    requireRegular(path, fstatSync(file), most);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return file;
}

/** The bytes of a file. @throws FileRefused, also when it has grown beyond `most` bytes; the system's error. */
export function readRegular(path: string, most: number): Buffer {
  const file = openRegular(path, most);
  try {
    const bytes = Buffer.allocUnsafe(Math.min(fstatSync(file).size, most) + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length > most) throw tooLarge(path, most);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** The text of a file. @throws as `readRegular` */
export const readText = (path: string, most: number): string => readRegular(path, most).toString("utf8");

/** Why a file could not be read, as a sentence; of anything else that was thrown, its message. */
export function whyUnread(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return message;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "the file may not be read";
  return `the file cannot be read: ${code}`;
}

function requireRegular(path: string, stats: Stats, most: number): void {
  if (!stats.isFile()) throw new FileRefused(path, `expected a file, found ${nameOf(stats)}`);
  if (stats.size > most) throw tooLarge(path, most);
}

const tooLarge = (path: string, most: number): FileRefused =>
  new FileRefused(path, `expected at most ${most} bytes, found more`);

function nameOf(stats: Stats): string {
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a named pipe";
  return stats.isSocket() ? "a socket" : "a device";
}
