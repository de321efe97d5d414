import { Buffer } from "node:buffer";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "../core/commands.ts";
import type { Millis } from "../core/units.ts";
import type { OpenedExchange } from "../opening/open-exchange.ts";
import { type Origin, originOfWorld } from "../opening/origin.ts";
import { Exchange } from "../runtime/exchange.ts";
import type { Entry, RefusedEntry } from "../runtime/journal.ts";
import { withRefused } from "../runtime/with-refused.ts";
import { type Disk, nodeDisk } from "../store/disk.ts";
import { eventHash } from "../store/event-hash.ts";
import { JOURNAL_FILE } from "../store/files.ts";
import { FORMAT, type Notes } from "../store/journal-line.ts";
import { BEGINNING, scan } from "../store/journal-scan.ts";
import { LineWriter } from "../store/line-writer.ts";
import type { World } from "../world/world.ts";

/** More bytes of a journal than this are not put into one text; `clobsim report` copies the directory's own file. */
export const MOST_REPORT_BYTES = 256 * 1024 * 1024;

/** All that was done, as it stood at one moment. */
export type Deeds =
  | {
      readonly kind: "session";
      readonly origin: Origin;
      readonly entries: readonly Entry[];
      readonly refused: readonly RefusedEntry[];
      /** How many more requests were refused than are in it. */
      readonly refusedLeftOut: number;
    }
  /** So many bytes of a data directory's journal. */
  | { readonly kind: "journal"; readonly path: string; readonly size: number };

/** What a report is made of. */
export interface ReportContent {
  readonly deeds: Deeds;
  /** The version of the program. */
  readonly engine: string;
  readonly reason: string;
  readonly now: Millis;
  /** The hash of the state; empty when nobody can tell it. */
  readonly hash: string;
  readonly defect: Notes["defect"] | null;
}

/** There is too much for a report; the message is a sentence for the user. */
export class ReportTooLong extends Error {
  override readonly name = "ReportTooLong";
}

/** The defect that something thrown is, with the command that made the exchange throw it, if one did. */
export function defectOf({ thrown }: Exchange, error: unknown): Notes["defect"] {
  const message = error instanceof Error ? error.message : String(error);
  return { command: thrown !== null && thrown.error === error ? thrown.command : null, message };
}

/** What was done on an open exchange. To be called when all of it is written. @throws ReportTooLong */
export function deedsOf({ keeping, session, origin }: OpenedExchange): Deeds {
  if (keeping !== null) {
    const path = join(keeping.path, JOURNAL_FILE);
    const { size } = statSync(path);
    if (size <= MOST_REPORT_BYTES) return { kind: "journal", path, size };
    throw new ReportTooLong(
      `the journal has ${size} bytes, and a report over HTTP ${MOST_REPORT_BYTES} at most`,
    );
  }
  const { entries, refused, refusedLeftOut } = session;
  if (entries !== null) return { kind: "session", origin, entries, refused, refusedLeftOut };
  throw new ReportTooLong(`the session has more than ${session.most} commands, and no more are kept`);
}

/** What was done on an exchange that nothing keeps, after a world was opened there. */
export const sessionDeeds = (
  world: World,
  { config, start }: Pick<Origin, "config" | "start">,
  entries: readonly Entry[],
): Deeds => ({
  kind: "session",
  origin: originOfWorld(world, config, start),
  entries,
  refused: [],
  refusedLeftOut: 0,
});

/** The command line that replays the report in a file. */
export const replayLine = (file: string): string => `clobsim replay ${file}`;

/** A report, line by line as a journal. @throws Error when what was done cannot be read any more */
export function reportBytes(content: ReportContent, file = "FILE", disk: Disk = nodeDisk): Buffer {
  const { deeds, engine, reason, now, hash, defect } = content;
  const [before, writer] =
    deeds.kind === "session" ? told(deeds, content) : copied(disk, deeds.path, deeds.size);
  if (defect !== null) writer.note("defect", defect, now, 0);
  const note = { hash, reason, engine, node: process.versions.node, replay: replayLine(file) };
  writer.note("report", note, now, 0);
  return Buffer.concat([before, writer.buffer.bytes]);
}

/** A report that carries the scenario that has failed. */
export function withScenario(report: Buffer, told: Notes["scenario"]): Buffer {
  let at = 0 as Millis;
  const { number, check, offset } = scan(inMemory(report), BEGINNING, (line) => {
    at = line.t;
  });
  const writer = new LineWriter(number, check);
  writer.note("scenario", told, at, 0);
  return Buffer.concat([report.subarray(0, offset), writer.buffer.bytes]);
}

/** The whole lines of a journal, and what goes on behind them. */
function copied(disk: Disk, path: string, size: number): [Buffer, LineWriter] {
  const file = disk.open(path, "read");
  try {
    const bytes = Buffer.alloc(size);
    for (let done = 0; done < size; ) {
      const length = file.read(bytes.subarray(done), done);
      if (length === 0) throw new Error(`${path} has lost its end: ${done} of ${size} bytes are there`);
      done += length;
    }
    const { number, check, offset } = scan(inMemory(bytes), BEGINNING, () => {});
    return [bytes.subarray(0, offset), new LineWriter(number, check)];
  } finally {
    file.close();
  }
}

/** The lines of a session: what each command causes is worked out again. */
function told(
  { origin, entries, refused, refusedLeftOut }: Extract<Deeds, { kind: "session" }>,
  { engine, defect }: ReportContent,
): [Buffer, LineWriter] {
  const { config, start, base } = origin;
  const exchange = new Exchange(config, start);
  origin.play(exchange);
  const writer = new LineWriter();
  const { sequence, hash } = exchange;
  const clock = { mode: "frozen", rate: 1, followsWall: false } as const;
  writer.note("opening", { format: FORMAT, engine, config, start, clock, base, sequence, hash }, start, 0);
  for (const each of withRefused(entries, refused)) {
    if ("request" in each) {
      writer.note("refused", each.request, each.at, 0);
      continue;
    }
    const { at, command } = each;
    // It failed when it was carried out: the line of the defect tells it.
    if (command === defect?.command) continue;
    writer.command(command, at, 0, causedBy(exchange, at, command));
  }
  if (refusedLeftOut > 0) writer.note("refusedFull", { noted: refused.length }, exchange.now, 0);
  return [Buffer.alloc(0), writer];
}

/** What cannot be decided again has caused nothing that a replay could find: there it differs, or fails. */
function causedBy(exchange: Exchange, at: Millis, command: Command): number {
  try {
    const decision = exchange.redo({ at, command });
    return decision.ok ? eventHash(decision.events) : 0;
  } catch {
    return 0;
  }
}

const inMemory = (bytes: Buffer) => ({
  size: bytes.length,
  read: (into: Uint8Array, position: number): number => {
    const piece = bytes.subarray(position, position + into.length);
    into.set(piece);
    return piece.length;
  },
  write: () => 0,
  cut: () => {},
  sync: () => {},
  syncSoon: async () => {},
  close: () => {},
});
