import { join } from "node:path";
import { type Millis, millis } from "../core/units.ts";
import { copyBytes, type Disk, type DiskFile } from "../engine/disk.ts";
import { JOURNAL_FILE } from "../engine/files.ts";
import { parseLine } from "../engine/journal-codec.ts";
import { BEGINNING } from "../engine/journal-line.ts";
import { describeDamage, firstDamage, openingIn, rawLines, scan } from "../engine/journal-scan.ts";
import { originOfJournal } from "../engine/origin.ts";
import { assertKnown, StoreError } from "../engine/store-error.ts";
import { type JournalPlace, requireJournal } from "./journal-source.ts";
import { exchangeAt } from "./report.ts";

/** What of a journal is whole, and what is lost with the rest. */
export interface RepairPlan {
  /** What is wrong with the first line, without which no other means anything; null when nothing is. */
  readonly fault: string | null;
  /** Where the first damage is, and what is wrong there; null when there is none behind the first line. */
  readonly damage: string | null;
  /** The last line that is whole, with all before it, and the bytes up to its end. */
  readonly lines: number;
  readonly bytes: number;
  readonly until: Millis;
  /** Null when there is no damage. */
  readonly lost: Loss | null;
}

export type Loss = ReturnType<typeof lossFrom>;

/**
 * Looks how far a journal is whole. Touches nothing.
 * @throws StoreError `newer`; `usage` when it is no journal.
 */
export function repairPlanOf(place: JournalPlace, engine: string): RepairPlan {
  const fault = faultInOpening(place, engine);
  if (fault !== null) return { fault, damage: null, lines: 0, bytes: 0, until: millis(0), lost: null };
  let until = millis(0);
  const { number, offset, damage } = scan(place.file, BEGINNING, ({ t }) => {
    until = t;
  });
  const whole = { fault, lines: number, bytes: offset, until };
  if (damage === null) return { ...whole, damage, lost: null };
  return { ...whole, damage: describeDamage(place.path, damage), lost: lossFrom(place.file, offset) };
}

/** What is wrong with the first line of a journal; null when an exchange can be opened with it. */
function faultInOpening(place: JournalPlace, engine: string): string | null {
  const { path, file } = place;
  const opening = openingIn(file);
  if (opening === null) {
    requireJournal(place);
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
 * How many bytes and lines, whole or not, stand from there on; how many of the lines are whole, though they follow on
 * nothing, and the moment of the last of these.
 */
function lossFrom(file: DiskFile, offset: number) {
  let [bytes, lines, whole] = [0, 0, 0];
  let until: Millis | null = null;
  for (const each of rawLines(file, offset)) {
    bytes += each.length + 1;
    lines += 1;
    const line = parseLine(each);
    if (line === null) continue;
    whole += 1;
    until = line.t;
  }
  return { bytes: Math.min(bytes, file.size - offset), lines, whole, until };
}

/**
 * Copies the first bytes of a journal into a new data directory.
 * @throws StoreError `usage` when there is something at that place.
 */
export function copyWhole(disk: Disk, { file }: JournalPlace, bytes: number, folder: string): void {
  requireNew(disk, folder);
  disk.makeFolder(folder);
  const copied = copyBytes(disk, file, { offset: 0, bytes }, join(folder, JOURNAL_FILE));
  if (copied < bytes) throw new StoreError("disk", `the journal ends at byte ${copied} now, it had ${bytes}`);
  disk.syncFolder(folder);
}

function requireNew(disk: Disk, folder: string): void {
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
