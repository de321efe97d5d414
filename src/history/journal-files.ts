import { Buffer } from "node:buffer";
import { dirname, join, resolve, sep } from "node:path";
import { counted, shellPath } from "../core/format.ts";
import { toIso } from "../core/time.ts";
import { type Millis, millis } from "../core/units.ts";
import { copyBytes, type Disk, type DiskFile } from "../engine/disk.ts";
import { Exchange } from "../engine/exchange.ts";
import {
  assertNoStateFile,
  assertOwnFolder,
  JOURNAL_FILE,
  lockStateOf,
  STATE_FILE,
} from "../engine/files.ts";
import { DataFileError, type DataFileProblem } from "../engine/journal.ts";
import { parseLine } from "../engine/journal-codec.ts";
import {
  assertKnown,
  assertNotNewer,
  BEGINNING,
  type ControlRecords,
  isControl,
  type Line,
  type OpeningData,
} from "../engine/journal-line.ts";
import {
  type Damage,
  damageText,
  describeDamage,
  firstDamage,
  hasLine,
  openingDamage,
  openingIn,
  rawLines,
  scan,
} from "../engine/journal-scan.ts";
import { asDataFileError } from "../engine/open-exchange.ts";
import { exchangeAt, originOfJournal } from "../engine/origin.ts";
import { ReplayDiffers, replayJournal, stateMismatch } from "../engine/replayer.ts";
import { findCheckpoint } from "../engine/state-file.ts";
import { FileRefused, isSystemError } from "../regular-file.ts";

/** An open file that should be a journal: of a data directory, or a report. */
export interface JournalCandidate {
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
 * Opens a journal read-only; another process may be writing to it.
 * @throws DataFileError `usage` if there is none, `corrupt` if its first line is damaged, `newer`.
 */
export function openSource(disk: Disk, name: string): JournalSource {
  const candidate = openCandidate(disk, name);
  const { path, file } = candidate;
  try {
    const opening = openingIn(file);
    if (opening === null) {
      const problem = firstProblem(candidate, (damage) => damageText(path, name, damage));
      throw new DataFileError("corrupt", problem);
    }
    assertKnown(opening, path);
    return { ...candidate, opening };
  } catch (error) {
    file.close();
    throw error;
  }
}

/**
 * Opens a file that should be a journal.
 * @throws DataFileError `usage` if there is none, `corrupt` if a data directory has lost it
 */
export function openCandidate(disk: Disk, name: string): JournalCandidate {
  const names = namesIn(disk, name);
  if (names === null)
    throw new DataFileError("usage", `there is no ${name}: expected a data directory or a report`);
  const isFolder = names !== "a file";
  if (isFolder && !names.includes(JOURNAL_FILE)) {
    assertNoStateFile(disk, name);
    const problem = `has no ${JOURNAL_FILE}: it is not a data directory of clobsim serve`;
    throw new DataFileError("usage", `${name} ${problem}`);
  }
  const path = isFolder ? join(name, JOURNAL_FILE) : name;
  try {
    return { path, name, isFolder, file: disk.open(path, "read") };
  } catch (error) {
    const isBrokenLink = isSystemError(error, "ENOENT");
    if (!(error instanceof FileRefused || isBrokenLink)) throw error;
    const problem = isBrokenLink ? "expected a file, found a link to nothing" : error.message;
    throw new DataFileError(isFolder ? "corrupt" : "usage", `${path}: ${problem}`);
  }
}

/** Whether damage is more than the torn end that a crash can leave in the journal of a data directory. */
export const isCorrupt = ({ isFolder }: JournalCandidate, { proof }: Damage): boolean =>
  proof !== null || !isFolder;

/** @throws DataFileError `corrupt` if a journal is damaged in another way. */
export function assertIntact(source: JournalSource, damage: Damage | null): void {
  if (damage === null || !isCorrupt(source, damage)) return;
  throw new DataFileError("corrupt", damageText(source.path, source.name, damage));
}

/** Returns the error with which a data directory refuses to open because its journal lacks lines of its state; null if none. */
export function lostLinesError(disk: Disk, { name, isFolder, file }: JournalCandidate): DataFileError | null {
  try {
    if (isFolder) findCheckpoint(disk, name, file, () => {});
    return null;
  } catch (error) {
    const explained = asDataFileError(error, name);
    if (explained instanceof DataFileError && explained.problem === "corrupt") return explained;
    throw error;
  }
}

/** Returns what is wrong with a journal without a first line. @throws DataFileError `usage` if it is no journal at all. */
function firstProblem({ path, isFolder, file }: JournalCandidate, text: (damage: Damage) => string): string {
  if (!isFolder && !isJournalFile(file))
    throw new DataFileError("usage", `${path} is neither a report nor the journal of a data directory`);
  const damage = firstDamage(file);
  return damage === null ? `${path} is empty` : text(damage);
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
  return bytes.equals(FIRST_BYTES) || hasLine(file);
}

/** The failed scenario in a report, with its line. */
export interface ReportedScenario {
  readonly line: number;
  readonly sources: ControlRecords["scenario"];
}

/** Returns the failed scenario in a report; null if it has none. @throws DataFileError if the report is damaged */
export function scenarioIn(source: JournalSource): ReportedScenario | null {
  let found: ReportedScenario | null = null;
  const { damage } = scan(source.file, BEGINNING, (line) => {
    if (isControl(line, "scenario")) found = { line: line.n, sources: line.d };
  });
  assertIntact(source, damage);
  return found;
}

/** Result of checking one part of a data directory. */
export interface Finding {
  readonly part: string;
  readonly text: string;
  /** Problem with which opening the directory fails; null if it does not. */
  readonly problem: DataFileProblem | null;
  /** Whether the user should know of it although opening succeeds. */
  readonly isNotable?: boolean;
}

/** Checks a data directory as opening it does, and changes nothing. */
export function checkDataDir(disk: Disk, folder: string): readonly Finding[] {
  const findings: Finding[] = [];
  const check: Check = (part, find) => {
    try {
      const found = find();
      if (found !== null) findings.push({ part, problem: null, ...found });
    } catch (error) {
      const differs = error instanceof ReplayDiffers && new DataFileError("differs", error.message);
      const explained = differs || asDataFileError(error, folder);
      if (!(explained instanceof DataFileError)) throw error;
      findings.push({ part, text: explained.message, problem: explained.problem });
    }
  };
  check("directory", () => {
    assertOwnFolder(disk, folder);
    const names = disk.names(folder);
    if (names === null) return { text: "does not exist yet: clobsim serve creates it" };
    if (!names.includes(JOURNAL_FILE)) assertNoStateFile(disk, folder);
    check("lock", () => lockFinding(disk, folder));
    if (names.includes(JOURNAL_FILE)) check("journal", () => checkJournal(disk, folder, check));
    return null;
  });
  return findings;
}

/** Adds the finding about a part, or the error that opening it throws. @throws errors that are not about the directory */
type Check = (part: string, find: () => Found | null) => void;

function checkJournal(disk: Disk, folder: string, check: Check): Found | null {
  const path = join(folder, JOURNAL_FILE);
  // The file is there, and opening the directory fails if it cannot be written.
  const file = disk.open(path, "write");
  try {
    const opening = openingIn(file);
    if (opening === null) {
      const damage = openingDamage(disk, folder, file);
      if (damage !== null) return damageFinding(path, damage);
      assertNoStateFile(disk, folder);
      return { text: "empty" };
    }
    assertKnown(opening, path);
    const source = { path, file, opening };
    check("journal", () => journalFinding(source));
    checkState(disk, folder, source, check);
    return null;
  } finally {
    file.close();
  }
}

/** Finds the state from which recovery starts, and replays the rest of the journal. */
function checkState(disk: Disk, folder: string, source: Source, check: Check): void {
  check(STATE_FILE, () => {
    const base = findCheckpoint(disk, folder, source.file, (text) => {
      check(STATE_FILE, () => ({ text, isNotable: true }));
    });
    const text =
      base === null
        ? "no usable state: the whole journal is replayed"
        : `the state after line ${base.header.line}, its SHA-256 is correct`;
    check(STATE_FILE, () => ({ text }));
    check("replay", () => {
      const origin = originOfJournal(source.opening, source.path);
      const exchange = new Exchange(origin.config, origin.start);
      const differing: number[] = [];
      const { damage, replayer } = replayJournal(exchange, origin, source, base, (line) => {
        if (stateMismatch(line, exchange) !== null) differing.push(line.n);
      });
      if (damage !== null) check("journal", () => damageFinding(source.path, damage));
      const text = `${counted(replayer.commands, "command")} after that, as recorded`;
      const [line] = differing;
      if (line === undefined) return { text };
      const problem = `but the state at line ${line} is not the recorded one`;
      return {
        text: `${text}, ${problem}: clobsim replay ${shellPath(folder)} compares them`,
        isNotable: true,
      };
    });
    return null;
  });
}

type Found = Omit<Finding, "part" | "problem"> & { readonly problem?: DataFileProblem };
type Source = Pick<JournalSource, "path" | "file" | "opening">;

function lockFinding(disk: Disk, folder: string): Found {
  const lock = lockStateOf(disk, folder);
  if (lock.kind === "held") return { text: lock.error.message, problem: lock.error.problem };
  const text =
    lock.kind === "free"
      ? "no process uses the directory"
      : "left by a process that has ended: the next start replaces it";
  return { text, isNotable: lock.kind === "stale" };
}

/** Describes the length of the journal, and its latest clean stop. */
function journalFinding({ path, file }: Source): Found {
  const seen: { last?: Line; close?: Line } = {};
  const { number, offset, damage } = scan(file, BEGINNING, (line) => {
    assertNotNewer(line, path);
    seen.last = line;
    if (isControl(line, "close")) seen.close = line;
  });
  const { last, close } = seen;
  const end = last === undefined ? "" : `, up to ${toIso(last.t)}`;
  const since = close === last ? "stopped cleanly" : `last stopped cleanly at line ${close?.n}`;
  const stop = close === undefined ? "never stopped cleanly" : since;
  const intact = `${number} lines, ${offset} bytes${end}`;
  if (damage === null) return { text: `${intact}; ${stop}` };
  const rest = `${counted(damage.bytes, "byte")} after that cannot be replayed`;
  const advice =
    damage.proof === null ? "" : `: clobsim repair ${shellPath(dirname(path))} says why, and what is lost`;
  return { text: `${intact}; ${rest}${advice}`, isNotable: true };
}

function damageFinding(path: string, damage: Damage): Found {
  const { offset, line, bytes, proof } = damage;
  if (proof !== null) return { text: damageText(path, dirname(path), damage), problem: "corrupt" };
  return {
    text: `torn by a crash at byte ${offset}, where line ${line} should begin: the next start moves ${counted(bytes, "byte")} to a separate file and continues`,
    isNotable: true,
  };
}

export type RepairPlan = ReturnType<typeof planRepair>;
export type Loss = ReturnType<typeof lossFrom>;

/**
 * Finds the undamaged part of a journal with a correct first line: its lines, their bytes, and the time of the last.
 * `damage` is the place and kind of the damage after that, `lost` the rest; both are null if there is none.
 */
export function planRepair({ path, file }: JournalCandidate) {
  let until = millis(0);
  const { number, offset, damage } = scan(file, BEGINNING, ({ t }) => {
    until = t;
  });
  const intact = { lines: number, bytes: offset, until };
  if (damage === null) return { ...intact, damage, lost: null };
  return { ...intact, damage: describeDamage(path, damage), lost: lossFrom(file, damage) };
}

/**
 * Returns the error in the first line of a journal, without which no other line can be used; null if an exchange can be
 * opened with it.
 * @throws DataFileError `newer`; `usage` if it is no journal.
 */
export function openingProblem(candidate: JournalCandidate): string | null {
  const { path, file } = candidate;
  const opening = openingIn(file);
  if (opening === null) return firstProblem(candidate, (damage) => describeDamage(path, damage));
  assertKnown(opening, path);
  try {
    exchangeAt(originOfJournal(opening, path));
    return null;
  } catch (error) {
    if (error instanceof DataFileError && error.problem === "corrupt") return error.message;
    throw error;
  }
}

/**
 * Counts the lines from the damage on, and the undamaged ones among them, with the time of the last of these. A last
 * line without its line feed is incomplete.
 */
function lossFrom(file: DiskFile, { offset, bytes }: Damage) {
  const end = offset + bytes;
  let [at, lines, intact] = [offset, 0, 0];
  let until: Millis | null = null;
  for (const each of rawLines(file, offset)) {
    if (at >= end) break;
    at += each.length + 1;
    lines += 1;
    const line = at <= end ? parseLine(each) : null;
    if (line === null) continue;
    intact += 1;
    until = line.t;
  }
  return { bytes, lines, intact, until };
}

/**
 * Copies the first bytes of a journal into a new data directory.
 * @throws DataFileError `usage` if the directory exists and is not empty, or is inside the damaged one.
 */
export function copyIntact(disk: Disk, { name, file }: JournalCandidate, bytes: number, folder: string) {
  const names = namesIn(disk, folder);
  if (names !== null && names.length > 0) {
    const found = names === "a file" ? names : names[0];
    const expected = "--out expects a directory that is new or empty";
    throw new DataFileError("usage", `${expected}, found ${found} at ${folder}`);
  }
  if (`${resolve(folder)}${sep}`.startsWith(`${resolve(name)}${sep}`))
    throw new DataFileError("usage", `--out expects a directory outside ${name}, found ${folder}`);
  disk.makeFolder(folder);
  const copied = copyBytes(disk, file, { offset: 0, bytes }, join(folder, JOURNAL_FILE));
  if (copied < bytes)
    throw new DataFileError("disk", `the journal ends at byte ${copied} now, it had ${bytes}`);
  disk.syncFolder(folder);
}
