import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { Disk, DiskFile } from "../engine/disk.ts";
import { JOURNAL_FILE } from "../engine/files.ts";
import { parseLine } from "../engine/journal-codec.ts";
import { BEGINNING, type ControlRecords, isControl, type OpeningData } from "../engine/journal-line.ts";
import { type Damage, damageText, firstDamage, openingIn, rawLines, scan } from "../engine/journal-scan.ts";
import { assertKnown, StoreError } from "../engine/store-error.ts";
import { FileRefused } from "../regular-file.ts";

/** A file that may be a journal: that of a data directory, or one of its own, as a report is. */
export interface JournalPlace {
  /** Of the file. */
  readonly path: string;
  /** As it was named. */
  readonly name: string;
  readonly isFolder: boolean;
  readonly file: DiskFile;
}

/** A journal to be read, wherever it lies. */
export interface JournalSource extends JournalPlace {
  readonly opening: OpeningData;
}

/**
 * Opens a journal for reading alone: a running program may go on writing to it. `engine` is the version of this program.
 * @throws StoreError `usage` when there is none, `corrupt` when its first line is damaged, `newer`.
 */
export function openSource(disk: Disk, name: string, engine: string): JournalSource {
  const place = openPlace(disk, name);
  try {
    const opening = openingIn(place.file);
    if (opening === null) throw unopened(place);
    assertKnown(opening, place.path, engine);
    return { ...place, opening };
  } catch (error) {
    place.file.close();
    throw error;
  }
}

/** Opens what may be a journal. @throws StoreError `usage` when there is nothing of the kind, `corrupt` */
export function openPlace(disk: Disk, name: string): JournalPlace {
  const { path, isFolder } = placeOf(disk, name);
  try {
    return { path, name, isFolder, file: disk.open(path, "read") };
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    throw new StoreError(isFolder ? "corrupt" : "usage", `${path}: ${error.message}`);
  }
}

/** @throws StoreError `usage` when a file is nothing that a journal could be. */
export function requireJournal({ path, isFolder, file }: JournalPlace): void {
  if (isFolder || isJournalFile(file)) return;
  throw new StoreError("usage", `${path} is neither a report nor the journal of a data directory`);
}

/** Whether what stands where the next line should is more than the end that a crash leaves of a directory's journal. */
export const isCorrupt = ({ isFolder }: JournalPlace, { proof }: Damage): boolean =>
  proof !== null || !isFolder;

function unopened(place: JournalPlace): StoreError {
  requireJournal(place);
  const damage = firstDamage(place.file);
  const { path, name } = place;
  return new StoreError("corrupt", damage === null ? `${path} is empty` : damageText(path, name, damage));
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
    return isJournalFile(file);
  } finally {
    file.close();
  }
}

const FIRST = Buffer.from('{"n":1,"p":"00000000"', "latin1");

/** Whether a file begins as a journal does, or has a whole line of one somewhere. */
function isJournalFile(file: DiskFile): boolean {
  const beginning = Buffer.alloc(FIRST.length);
  file.read(beginning, 0);
  if (beginning.equals(FIRST)) return true;
  for (const bytes of rawLines(file, 0)) if (parseLine(bytes) !== null) return true;
  return false;
}

/** The scenario whose failure a report is of, and the line that carries it. */
export interface CarriedScenario {
  readonly line: number;
  readonly sources: ControlRecords["scenario"];
}

/** The scenario that a report carries; null when it carries none. @throws StoreError when the report is damaged */
export function scenarioIn(source: JournalSource): CarriedScenario | null {
  let carried: CarriedScenario | null = null;
  const { damage } = scan(source.file, BEGINNING, (line) => {
    if (isControl(line, "scenario")) carried = { line: line.n, sources: line.d };
  });
  if (damage !== null && isCorrupt(source, damage)) {
    throw new StoreError("corrupt", damageText(source.path, source.name, damage));
  }
  return carried;
}
