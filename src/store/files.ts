import { join } from "node:path";
import type { Disk } from "./disk.ts";
import { LOCK_FILE } from "./folder-lock.ts";
import { StoreError } from "./store-error.ts";

export const JOURNAL_FILE = "journal.ndjson";
export const STATE_FILE = "db.json";
export const PREVIOUS_STATE_FILE = "db.previous.json";
const TORN_FILE = /^journal\.torn-(\d+)$/;
const DRAFT = /^db\.json\.[0-9a-z-]+\.draft$/;

const isOwn = (name: string): boolean =>
  [JOURNAL_FILE, STATE_FILE, PREVIOUS_STATE_FILE].includes(name) ||
  name === LOCK_FILE ||
  name.startsWith(`${LOCK_FILE}.`) ||
  TORN_FILE.test(name) ||
  DRAFT.test(name);

/** Where a state is written before it takes its name. */
export const draftOf = (path: string, unique: string): string => `${path}.${unique}.draft`;

/** Where the next torn end is kept: no file of an earlier one is overwritten. */
export function nextTornFile(disk: Disk, folder: string): string {
  const numbers = (disk.names(folder) ?? []).map((name) => Number(TORN_FILE.exec(name)?.[1] ?? 0));
  return join(folder, `journal.torn-${Math.max(0, ...numbers) + 1}`);
}

/** @throws StoreError when a folder holds what is not the store's, or a state without its journal. */
export function demandOwnFolder(disk: Disk, folder: string): void {
  const names = namesIn(disk, folder) ?? [];
  if (names.includes(JOURNAL_FILE) || names.every((name) => name === LOCK_FILE)) return;
  if (names.includes(STATE_FILE)) {
    throw new StoreError(
      "corrupt",
      `${folder} has ${STATE_FILE} but no ${JOURNAL_FILE}: to begin from that state, clobsim serve --world ${join(folder, STATE_FILE)} --data NEW`,
    );
  }
  throw new StoreError(
    "usage",
    `${folder} holds other things, such as ${names[0]}: give a directory of its own, which is made when it is not there`,
  );
}

function namesIn(disk: Disk, folder: string): string[] | null {
  try {
    return disk.names(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
    throw new StoreError("usage", `${folder} is a file: --data takes a directory`);
  }
}

/** Removes what a crash has left of states that were being written. */
export function removeDrafts(disk: Disk, folder: string): void {
  for (const name of (disk.names(folder) ?? []).filter((name) => DRAFT.test(name)))
    disk.remove(join(folder, name));
}

/** Removes all that the store has made in a folder, and answers the names. */
export function removeOwnFiles(disk: Disk, folder: string): string[] {
  const names = (namesIn(disk, folder) ?? []).filter((name) => isOwn(name) && name !== LOCK_FILE);
  for (const name of names) disk.remove(join(folder, name));
  disk.syncFolder(folder);
  return names;
}
