import { join } from "node:path";
import { copyBytes, type Disk, type DiskFile, type Range } from "./disk.ts";
import { JOURNAL_FILE, nextTornFile } from "./files.ts";
import type { Damage } from "./journal-scan.ts";
import { StoreError } from "./store-error.ts";

/** What can be done about a damaged journal: that of a folder, or a report. */
export const repairHint = (damaged: string): string =>
  `clobsim repair --accept-loss ${damaged} --out NEW makes a new directory of what is whole`;

/** The end of a journal that a crash has torn off. */
export interface TornEnd {
  /** Where what was cut off is kept. */
  readonly file: string;
  readonly bytes: number;
}

/** @throws StoreError when what stands at the end of a folder's journal is more than torn. */
export function demandTorn({ offset, line, proof }: Damage, folder: string): void {
  if (proof === null) return;
  throw new StoreError(
    "corrupt",
    `${join(folder, JOURNAL_FILE)} is damaged at byte ${offset}, where line ${line} should begin: ${proof}. Nothing was touched; ${repairHint(folder)}`,
  );
}

/** Keeps what a crash has torn in a file of its own, and takes it off the journal. */
export function cutOff(disk: Disk, folder: string, journal: DiskFile, { offset, bytes }: Range): TornEnd {
  const file = nextTornFile(disk, folder);
  copyBytes(disk, journal, { offset, bytes }, file);
  disk.syncFolder(folder);
  journal.cut(offset);
  journal.sync();
  return { file, bytes };
}
