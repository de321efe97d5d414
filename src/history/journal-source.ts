import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { Disk, DiskFile } from "../engine/disk.ts";
import { JOURNAL_FILE } from "../engine/files.ts";
import { StoreError } from "../engine/journal.ts";
import { parseLine } from "../engine/journal-codec.ts";
import {
  assertKnown,
  BEGINNING,
  type ControlRecords,
  isControl,
  type OpeningData,
} from "../engine/journal-line.ts";
import { type Damage, damageText, firstDamage, openingIn, rawLines, scan } from "../engine/journal-scan.ts";
import { FileRefused } from "../regular-file.ts";

/** An open file that should be a journal: of a data directory, or a report. */
export interface JournalCandidate {
  /** Path of the file. */
  readonly path: string;
  /** Path as the user gave it. */
  readonly name: string;
  /** Whether `name` is a data directory. */
  readonly isFolder: boolean;
  readonly file: DiskFile;
}

/** An open journal of a data directory, or a report. */
export interface JournalSource extends JournalCandidate {
  readonly opening: OpeningData;
}

/**
 * Opens a journal read-only; another process may be writing to it. `engine` is the version of this program.
 * @throws StoreError `usage` if there is none, `corrupt` if its first line is damaged, `newer`.
 */
export function openSource(disk: Disk, name: string, engine: string): JournalSource {
  const candidate = openCandidate(disk, name);
  try {
    const opening = openingIn(candidate.file);
    if (opening === null) throw noOpening(candidate);
    assertKnown(opening, candidate.path, engine);
    return { ...candidate, opening };
  } catch (error) {
    candidate.file.close();
    throw error;
  }
}

/** Opens a file that should be a journal. @throws StoreError `usage` if there is none, `corrupt` */
export function openCandidate(disk: Disk, name: string): JournalCandidate {
  const { path, isFolder } = locate(disk, name);
  try {
    return { path, name, isFolder, file: disk.open(path, "read") };
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    throw new StoreError(isFolder ? "corrupt" : "usage", `${path}: ${error.message}`);
  }
}

/** @throws StoreError `usage` if a file is no journal, not even a damaged one. */
export function assertJournal({ path, isFolder, file }: JournalCandidate): void {
  if (isFolder || isJournalFile(file)) return;
  throw new StoreError("usage", `${path} is neither a report nor the journal of a data directory`);
}

/** Whether damage is more than the torn end that a crash can leave in the journal of a data directory. */
export const isCorrupt = ({ isFolder }: JournalCandidate, { proof }: Damage): boolean =>
  proof !== null || !isFolder;

function noOpening(candidate: JournalCandidate): StoreError {
  assertJournal(candidate);
  const damage = firstDamage(candidate.file);
  const { path, name } = candidate;
  return new StoreError("corrupt", damage === null ? `${path} is empty` : damageText(path, name, damage));
}

function locate(disk: Disk, name: string): Pick<JournalSource, "path" | "isFolder"> {
  const names = namesIn(disk, name);
  if (names === "a file") return { path: name, isFolder: false };
  if (names === null) {
    throw new StoreError("usage", `there is no ${name}: expected a data directory or a report`);
  }
  if (names.includes(JOURNAL_FILE)) return { path: join(name, JOURNAL_FILE), isFolder: true };
  throw new StoreError(
    "usage",
    `${name} has no ${JOURNAL_FILE}: it is not a data directory of clobsim serve`,
  );
}

function namesIn(disk: Disk, name: string): string[] | "a file" | null {
  try {
    return disk.names(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return "a file";
    throw error;
  }
}

/** Whether a path is a journal, or a directory with one. */
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

const FIRST_BYTES = Buffer.from('{"n":1,"p":"00000000"', "latin1");

/** Whether a file starts like a journal, or has an undamaged line of one anywhere. */
function isJournalFile(file: DiskFile): boolean {
  const bytes = Buffer.alloc(FIRST_BYTES.length);
  file.read(bytes, 0);
  if (bytes.equals(FIRST_BYTES)) return true;
  for (const line of rawLines(file, 0)) if (parseLine(line) !== null) return true;
  return false;
}

/** The failed scenario in a report, with its line. */
export interface ReportedScenario {
  readonly line: number;
  readonly sources: ControlRecords["scenario"];
}

/** Returns the failed scenario in a report; null if it has none. @throws StoreError if the report is damaged */
export function scenarioIn(source: JournalSource): ReportedScenario | null {
  let found: ReportedScenario | null = null;
  const { damage } = scan(source.file, BEGINNING, (line) => {
    if (isControl(line, "scenario")) found = { line: line.n, sources: line.d };
  });
  if (damage !== null && isCorrupt(source, damage)) {
    throw new StoreError("corrupt", damageText(source.path, source.name, damage));
  }
  return found;
}
