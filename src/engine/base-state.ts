import { Buffer } from "node:buffer";
import { dirname } from "node:path";
import type { Snapshot } from "../engine/exchange.ts";
import type { DiskFile } from "./disk.ts";
import type { JournalEnd } from "./journal-end.ts";
import { isNote, type Line } from "./journal-line.ts";
import { linesGoneBackTo } from "./journal-scan.ts";
import { parseLine } from "./line-reader.ts";
import type { KeptState } from "./state-file.ts";
import type { StateHeader } from "./state-header.ts";
import { StoreError } from "./store-error.ts";
import { repairHint } from "./torn-end.ts";

/** A state as an exchange goes on from it. */
export function standingIn({ header: { now, sequence, digest }, state }: KeptState): Snapshot {
  if (digest === null) throw new Error("a state that does not tell its history cannot be gone on from");
  return { state, now, sequence, digest, mark: null };
}

/** Where in a journal a state stands. */
export const endOf = ({ header: { line, check, offset } }: KeptState): JournalEnd => ({
  number: line,
  check: Number.parseInt(check, 16),
  offset,
});

/**
 * The first of some states, newest first, from which all that comes after it in a journal can be told: nothing goes back
 * to what was before, and it tells the digest of its history, which earlier versions did not write. Null when there is none, and all begins at the opening. One that is damaged is told of.
 * @throws StoreError when a state is of another journal, or the journal has lost what the state has seen of it.
 */
export function baseAmong(
  readers: readonly (() => KeptState | null)[],
  journal: DiskFile,
  path: string,
  damaged: (message: string) => void,
): KeptState | null {
  for (const read of readers) {
    let kept: KeptState | null = null;
    try {
      kept = read();
    } catch (error) {
      if (!(error instanceof StoreError) || error.problem !== "corrupt") throw error;
      damaged(error.message);
    }
    if (kept !== null && leadsOn(kept.header, journal, path)) return kept;
  }
  return null;
}

function leadsOn({ line, check, offset, digest }: StateHeader, journal: DiskFile, path: string): boolean {
  const end = Buffer.from(`,"c":"${check}"}\n`, "latin1");
  const found = Buffer.alloc(end.length);
  if (offset > journal.size) {
    throw new StoreError(
      "corrupt",
      `${path} ends at byte ${journal.size}, and its line ${line} was on the disk up to byte ${offset}: ${repairHint(dirname(path))}`,
    );
  }
  journal.read(found, Math.max(0, offset - end.length));
  if (!found.equals(end)) {
    throw new StoreError(
      "corrupt",
      `${path} has another line ${line}, up to byte ${offset}, than the state that was made after it: ${repairHint(dirname(path))}`,
    );
  }
  if (digest === null) return false;
  for (const earlier of linesGoneBackTo(journal, { number: line, check: 0, offset })) {
    if (earlier < line) return false;
  }
  return true;
}

/** No line that says how a program has stopped is longer. */
const LONGEST_CLOSE = 1024;
const LINE_FEED = 10;

/** Whether the line that ends at a place says that the program had stopped in good order. */
export function isClosedAt(journal: DiskFile, offset: number): boolean {
  const start = Math.max(0, offset - LONGEST_CLOSE);
  const bytes = Buffer.alloc(Math.max(0, offset - start - 1));
  journal.read(bytes, start);
  const line: Line | null = parseLine(bytes.subarray(bytes.lastIndexOf(LINE_FEED) + 1));
  return line !== null && isNote(line, "close");
}
