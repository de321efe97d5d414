import { dirname, join } from "node:path";
import { counted } from "../core/format.ts";
import { toIso } from "../core/time.ts";
import type { Disk } from "../engine/disk.ts";
import { Exchange } from "../engine/exchange.ts";
import {
  assertNoStateFile,
  assertOwnFolder,
  JOURNAL_FILE,
  lockStateOf,
  STATE_FILE,
} from "../engine/files.ts";
import { StoreError, type StoreProblem } from "../engine/journal.ts";
import { assertKnown, assertNotNewer, BEGINNING, isControl, type Line } from "../engine/journal-line.ts";
import { type Damage, damageText, openingDamage, openingIn, scan } from "../engine/journal-scan.ts";
import { originOfJournal } from "../engine/origin.ts";
import { ReplayDiffers, replayJournal } from "../engine/replayer.ts";
import { findCheckpoint } from "../engine/state-file.ts";
import { FileRefused } from "../regular-file.ts";
import type { JournalSource } from "./journal-source.ts";

/** Result of checking one part of a data directory. */
export interface Finding {
  readonly part: string;
  readonly text: string;
  /** Problem with which opening the directory fails; null if it does not. */
  readonly problem: StoreProblem | null;
  /** Whether the user should know of it although opening succeeds. */
  readonly isNotable?: boolean;
}

/** Checks a data directory as opening it does, and changes nothing. */
export function checkDataDir(disk: Disk, folder: string, engine: string): readonly Finding[] {
  const findings: Finding[] = [];
  const check: Check = (part, find) => {
    try {
      const found = find();
      if (found !== null) findings.push({ part, problem: null, ...found });
    } catch (error) {
      findings.push({ part, ...problemOf(error) });
    }
  };
  check("directory", () => {
    assertOwnFolder(disk, folder);
    const names = disk.names(folder);
    if (names === null) return { text: "does not exist yet: clobsim serve creates it" };
    if (!names.includes(JOURNAL_FILE)) assertNoStateFile(disk, folder);
    check("lock", () => lockFinding(disk, folder));
    if (names.includes(JOURNAL_FILE)) check("journal", () => checkJournal(disk, folder, engine, check));
    return null;
  });
  return findings;
}

/** Adds the finding about a part, or the error that opening it throws. @throws errors that are not about the directory */
type Check = (part: string, find: () => Found | null) => void;

function checkJournal(disk: Disk, folder: string, engine: string, check: Check): Found | null {
  const path = join(folder, JOURNAL_FILE);
  const file = disk.open(path, "read");
  try {
    const opening = openingIn(file);
    if (opening === null) {
      const damage = openingDamage(disk, folder, file);
      if (damage !== null) return damageFinding(path, damage);
      assertNoStateFile(disk, folder);
      return { text: "empty" };
    }
    assertKnown(opening, path, engine);
    const source = { path, file, opening };
    check("journal", () => journalFinding(source, engine));
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
      const { damage, replayer } = replayJournal(exchange, () => origin.play(exchange), source, base);
      if (damage !== null) check("journal", () => damageFinding(source.path, damage));
      return { text: `${counted(replayer.commands, "command")} after that, as recorded` };
    });
    return null;
  });
}

type Found = Omit<Finding, "part" | "problem"> & { readonly problem?: StoreProblem };
type Source = Pick<JournalSource, "path" | "file" | "opening">;

/** @throws the error if it is not about the directory. */
function problemOf(error: unknown): Omit<Finding, "part"> {
  if (error instanceof FileRefused) return { text: `${error.path}: ${error.message}`, problem: "corrupt" };
  if (error instanceof StoreError) return { text: error.message, problem: error.problem };
  if (error instanceof ReplayDiffers) return { text: error.message, problem: "differs" };
  if (error instanceof Error && "syscall" in error) return { text: error.message, problem: "disk" };
  throw error;
}

function lockFinding(disk: Disk, folder: string): Found {
  const lock = lockStateOf(disk, folder);
  if (lock.kind === "held") return { text: lock.error.message, problem: lock.error.problem };
  const text =
    lock.kind === "free"
      ? "no process uses the directory"
      : "left by a process that has ended: the next start replaces it";
  return { text, isNotable: lock.kind === "left" };
}

/** Describes the length of the journal, and its latest clean stop. */
function journalFinding({ path, file }: Source, engine: string): Found {
  let last: Line | null = null;
  let closed: Line | null = null;
  const { number, offset, damage } = scan(file, BEGINNING, (line) => {
    assertNotNewer(line, path, engine);
    last = line;
    if (isControl(line, "close")) closed = line;
  });
  const lastLine = last as Line | null;
  const close = closed as Line | null;
  const end = lastLine === null ? "" : `, up to ${toIso(lastLine.t)}`;
  const stop =
    close === null
      ? "never stopped cleanly"
      : close === lastLine
        ? "stopped cleanly"
        : `last stopped cleanly at line ${close.n}`;
  const intact = `${number} lines, ${offset} bytes${end}`;
  if (damage === null) return { text: `${intact}; ${stop}` };
  const text = `${intact}; ${counted(damage.bytes, "byte")} after that cannot be replayed`;
  return { text, isNotable: true };
}

function damageFinding(path: string, damage: Damage): Found {
  const { offset, line, bytes, proof } = damage;
  if (proof !== null) return { text: damageText(path, dirname(path), damage), problem: "corrupt" };
  return {
    text: `torn by a crash at byte ${offset}, where line ${line} should begin: the next start moves ${counted(bytes, "byte")} to a separate file and continues`,
    isNotable: true,
  };
}
