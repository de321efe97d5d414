import { dirname, join } from "node:path";
import { counted } from "../core/format.ts";
import { toIso } from "../core/time.ts";
import type { Disk } from "../engine/disk.ts";
import { Exchange } from "../engine/exchange.ts";
import {
  assertNoStateFile,
  assertOwnFolder,
  JOURNAL_FILE,
  PREVIOUS_STATE_FILE,
  STATE_FILE,
} from "../engine/files.ts";
import { lockStateOf } from "../engine/folder-lock.ts";
import { BEGINNING, isControl, type Line } from "../engine/journal-line.ts";
import { type Damage, damageText, openingDamage, openingIn, scan } from "../engine/journal-scan.ts";
import { originOfJournal } from "../engine/origin.ts";
import { ReplayDiffers, replayJournal } from "../engine/replayer.ts";
import { findCheckpoint, readStateFile } from "../engine/state-file.ts";
import { assertKnown, assertNotNewer, StoreError, type StoreProblem } from "../engine/store-error.ts";
import { FileRefused } from "../regular-file.ts";
import type { JournalSource } from "./journal-source.ts";

/** What was found out about one part of a data directory. */
export interface Finding {
  readonly part: string;
  readonly text: string;
  /** What the program would end with that opens it; null when it would go on. */
  readonly problem: StoreProblem | null;
  /** Whether a person should know, though the program goes on. */
  readonly isNotable?: boolean;
}

/** Looks at a data directory as the program does that opens it, and touches nothing. */
export function examine(disk: Disk, folder: string, engine: string): readonly Finding[] {
  const findings: Finding[] = [];
  const look: Look = (part, find) => {
    try {
      const found = find();
      if (found !== null) findings.push({ part, problem: null, ...found });
    } catch (error) {
      findings.push({ part, ...problemOf(error) });
    }
  };
  look("directory", () => {
    assertOwnFolder(disk, folder);
    const names = disk.names(folder);
    if (names === null) return { text: "there is none yet: clobsim serve makes it" };
    if (!names.includes(JOURNAL_FILE)) assertNoStateFile(disk, folder);
    look("lock", () => lockFinding(disk, folder));
    if (names.includes(JOURNAL_FILE)) look("journal", () => lookIntoJournal(disk, folder, engine, look));
    return null;
  });
  return findings;
}

/** Notes what is found of a part, or what keeps the program from opening it. @throws what is not about the directory */
type Look = (part: string, find: () => Found | null) => void;

function lookIntoJournal(disk: Disk, folder: string, engine: string, look: Look): Found | null {
  const path = join(folder, JOURNAL_FILE);
  const file = disk.open(path, "read");
  try {
    const opening = openingIn(file);
    if (opening === null) {
      const damage = openingDamage(disk, folder, file);
      if (damage !== null) return damageFound(path, damage);
      assertNoStateFile(disk, folder);
      return { text: "nothing is in it yet" };
    }
    assertKnown(opening, path, engine);
    const source = { path, file, opening };
    look("journal", () => journalFound(source, engine));
    look(STATE_FILE, () => stateFound(disk, folder, source, look));
    return null;
  } finally {
    file.close();
  }
}

/** Which state the program would begin from, and where the journal leads from there. */
function stateFound(disk: Disk, folder: string, source: Source, look: Look): null {
  const readers = [STATE_FILE, PREVIOUS_STATE_FILE].map(
    (name) => () => readStateFile(disk, join(folder, name)),
  );
  const base = findCheckpoint(readers, source.file, source.path, (text) => {
    look(STATE_FILE, () => ({ text, isNotable: true }));
  });
  const text =
    base === null
      ? "no state to begin from: the whole journal is replayed"
      : `the state after line ${base.header.line}, its SHA-256 is right`;
  look(STATE_FILE, () => ({ text }));
  look("replay", () => {
    const origin = originOfJournal(source.opening, source.path);
    const exchange = new Exchange(origin.config, origin.start);
    const { damage, replayer } = replayJournal(exchange, () => origin.play(exchange), source, base);
    if (damage !== null) look("journal", () => damageFound(source.path, damage));
    return { text: `${counted(replayer.commands, "command")} after that, as recorded` };
  });
  return null;
}

type Found = Omit<Finding, "part" | "problem"> & { readonly problem?: StoreProblem };
type Source = Pick<JournalSource, "path" | "file" | "opening">;

/** @throws whatever is not about the directory. */
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
      ? "nobody has the directory"
      : "left by a process that is gone: the next one takes it over";
  return { text, isNotable: lock.kind === "left" };
}

/** How long the journal is, and when it was closed last. */
function journalFound({ path, file }: Source, engine: string): Found {
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
      ? "never stopped in good order"
      : close === lastLine
        ? "stopped in good order"
        : `last stopped in good order at line ${close.n}`;
  const whole = `${number} lines, ${offset} bytes${end}`;
  if (damage === null) return { text: `${whole}; ${stop}` };
  const text = `${whole}; from there on ${damage.bytes} bytes are damaged, and cannot be replayed`;
  return { text, isNotable: true };
}

function damageFound(path: string, damage: Damage): Found {
  const { offset, line, bytes, proof } = damage;
  if (proof !== null) return { text: damageText(path, dirname(path), damage), problem: "corrupt" };
  return {
    text: `torn at byte ${offset}, where line ${line} should begin, by a crash: the next start keeps the ${bytes} bytes in a file of their own and goes on`,
    isNotable: true,
  };
}
