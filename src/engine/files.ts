import { Buffer } from "node:buffer";
import { basename, join } from "node:path";
import { DEFAULT_DATA } from "../config.ts";
import type { Disk } from "./disk.ts";
import { LOCK_FILE } from "./folder-lock.ts";
import { StoreError } from "./store-error.ts";

export const JOURNAL_FILE = "journal.ndjson";
export const STATE_FILE = "db.json";
export const PREVIOUS_STATE_FILE = "db.previous.json";
const TORN_FILE = /^journal\.torn-(\d+)$/;
const DRAFT = /^db\.json\.[0-9a-z-]+\.draft$/;

const STATES: readonly string[] = [STATE_FILE, PREVIOUS_STATE_FILE];

const isOfLock = (name: string): boolean => name === LOCK_FILE || name.startsWith(`${LOCK_FILE}.`);

const isOwn = (name: string): boolean =>
  name === JOURNAL_FILE ||
  STATES.includes(name) ||
  isOfLock(name) ||
  TORN_FILE.test(name) ||
  DRAFT.test(name);

const GIT_IGNORE = ".gitignore";
/** Default directory of the reports of failed tests and scenarios, in the default data directory. */
export const REPORTS_FOLDER = "reports";
/** Names that may be beside a journal without belonging to the exchange. */
const isBeside = (name: string): boolean => name === GIT_IGNORE || name === REPORTS_FOLDER;

/** Adds a .gitignore to a data directory of the default name, so that no project has to ignore it. */
export function ignoreInGit(disk: Disk, folder: string): void {
  if (basename(folder) !== DEFAULT_DATA || disk.names(folder)?.includes(GIT_IGNORE) !== false) return;
  // Not "new", because another process may write it at the same time.
  const file = disk.open(join(folder, GIT_IGNORE), "write");
  file.write(Buffer.from("*\n"), 0);
  file.close();
}

/** Path of a state file while it is written. */
export const draftOf = (path: string, unique: string): string => `${path}.${unique}.draft`;

/** Path for the next torn end, numbered so that none is overwritten. */
export function nextTornFile(disk: Disk, folder: string): string {
  const numbers = (disk.names(folder) ?? []).map((name) => Number(TORN_FILE.exec(name)?.[1] ?? 0));
  return join(folder, `journal.torn-${Math.max(0, ...numbers) + 1}`);
}

/** @throws StoreError if a directory has no journal and contains files of others */
export function assertOwnFolder(disk: Disk, folder: string): void {
  const names = namesIn(disk, folder) ?? [];
  const foreign = names.find((name) => !isOwn(name) && !isBeside(name));
  if (foreign === undefined || names.includes(JOURNAL_FILE)) return;
  throw new StoreError(
    "usage",
    `${folder} has other files, such as ${foreign}: expected a directory for clobsim alone, which is created if missing`,
  );
}

/** Name of the state file in a directory; null if there is none. */
export const stateFileIn = (disk: Disk, folder: string): string | null =>
  (disk.names(folder) ?? []).find((name) => STATES.includes(name)) ?? null;

/** @throws StoreError if a directory with an empty journal has a state file */
export function assertNoStateFile(disk: Disk, folder: string): void {
  const state = stateFileIn(disk, folder);
  if (state === null) return;
  throw new StoreError(
    "corrupt",
    `${folder} has ${state}, but nothing in ${JOURNAL_FILE}: to start from that state, clobsim serve --world ${join(folder, state)} --data NEW`,
  );
}

function namesIn(disk: Disk, folder: string): string[] | null {
  try {
    return disk.names(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
    throw new StoreError("usage", `${folder} is a file, expected a directory`);
  }
}

/** Removes unfinished state files that a crash left. */
export function removeDrafts(disk: Disk, folder: string): void {
  for (const name of (disk.names(folder) ?? []).filter((name) => DRAFT.test(name)))
    disk.remove(join(folder, name));
}

/** Removes all files of the exchange but its journal and lock, and returns their names. */
export function removeBesideJournal(disk: Disk, folder: string): string[] {
  const names = (disk.names(folder) ?? []).filter(
    (name) => isOwn(name) && !isOfLock(name) && name !== JOURNAL_FILE,
  );
  for (const name of names) disk.remove(join(folder, name));
  disk.syncFolder(folder);
  return names;
}
