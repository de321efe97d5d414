import { join } from "node:path";
import { copyBytes, type Disk, type DiskFile, type Range } from "./disk.ts";
import { JOURNAL_FILE, nextTornFile, stateKept } from "./files.ts";
import { type Damage, firstDamage } from "./journal-scan.ts";
import { StoreError } from "./store-error.ts";

/** What can be done about a damaged journal: that of a folder, or a report. */
export const repairHint = (damaged: string): string =>
  `clobsim repair --accept-loss ${damaged} --out NEW makes a new directory of what is whole`;

/** Where a journal is damaged, what is wrong there, and how to look at it. */
export const damagePlace = (path: string, { offset, line, bytes, proof }: Damage): string =>
  `${path} is damaged at byte ${offset}, where line ${line} should begin: ${proof ?? `${bytes} bytes are no whole line`} (sed -n ${line}p ${path} prints it)`;

/** The same with what can be done about it; `name` is that of the folder or report. */
export function damageText(path: string, name: string, damage: Damage): string {
  const remedy = damage.line === 1 ? `clobsim repair ${name} says what can be saved` : repairHint(name);
  return `${damagePlace(path, damage)}; ${remedy}`;
}

/** What is wrong with the beginning of a folder's journal; a state beside it was made when the journal was whole. */
export function openingDamage(disk: Disk, folder: string, journal: DiskFile): Damage | null {
  const damage = firstDamage(journal);
  const state = stateKept(disk, folder);
  if (damage === null || damage.proof !== null || state === null) return damage;
  return { ...damage, proof: `it is not whole, and ${state} was made when it was` };
}

/** The end of a journal that a crash has torn off. */
export interface TornEnd {
  /** Where what was cut off is kept. */
  readonly file: string;
  readonly bytes: number;
}

/** @throws StoreError when what stands at the end of a folder's journal is more than torn. */
export function demandTorn(damage: Damage, folder: string): void {
  if (damage.proof === null) return;
  throw new StoreError("corrupt", damageText(join(folder, JOURNAL_FILE), folder, damage));
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
