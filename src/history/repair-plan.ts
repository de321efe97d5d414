import { join, resolve, sep } from "node:path";
import { type Millis, millis } from "../core/units.ts";
import { copyBytes, type Disk, type DiskFile } from "../engine/disk.ts";
import { JOURNAL_FILE } from "../engine/files.ts";
import { StoreError } from "../engine/journal.ts";
import { parseLine } from "../engine/journal-codec.ts";
import { assertKnown, BEGINNING } from "../engine/journal-line.ts";
import {
  type Damage,
  describeDamage,
  firstDamage,
  openingIn,
  rawLines,
  scan,
} from "../engine/journal-scan.ts";
import { exchangeAt, originOfJournal } from "../engine/origin.ts";
import { assertJournal, type JournalCandidate } from "./journal-source.ts";

/** The undamaged part of a journal, and the loss of the rest. */
export interface RepairPlan {
  /** Error in the first line, without which no other line can be used; null if there is none. */
  readonly fault: string | null;
  /** Place and kind of the first damage after the first line; null if there is none. */
  readonly damage: string | null;
  /** Number of lines before the damage, their bytes, and the time of the last. */
  readonly lines: number;
  readonly bytes: number;
  readonly until: Millis;
  /** Null if there is no damage. */
  readonly lost: Loss | null;
}

export type Loss = ReturnType<typeof lossFrom>;

/**
 * Finds the undamaged part of a journal. Changes nothing.
 * @throws StoreError `newer`; `usage` if it is no journal.
 */
export function planRepair(candidate: JournalCandidate, engine: string): RepairPlan {
  const fault = faultInOpening(candidate, engine);
  if (fault !== null) return { fault, damage: null, lines: 0, bytes: 0, until: millis(0), lost: null };
  let until = millis(0);
  const { path, file } = candidate;
  const { number, offset, damage } = scan(file, BEGINNING, ({ t }) => {
    until = t;
  });
  const intact = { fault, lines: number, bytes: offset, until };
  if (damage === null) return { ...intact, damage, lost: null };
  return { ...intact, damage: describeDamage(path, damage), lost: lossFrom(file, damage) };
}

/** Returns the error in the first line of a journal; null if an exchange can be opened with it. */
function faultInOpening(candidate: JournalCandidate, engine: string): string | null {
  const { path, file } = candidate;
  const opening = openingIn(file);
  if (opening === null) {
    assertJournal(candidate);
    const damage = firstDamage(file);
    return damage === null ? `${path} is empty` : describeDamage(path, damage);
  }
  assertKnown(opening, path, engine);
  try {
    exchangeAt(originOfJournal(opening, path));
    return null;
  } catch (error) {
    if (error instanceof StoreError && error.problem === "corrupt") return error.message;
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
 * @throws StoreError `usage` if the directory exists and is not empty, or is inside the damaged one.
 */
export function copyIntact(
  disk: Disk,
  { name, file }: JournalCandidate,
  bytes: number,
  folder: string,
): void {
  assertNew(disk, folder);
  assertOutside(name, folder);
  disk.makeFolder(folder);
  const copied = copyBytes(disk, file, { offset: 0, bytes }, join(folder, JOURNAL_FILE));
  if (copied < bytes) throw new StoreError("disk", `the journal ends at byte ${copied} now, it had ${bytes}`);
  disk.syncFolder(folder);
}

function assertOutside(source: string, folder: string): void {
  if (!`${resolve(folder)}${sep}`.startsWith(`${resolve(source)}${sep}`)) return;
  throw new StoreError("usage", `--out expects a directory outside ${source}, found ${folder}`);
}

function assertNew(disk: Disk, folder: string): void {
  let found = "a file";
  try {
    const names = disk.names(folder);
    if (names === null || names.length === 0) return;
    found = names[0] as string;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
  }
  throw new StoreError(
    "usage",
    `--out expects a directory that is new or empty, found ${found} at ${folder}`,
  );
}
