import { join } from "node:path";
import type { Millis } from "../core/units.ts";
import { type Disk, type DiskFile, writeWhole } from "../store/disk.ts";
import { JOURNAL_FILE } from "../store/files.ts";
import type { Line } from "../store/journal-line.ts";
import { BEGINNING, piecesOf, scan } from "../store/journal-scan.ts";
import { parseLine } from "../store/line-reader.ts";
import { StoreError } from "../store/store-error.ts";
import type { JournalSource } from "./journal-source.ts";

const LINE_FEED = 10;
const COPY_CHUNK = 1 << 22;

/** What of a journal is whole, and what is lost with the rest. */
export interface Salvage {
  /** The last line that is whole, with all before it, and the bytes up to its end. */
  readonly lines: number;
  readonly bytes: number;
  readonly until: Millis;
  /** Null when there is no damage. */
  readonly lost: Loss | null;
}

export interface Loss {
  readonly bytes: number;
  /** How many lines begin there, whole or not. */
  readonly lines: number;
  /** Those of them that are whole, and follow on nothing. */
  readonly whole: number;
  /** The moment of the last of these. */
  readonly until: Millis | null;
}

/** Looks how far a journal is whole. Touches nothing. */
export function salvageOf({ file }: JournalSource): Salvage {
  let last: Line | null = null;
  const { number, offset, damage } = scan(file, BEGINNING, (line) => {
    last = line;
  });
  const until = (last as Line | null)?.t ?? (0 as Millis);
  return { lines: number, bytes: offset, until, lost: damage === null ? null : lossFrom(file, offset) };
}

function lossFrom(file: DiskFile, offset: number): Loss {
  let [bytes, lines, whole] = [0, 0, 0];
  let until: Millis | null = null;
  for (const piece of piecesOf(file, offset)) {
    bytes += piece.length;
    for (let start = 0; start < piece.length; ) {
      const feed = piece.indexOf(LINE_FEED, start);
      const end = feed < 0 ? piece.length : feed;
      const line = parseLine(piece.subarray(start, end));
      lines += 1;
      if (line !== null) {
        whole += 1;
        until = line.t;
      }
      start = end + 1;
    }
  }
  return { bytes, lines, whole, until };
}

/**
 * Copies the first bytes of a journal into a new data directory.
 * @throws StoreError `usage` when there is something at that place.
 */
export function copyWhole(disk: Disk, { file }: JournalSource, bytes: number, folder: string): void {
  demandNew(disk, folder);
  disk.makeFolder(folder);
  const copy = disk.open(join(folder, JOURNAL_FILE), "new");
  try {
    const chunk = new Uint8Array(COPY_CHUNK);
    for (let done = 0; done < bytes; ) {
      const length = file.read(chunk.subarray(0, Math.min(COPY_CHUNK, bytes - done)), done);
      if (length === 0) throw new StoreError("disk", `the journal ends at byte ${done} now, it had ${bytes}`);
      writeWhole(copy, chunk.subarray(0, length), done);
      done += length;
    }
    copy.sync();
  } finally {
    copy.close();
  }
  disk.syncFolder(folder);
}

function demandNew(disk: Disk, folder: string): void {
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
