import { Buffer } from "node:buffer";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "../core/commands.ts";
import type { Millis } from "../core/units.ts";
import { eventHash } from "../engine/checksum.ts";
import { type Disk, type DiskFile, nodeDisk } from "../engine/disk.ts";
import { Exchange } from "../engine/exchange.ts";
import { ignoreInGit, JOURNAL_FILE } from "../engine/files.ts";
import type { Entry, RefusedEntry } from "../engine/journal.ts";
import { LineWriter } from "../engine/journal-codec.ts";
import {
  BEGINNING,
  type ControlRecords,
  FORMAT,
  type JournalEnd,
  type Line,
} from "../engine/journal-line.ts";
import { scan } from "../engine/journal-scan.ts";
import type { OpenedExchange } from "../engine/open-exchange.ts";
import { type Origin, originOfWorld } from "../engine/origin.ts";
import { withRefused } from "../engine/session-log.ts";
import type { World } from "../simulation/world.ts";

/** A report is made in pieces of about so many bytes. */
const PIECE_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);
/** More bytes of a journal than this are not put into one text; `clobsim report` copies the directory's own file. */
export const MAX_REPORT_BYTES = 256 * 1024 * 1024;

/** All that was done, as it stood at one moment. */
type ReportedHistory =
  | {
      readonly kind: "session";
      readonly origin: Origin;
      /** An exchange that stands where the session began. */
      readonly open: () => Exchange;
      readonly entries: readonly Entry[];
      readonly refused: readonly RefusedEntry[];
      /** How many more requests were refused than are in it. */
      readonly refusedLeftOut: number;
    }
  /** A data directory's journal, up to where its good lines end; null where that must be found out. */
  | { readonly kind: "journal"; readonly path: string; readonly end: JournalEnd | null };

/** What a report is made of. */
export interface ReportContent {
  readonly history: ReportedHistory;
  /** The version of the program. */
  readonly engine: string;
  readonly reason: string;
  readonly now: Millis;
  /** The hash of the state; empty when nobody knows it. */
  readonly hash: string;
  readonly defect: ControlRecords["defect"] | null;
}

/** There is too much for a report; the message is a sentence for the user. */
export class ReportTooLong extends Error {
  override readonly name = "ReportTooLong";
}

/** The defect that something thrown is, with the command that made the exchange throw it, if one did. */
export function defectOf({ thrown }: Exchange, error: unknown): ControlRecords["defect"] {
  const message = error instanceof Error ? error.message : String(error);
  return { command: thrown !== null && thrown.error === error ? thrown.command : null, message };
}

/** What was done on an open exchange. To be called when all of it is written. @throws ReportTooLong */
export function historyOf({
  folder,
  session,
  origin,
  atSessionStart: open,
}: OpenedExchange): ReportedHistory {
  if (folder !== null) {
    const path = join(folder.path, JOURNAL_FILE);
    const { size } = statSync(path);
    if (size <= MAX_REPORT_BYTES) return { kind: "journal", path, end: folder.end };
    throw new ReportTooLong(
      `the journal has ${size} bytes, and a report over HTTP ${MAX_REPORT_BYTES} at most`,
    );
  }
  const { entries, refused, refusedLeftOut } = session;
  if (entries !== null) return { kind: "session", origin, open, entries, refused, refusedLeftOut };
  throw new ReportTooLong(`the session has more than ${session.most} commands, and no more are kept`);
}

/** What was done on an exchange that nothing keeps, after a world was opened there. */
export function sessionHistory(
  world: World,
  { config, start }: Pick<Origin, "config" | "start">,
  entries: readonly Entry[],
): ReportedHistory {
  const origin = originOfWorld(world, config, start);
  const open = (): Exchange => exchangeAt(origin);
  return { kind: "session", origin, open, entries, refused: [], refusedLeftOut: 0 };
}

/** An exchange that stands where its history begins. */
export function exchangeAt({ config, start, play }: Origin): Exchange {
  const exchange = new Exchange(config, start);
  play(exchange);
  return exchange;
}

/** Whether a report or the journal of a closed data directory may end with a line. */
export const endsReport = ({ k }: Line): boolean => k === "report" || k === "scenario" || k === "close";

/** What is said of a file that is whole line by line and does not end so. */
export const CUT = "the last line of a report is missing: the file may be cut";

/** The command line that replays the report in a file. */
const replayLine = (file: string): string => `clobsim replay ${file}`;

/** A report, line by line as a journal. @throws Error when what was done cannot be read any more */
export const reportBytes = (content: ReportContent, file?: string, disk?: Disk): Buffer =>
  Buffer.concat([...reportInPieces(content, file, disk)]);

/** The same in pieces that are made one by one; some are empty. */
export function* reportInPieces(
  content: ReportContent,
  file = "FILE",
  disk: Disk = nodeDisk,
): Generator<Uint8Array, void> {
  const { history, engine, reason, now, hash, defect } = content;
  const writer = history.kind === "session" ? yield* told(history, content) : yield* copied(disk, history);
  if (defect !== null) writer.control("defect", defect, now, 0);
  const note = { hash, reason, engine, node: process.versions.node, replay: replayLine(file) };
  writer.control("report", note, now, 0);
  yield taken(writer, 0);
}

/** What a writer holds, when it is so much, and nothing otherwise. */
function taken({ buffer }: LineWriter, least: number): Uint8Array {
  if (buffer.length < least) return NOTHING;
  const bytes = Buffer.from(buffer.bytes);
  buffer.cut(0);
  return bytes;
}

/** A report that carries the scenario that has failed. */
export function withScenario(report: Buffer, told: ControlRecords["scenario"]): Buffer {
  let at = 0 as Millis;
  const { number, check, offset } = scan(inMemory(report), BEGINNING, (line) => {
    at = line.t;
  });
  const writer = new LineWriter(number, check);
  writer.control("scenario", told, at, 0);
  return Buffer.concat([report.subarray(0, offset), writer.buffer.bytes]);
}

/** The whole lines of a journal; answers what goes on behind them. */
function* copied(
  disk: Disk,
  { path, end }: Extract<ReportedHistory, { kind: "journal" }>,
): Generator<Uint8Array, LineWriter> {
  const file = disk.open(path, "read");
  try {
    const { number, check, offset } = end ?? scan(file, BEGINNING, () => {});
    for (let at = 0; at < offset; ) {
      const piece = Buffer.alloc(Math.min(PIECE_BYTES, offset - at));
      const length = file.read(piece, at);
      if (length === 0) throw new Error(`${path} has lost its end: ${at} of ${offset} bytes are there`);
      yield piece.subarray(0, length);
      at += length;
    }
    return new LineWriter(number, check);
  } finally {
    file.close();
  }
}

/** The lines of a session: what each command causes is worked out again. */
function* told(
  { origin, open, entries, refused, refusedLeftOut }: Extract<ReportedHistory, { kind: "session" }>,
  { engine, defect }: ReportContent,
): Generator<Uint8Array, LineWriter> {
  const { config, start, base } = origin;
  const exchange = open();
  const writer = new LineWriter();
  const { sequence, hash } = exchange;
  const clock = { mode: "frozen", rate: 1, followsWall: false } as const;
  writer.control("opening", { format: FORMAT, engine, config, start, clock, base, sequence, hash }, start, 0);
  for (const each of withRefused(entries, refused)) {
    yield taken(writer, PIECE_BYTES);
    if ("request" in each) {
      writer.control("refused", each.request, each.at, 0);
      continue;
    }
    const { at, command } = each;
    // It failed when it was carried out: the line of the defect tells it.
    if (command === defect?.command) continue;
    writer.command(command, at, 0, causedBy(exchange, at, command));
  }
  if (refusedLeftOut > 0) writer.control("refusedFull", { noted: refused.length }, exchange.now, 0);
  return writer;
}

/** What cannot be decided again has caused nothing that a replay could find: there it differs, or fails. */
function causedBy(exchange: Exchange, at: Millis, command: Command): number {
  try {
    const decision = exchange.replay({ at, command });
    return decision.ok ? eventHash(decision.events) : 0;
  } catch {
    return 0;
  }
}

/** A file that is these bytes, for reading alone. */
export const inMemory = (bytes: Buffer): DiskFile => ({
  size: bytes.length,
  read: (into: Uint8Array, position: number): number => {
    const piece = bytes.subarray(position, position + into.length);
    into.set(piece);
    return piece.length;
  },
  write: () => 0,
  truncate: () => {},
  sync: () => {},
  syncAsync: async () => {},
  close: () => {},
});

const SHOWN_DIGITS = 8;

/** The digits of a state hash, without its version. */
export const digitsOf = (hash: string): string => hash.slice(hash.indexOf(":") + 1);

/** What the file of a report is called that is named after the state. */
export const reportName = (hash: string): string =>
  `report-${digitsOf(hash).slice(0, SHOWN_DIGITS) || "unknown"}.ndjson`;

/** Makes a folder for reports, which git does not see where it lies in the default data directory. */
export function makeReportFolder(folder: string): void {
  nodeDisk.makeFolder(folder);
  ignoreInGit(nodeDisk, dirname(folder));
}

/**
 * Writes a report into a folder, which is made when it is not there, and answers its path. No file is overwritten.
 * `contentOf` is written the name of the file.
 */
export function saveReport(folder: string, subject: string, contentOf: (name: string) => Buffer): string {
  makeReportFolder(folder);
  const name = freeName(folder, subject);
  const path = join(folder, name);
  writeFileSync(path, contentOf(name), { flag: "wx", mode: 0o600 });
  return path;
}

/** A name in a folder that no file has yet. */
function freeName(folder: string, subject: string): string {
  for (let count = 1; ; count += 1) {
    const name = `${subject}${count === 1 ? "" : `-${count}`}.ndjson`;
    if (!existsSync(join(folder, name))) return name;
  }
}
