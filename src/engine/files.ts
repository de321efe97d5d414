import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { DEFAULT_DATA } from "../config.ts";
import { shellOption } from "../core/format.ts";
import { ifThere } from "../regular-file.ts";
import { createFile, type Disk, writeFully } from "./disk.ts";
import { DataFileError } from "./journal.ts";

export const JOURNAL_FILE = "journal.ndjson";
export const STATE_FILE = "db.json";
export const PREVIOUS_STATE_FILE = "db.previous.json";
const TORN_FILE = /^journal\.torn-(\d+)$/;
const DRAFT = /^db\.json\.[0-9a-z-]+\.draft$/;

/** Names of the state files of a data directory, the latest first. */
export const STATES: readonly string[] = [STATE_FILE, PREVIOUS_STATE_FILE];

const isOfLock = (name: string): boolean => name === LOCK_FILE || name.startsWith(`${LOCK_FILE}.`);

const isOwn = (name: string): boolean =>
  [JOURNAL_FILE, ...STATES].includes(name) || isOfLock(name) || TORN_FILE.test(name) || DRAFT.test(name);

const namesIn = (disk: Disk, folder: string): readonly string[] => disk.names(folder) ?? [];

/** Whether a path names a file of an exchange in its data directory. */
export const isOfExchange = (disk: Disk, path: string): boolean =>
  isOwn(basename(path)) && namesIn(disk, dirname(path)).includes(JOURNAL_FILE);

const GIT_IGNORE = ".gitignore";
/** Default directory of the reports of failed tests and scenarios, in the default data directory. */
export const REPORTS_FOLDER = "reports";
/** Names that may be beside a journal without belonging to the exchange. */
const isBeside = (name: string): boolean => name === GIT_IGNORE || name === REPORTS_FOLDER;

/** Adds a .gitignore to a data directory of the default name, so that no project has to ignore it. */
export function ignoreInGit(disk: Disk, folder: string): void {
  if (basename(folder) !== DEFAULT_DATA || disk.names(folder)?.includes(GIT_IGNORE) !== false) return;
  // Another process may have just written it.
  writeNew(disk, join(folder, GIT_IGNORE), "*\n");
}

/** Path of a state file while it is written. */
export const stateDraftOf = (path: string): string => `${path}.${randomUUID()}.draft`;

/** Path for the next torn end, numbered so that none is overwritten. */
export function nextTornFile(disk: Disk, folder: string): string {
  const numbers = namesIn(disk, folder).map((name) => Number(TORN_FILE.exec(name)?.[1] ?? 0));
  return join(folder, `journal.torn-${Math.max(0, ...numbers) + 1}`);
}

/** @throws DataFileError if a directory has no journal and contains files of others */
export function assertOwnFolder(disk: Disk, folder: string): void {
  let names: readonly string[] = [];
  try {
    names = namesIn(disk, folder);
  } catch (error) {
    if (codeOf(error) !== "ENOTDIR") throw error;
    throw new DataFileError("usage", `${folder} is a file, expected a directory`);
  }
  const foreign = names.find((name) => !isOwn(name) && !isBeside(name));
  if (foreign === undefined || names.includes(JOURNAL_FILE)) return;
  const expected = "expected a directory for clobsim alone, which is created if missing";
  throw new DataFileError("usage", `${folder} has other files, such as ${foreign}: ${expected}`);
}

/** Name of the state file in a directory; null if there is none. */
export const stateFileIn = (disk: Disk, folder: string): string | null =>
  namesIn(disk, folder).find((name) => STATES.includes(name)) ?? null;

/** @throws DataFileError if a directory with an empty journal has a state file */
export function assertNoStateFile(disk: Disk, folder: string): void {
  const state = stateFileIn(disk, folder);
  if (state === null) return;
  const remedy = `to start from that state, clobsim serve ${shellOption("world", join(folder, state))} --data NEW`;
  throw new DataFileError("corrupt", `${folder} has ${state}, but nothing in ${JOURNAL_FILE}: ${remedy}`);
}

/** Removes unfinished state files that a crash left. */
export function removeDrafts(disk: Disk, folder: string): void {
  for (const name of namesIn(disk, folder)) if (DRAFT.test(name)) disk.remove(join(folder, name));
}

/** Removes all files of the exchange but its journal and lock, and returns their names. */
export function removeBesideJournal(disk: Disk, folder: string): string[] {
  const names = namesIn(disk, folder).filter(
    (name) => isOwn(name) && !isOfLock(name) && name !== JOURNAL_FILE,
  );
  for (const name of names) disk.remove(join(folder, name));
  disk.syncFolder(folder);
  return names;
}

export const LOCK_FILE = "lock";
/** A lock file is shorter. */
const MAX_BYTES = 4096;

/** The process that holds the lock of a directory. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Start time of the process, because ids are reused; null where the system does not provide it. */
  readonly born: string | null;
}

/** A lock of a directory that this process holds. */
export type FolderLock = ReturnType<typeof lockAt>;

/**
 * Locks a directory for this process. Takes over the lock of a dead process.
 * @throws DataFileError `locked` with the id of the process that holds it.
 */
export function lockFolder(disk: Disk, folder: string): FolderLock {
  const born = processStat(process.pid)?.startTicks ?? null;
  return takeLock(disk, folder, LOCK_FILE, { pid: process.pid, host: hostname(), born });
}

/** Lock of a directory, as a reader sees it; `stale` if its process is dead. */
type LockState =
  | { readonly kind: "free" | "stale" }
  /** The error that a program gets that wants to lock the directory now. */
  | { readonly kind: "held"; readonly error: DataFileError };

/** Reads the lock of a directory, without taking it. */
export function lockStateOf(disk: Disk, folder: string, name = LOCK_FILE): LockState {
  const holder = readHolder(disk, join(folder, name));
  if (holder === "gone") return { kind: "free" };
  const host = hostname();
  if (holder === null || !isAlive(holder, host)) return { kind: "stale" };
  return { kind: "held", error: locked(folder, holder, host) };
}

/** Takes a lock. A stale lock is removed under a second lock, of that removal: a new lock may have been made meanwhile. */
function takeLock(disk: Disk, folder: string, name: string, own: Holder): FolderLock {
  const path = join(folder, name);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (createLock(disk, path, own)) return lockAt(disk, path);
    if (!isStale(disk, folder, name)) continue;
    const removal = takeLock(disk, folder, `${name}.removal`, own);
    try {
      if (isStale(disk, folder, name)) disk.remove(path);
    } finally {
      removal.release();
    }
  }
  const what = "is being opened by other processes again and again: try once more";
  throw new DataFileError("locked", `${folder} ${what}`);
}

const ATTEMPTS = 20;

/** Whether there is a lock of a dead process. @throws DataFileError `locked` if the process of the lock still runs */
function isStale(disk: Disk, folder: string, name: string): boolean {
  const state = lockStateOf(disk, folder, name);
  if (state.kind === "held") throw state.error;
  return state.kind === "stale";
}

function lockAt(disk: Disk, path: string) {
  // It stays open, because the system may give the identity of a removed file to another.
  const file = disk.open(path, "read");
  const identity = disk.identity(path);
  /** Whether the directory still has this lock: false if it was removed, or replaced by another directory. */
  const isHeld = (): boolean => disk.identity(path) === identity;
  /** Unlocks the directory, if it still has this lock. */
  const release = (): void => {
    file.close();
    if (isHeld()) disk.remove(path);
  };
  return { isHeld, release };
}

/** Creates a lock unless there is one. It gets its name by a link, after its content, so that no process reads it empty. */
function createLock(disk: Disk, path: string, holder: Holder): boolean {
  const draft = `${path}.${holder.pid}-${randomUUID()}`;
  const text = `${JSON.stringify(holder)}\n`;
  writeNew(disk, draft, text);
  try {
    disk.link(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (!NO_HARD_LINKS.has(codeOf(error))) throw error;
    return writeNew(disk, path, text);
  } finally {
    disk.remove(draft);
  }
}

/** Error codes of file systems without hard links. */
const NO_HARD_LINKS: ReadonlySet<string | undefined> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Creates the file, and returns whether there was none. */
function writeNew(disk: Disk, path: string, text: string): boolean {
  try {
    createFile(disk, path, (file) => writeFully(file, Buffer.from(text), 0));
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Reads the holder of a lock; null if the file has no valid content, as after a power failure before it was synced.
 * @throws FileRefused if it is not a regular file; the system's error if it cannot be read: a process may hold it
 */
function readHolder(disk: Disk, path: string): Holder | "gone" | null {
  const file = ifThere(() => disk.open(path, "read"));
  if (file === null) return "gone";
  try {
    const bytes = Buffer.alloc(Math.min(file.size, MAX_BYTES));
    file.read(bytes, 0);
    const holder = JSON.parse(bytes.toString("utf8")) as Holder | null;
    return Number.isSafeInteger(holder?.pid) ? holder : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  } finally {
    file.close();
  }
}

/** Whether the process still runs; true for one on another host, which cannot be checked. */
function isAlive({ pid, host, born }: Holder, ownHost: string): boolean {
  if (host !== ownHost) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false;
  }
  const stat = processStat(pid);
  if (stat === null) return true;
  // A zombie holds nothing any more.
  const hasEnded = stat.state === "Z" || stat.state === "X";
  return !hasEnded && (born === null || born === stat.startTicks);
}

/** State of a process, and its start in ticks since boot; null where the system has no /proc. */
function processStat(pid: number): { readonly state: string; readonly startTicks: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", startTicks: fields[19] ?? "" };
  } catch {
    return null;
  }
}

function locked(folder: string, { pid, host, born }: Holder, ownHost: string): DataFileError {
  const isHere = host === ownHost;
  const remove = `remove ${join(folder, LOCK_FILE)}`;
  // Without its start time, the process may be another one that has the id of one that has ended.
  const orRemove = born === null ? `or ${remove} if it is another program, ` : "";
  const remedy = isHere
    ? `stop it, ${orRemove}give another directory with --data, or use --ephemeral`
    : `if it is gone, ${remove}`;
  const whom = isHere ? `process ${pid}` : `process ${pid} on ${host}`;
  return new DataFileError("locked", `${folder} is in use by ${whom}: ${remedy}`);
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
