import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { Disk, DiskFile } from "../store/disk.ts";
import { JOURNAL_FILE } from "../store/files.ts";
import type { OpeningData } from "../store/journal-line.ts";
import { openingIn } from "../store/journal-scan.ts";
import { StoreError } from "../store/store-error.ts";
import { demandKnown } from "../store/version.ts";

/** A journal to be read, wherever it lies: in a data directory, or in a file of its own, as a report does. */
export interface JournalSource {
  /** Of the file. */
  readonly path: string;
  /** As it was named. */
  readonly name: string;
  readonly isFolder: boolean;
  readonly file: DiskFile;
  readonly opening: OpeningData;
}

/**
 * Opens a journal for reading alone: a running program may go on writing to it. `engine` is the version of this program.
 * @throws StoreError `usage` when there is none, `corrupt` when its first line is damaged, `newer`.
 */
export function openSource(disk: Disk, name: string, engine: string): JournalSource {
  const { path, isFolder } = placeOf(disk, name);
  const file = disk.open(path, "read");
  try {
    const opening = openingIn(file);
    if (opening === null) throw unreadable(file, path);
    demandKnown(opening, path, engine);
    return { path, name, isFolder, file, opening };
  } catch (error) {
    file.close();
    throw error;
  }
}

function placeOf(disk: Disk, name: string): Pick<JournalSource, "path" | "isFolder"> {
  const names = namesIn(disk, name);
  if (names === "a file") return { path: name, isFolder: false };
  if (names === null) {
    throw new StoreError("usage", `there is no ${name}: expected a data directory, or the file of a report`);
  }
  if (names.includes(JOURNAL_FILE)) return { path: join(name, JOURNAL_FILE), isFolder: true };
  throw new StoreError("usage", `${name} holds no ${JOURNAL_FILE}: it is no data directory of clobsim serve`);
}

function namesIn(disk: Disk, name: string): string[] | "a file" | null {
  try {
    return disk.names(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return "a file";
    throw error;
  }
}

/** Whether something is a journal, or a directory with one, rather than any other file. */
export function isJournal(disk: Disk, name: string): boolean {
  const names = namesIn(disk, name);
  if (names !== "a file") return names?.includes(JOURNAL_FILE) === true;
  const file = disk.open(name, "read");
  try {
    return beginsAsOne(file);
  } finally {
    file.close();
  }
}

const FIRST = '{"n":1,"p":"00000000"';

function beginsAsOne(file: DiskFile): boolean {
  const beginning = Buffer.alloc(FIRST.length);
  file.read(beginning, 0);
  return beginning.toString("latin1") === FIRST;
}

const unreadable = (file: DiskFile, path: string): StoreError =>
  path.endsWith(JOURNAL_FILE) || beginsAsOne(file)
    ? new StoreError("corrupt", `${path} has no whole first line: nothing of it can be replayed`)
    : new StoreError("usage", `${path} is neither a report nor the journal of a data directory`);
