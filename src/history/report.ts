import { Buffer } from "node:buffer";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Steps } from "../core/steps.ts";
import type { Millis } from "../core/units.ts";
import type { ClockSetting } from "../engine/clock.ts";
import { nodeDisk } from "../engine/disk.ts";
import type { Exchange } from "../engine/exchange.ts";
import { ignoreInGit, JOURNAL_FILE } from "../engine/files.ts";
import { eventHash } from "../engine/hashes.ts";
import { DataFileError, type SessionLog, withRefused } from "../engine/journal.ts";
import { LineWriter } from "../engine/journal-codec.ts";
import {
  BEGINNING,
  type ControlRecords,
  FORMAT,
  type JournalEnd,
  type Line,
} from "../engine/journal-line.ts";
import { describeDamage, scan, scanInSteps } from "../engine/journal-scan.ts";
import { MemoryFile } from "../engine/memory-disk.ts";
import type { OpenedExchange } from "../engine/open-exchange.ts";
import { exchangeAt, type Origin, originOfWorld } from "../engine/origin.ts";
import { replayCommand } from "../engine/replayer.ts";
import { createComplete, isSystemError } from "../regular-file.ts";
import type { World } from "../simulation/world.ts";
import { VERSION } from "../version.ts";

/** Approximate size of the pieces in which a report is written. */
const PIECE_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);
/** Maximum size of a journal in a report over HTTP; `clobsim report` has no maximum, because it copies the file. */
export const MAX_REPORT_BYTES = 256 * 1024 * 1024;

/** Journal of a data directory, up to the end of its valid lines; null if the end must be found by a scan. */
interface JournalHistory {
  readonly kind: "journal";
  readonly path: string;
  readonly end: JournalEnd | null;
}

type SessionHistory = ReturnType<typeof sessionHistory>;

/** The history to report, as of one moment. */
type ReportedHistory = SessionHistory | JournalHistory;

export interface ReportContent {
  readonly history: ReportedHistory;
  readonly reason: string;
  readonly now: Millis;
  /** Hash of the state; empty if unknown. */
  readonly hash: string;
  readonly defect: ControlRecords["defect"] | null;
}

/** The history is too long for a report; the message is a sentence for the user. */
export class ReportTooLong extends Error {
  override readonly name = "ReportTooLong";
}

/** Describes an error as a defect, with the command whose processing threw it, if any. */
export function defectOf({ thrown }: Exchange, error: unknown): ControlRecords["defect"] {
  const message = error instanceof Error ? error.message : String(error);
  return { command: thrown !== null && thrown.error === error ? thrown.command : null, message };
}

/** Returns the history of an open exchange, whose journal must be flushed. @throws ReportTooLong */
export function historyOf(opened: OpenedExchange): ReportedHistory {
  const { folder, session, origin, clock, atSessionStart } = opened;
  if (folder !== null) {
    const path = join(folder.path, JOURNAL_FILE);
    const { size } = statSync(path);
    if (size <= MAX_REPORT_BYTES) return { kind: "journal", path, end: folder.end };
    throw new ReportTooLong(
      `the journal has ${size} bytes, and a report over HTTP ${MAX_REPORT_BYTES} at most`,
    );
  }
  return sessionHistory(origin, atSessionStart, session, clock.setting);
}

/** `open` returns an exchange in the state in which the session began; of the clock, its setting now. @throws ReportTooLong */
function sessionHistory(origin: Origin, open: () => Exchange, log: SessionLog, clock: ClockSetting) {
  const { entries, refused, refusedLeftOut } = log;
  if (entries !== null)
    return { kind: "session" as const, origin, open, entries, refused, refusedLeftOut, clock };
  throw new ReportTooLong(log.tooLong);
}

/** Returns the history of an exchange in memory that began with a world and has a frozen clock. @throws ReportTooLong */
export function historySince(
  world: World,
  { config, start }: Pick<Origin, "config" | "start">,
  log: SessionLog,
): ReportedHistory {
  const origin = originOfWorld(world, config, start);
  return sessionHistory(origin, () => exchangeAt(origin), log, { mode: "frozen", rate: 1 });
}

/** Whether a line can be the last of a report, or of the journal of a closed data directory. */
export const endsReport = ({ k }: Line): boolean => k === "report" || k === "scenario" || k === "close";

/** Warning about a file without damage whose last line cannot be the last of a report. */
export const CUT_WARNING = "the last line of a report is missing: the file may be cut";

/** Writes a report in the format of a journal. @throws Error if the journal file has become shorter */
export const reportBytes = (content: ReportContent, file?: string): Buffer =>
  Buffer.concat([...reportInPieces(content, file)]);

/** Writes a report in pieces, some of them empty. */
export function* reportInPieces(content: ReportContent, file = "FILE") {
  const { history, reason, now, hash, defect } = content;
  const writer =
    history.kind === "session" ? yield* sessionPieces(history, defect) : yield* journalPieces(history);
  if (defect !== null) writer.control("defect", defect, now, 0);
  const versions = { engine: VERSION, node: process.versions.node };
  writer.control("report", { hash, reason, ...versions, replay: `clobsim replay ${file}` }, now, 0);
  yield flushed(writer, 0);
}

/**
 * Verifies in steps that the lines of a history are in its journal, as they were written.
 * @throws DataFileError `corrupt` if the file has been changed since
 */
export function* verifyHistory(history: ReportedHistory): Steps<void> {
  if (history.kind === "session") return;
  const { path, end } = history;
  const file = nodeDisk.open(path, "read");
  try {
    let isThere = end === null;
    const { damage, offset } = yield* scanInSteps(file, BEGINNING, ({ c }, { offset }) => {
      if (offset === end?.offset) isThere = c === end.check;
    });
    if (isThere && (end !== null || damage === null || damage.proof === null)) return;
    const found = damage === null ? `${path} ends at byte ${offset}` : describeDamage(path, damage);
    throw new DataFileError("corrupt", found);
  } finally {
    file.close();
  }
}

/** Empties the buffer of a writer and returns its bytes; nothing if it has fewer than `minimum`. */
function flushed({ buffer }: LineWriter, minimum: number): Uint8Array {
  if (buffer.length < minimum) return NOTHING;
  const bytes = Buffer.from(buffer.bytes);
  buffer.clear();
  return bytes;
}

/** Adds the failed scenario to a report. */
export function withScenario(report: Buffer, scenario: ControlRecords["scenario"]): Buffer {
  let at = 0 as Millis;
  const { number, check, offset } = scan(new MemoryFile(report), BEGINNING, (line) => {
    at = line.t;
  });
  const writer = new LineWriter(number, check);
  writer.control("scenario", scenario, at, 0);
  return Buffer.concat([report.subarray(0, offset), writer.buffer.bytes]);
}

/** Copies the valid lines of a journal. Returns a writer for the lines after them. */
function* journalPieces({ path, end }: JournalHistory) {
  const file = nodeDisk.open(path, "read");
  try {
    const { number, check, offset } = end ?? scan(file, BEGINNING, () => {});
    for (let at = 0; at < offset; ) {
      const piece = Buffer.alloc(Math.min(PIECE_BYTES, offset - at));
      const length = file.read(piece, at);
      if (length === 0) throw new Error(`${path} has become shorter: expected ${offset} bytes, found ${at}`);
      yield piece.subarray(0, length);
      at += length;
    }
    return new LineWriter(number, check);
  } finally {
    file.close();
  }
}

/** Writes a session as lines, replaying its commands for their event hashes. Returns a writer for the lines after them. */
function* sessionPieces(
  { origin, open, entries, refused, refusedLeftOut, clock: setting }: SessionHistory,
  defect: ReportContent["defect"],
): Generator<Uint8Array, LineWriter> {
  const { config, start, base } = origin;
  const exchange = open();
  const writer = new LineWriter();
  const { sequence, hash } = exchange;
  const clock = { ...setting, followsWall: false };
  const facts = { format: FORMAT, engine: VERSION, config, start, clock, base, sequence, hash };
  writer.control("opening", facts, start, 0);
  for (const each of withRefused(entries, refused)) {
    yield flushed(writer, PIECE_BYTES);
    if ("request" in each) {
      writer.control("refused", each.request, each.at, 0);
      continue;
    }
    const { at, command } = each;
    // The record of the defect has the command that threw.
    if (command === defect?.command) continue;
    const found = replayCommand(exchange, { at, command });
    // A refused command, or one that throws, has no events in a replay of the report either.
    writer.command(command, at, 0, found instanceof Error || !found.ok ? 0 : eventHash(found.events));
  }
  if (refusedLeftOut > 0) writer.control("refusedFull", { noted: refused.length }, exchange.now, 0);
  return writer;
}

const SHOWN_DIGITS = 8;

/** Returns the digits of a state hash, without its version. */
export const hashDigits = (hash: string): string => hash.slice(hash.indexOf(":") + 1);

/** Returns the default file name of a report. */
export const reportName = (hash: string): string =>
  `report-${hashDigits(hash).slice(0, SHOWN_DIGITS) || "unknown"}.ndjson`;

/**
 * Writes a report to a new file in a folder, and returns its path. The folder is made if needed, and ignored by git if it is in
 * the default data directory. `contentOf` gets the file's name.
 */
export function saveReport(folder: string, subject: string, contentOf: (name: string) => Buffer): string {
  nodeDisk.makeFolder(folder);
  ignoreInGit(nodeDisk, dirname(folder));
  for (let count = 1; ; count += 1) {
    const name = `${subject}${count === 1 ? "" : `-${count}`}.ndjson`;
    const path = join(folder, name);
    if (existsSync(path)) continue;
    try {
      createComplete(path, contentOf(name), 0o600);
      return path;
    } catch (error) {
      // Another process may have just written a report of this name.
      if (!isSystemError(error, "EEXIST")) throw error;
    }
  }
}
