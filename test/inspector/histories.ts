import { Buffer } from "node:buffer";
import fc from "fast-check";
import type { Config } from "../../src/config.ts";
import type { RefusedRequest } from "../../src/core/refusals.ts";
import type { Exchange, Snapshot } from "../../src/engine/exchange.ts";
import { contentHash } from "../../src/engine/hashes.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { openSource } from "../../src/history/journal-files.ts";
import { type ReplayedLine, replayJournalLines } from "../../src/history/journal-replay.ts";
import { openReport } from "../../src/inspector/report-file.ts";
import { anyChainMove } from "../core/chain/chain-moves.ts";
import { openArena } from "../core/properties/moves.ts";
import { FOLDER, JOURNAL, openOn } from "../engine/support/persisted.ts";
import { takeMove } from "../engine/support/short-history.ts";
import { addressOf } from "../support/commands.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";

/** A refused request of the generated histories. */
export const REFUSED: RefusedRequest = {
  ...{ method: "POST", path: "/clob/order", address: addressOf("ann"), isProven: true },
  ...{ status: 400, code: "INVALID_TICK_SIZE", field: "price" },
  asked: {
    kind: "request",
    body: { tokenId: "1", side: "BUY", price: 0.555, size: 10 },
    ...{ query: {}, isCut: false },
  },
};

/** Returns the value of a row in a column of a history. */
export const at = (column: readonly number[], row: number): number => column[row] as number;

/** Percentage of moves after which another line is written, by kind. */
export interface Mixture {
  readonly snapshot: number;
  readonly restore: number;
  readonly reset: number;
  readonly refused: number;
}

export const PLAIN: Mixture = { snapshot: 0, restore: 0, reset: 0, refused: 0 };

/** Writes a journal of random moves and returns the file of the closed data directory. */
export async function journalOf(
  seed: number,
  moves: number,
  mixture: Mixture,
  config: Partial<Config> = { settlement: "auto" },
): Promise<Buffer> {
  const disk = new SimulatedDisk();
  const opened = await openOn(disk, config);
  openArena(opened.exchange);
  play(opened, seed, moves, mixture);
  await opened.close();
  return Buffer.from(disk.image.get(JOURNAL) ?? []);
}

function play(opened: OpenedExchange, seed: number, moves: number, mixture: Mixture): void {
  const { exchange } = opened;
  const snapshots: Snapshot[] = [exchange.snapshot()];
  const chances = fc.sample(fc.nat({ max: 99 }), { seed, numRuns: 2 * moves });
  for (const [index, move] of fc.sample(anyChainMove, { seed, numRuns: moves }).entries()) {
    const [chance = 0, which = 0] = [chances[2 * index], chances[2 * index + 1]];
    const { snapshot, restore, reset, refused } = mixture;
    if (chance < snapshot) snapshots.push(exchange.snapshot());
    else if (chance < snapshot + restore) exchange.restore(snapshots[which % snapshots.length] as Snapshot);
    else if (chance < snapshot + restore + reset) {
      opened.reopen();
      openArena(exchange);
      snapshots.splice(0, snapshots.length, exchange.snapshot());
    } else if (chance < snapshot + restore + reset + refused) opened.recordRefused(REFUSED);
    takeMove(opened, move);
  }
}

/** Hashes, sequence and time of an exchange. */
export const stateHashes = ({ hash, state, now, sequence }: Exchange) => ({
  hash,
  content: contentHash(state),
  now,
  sequence,
});
export type StateHashes = ReturnType<typeof stateHashes>;

/** Replays a journal; returns its lines, and the state after each row that `isChecked` selects, 0 for the opening. */
export function replayStates(
  journal: Buffer,
  isChecked: (row: number) => boolean = () => true,
): { readonly states: ReadonlyMap<number, StateHashes>; readonly lines: readonly ReplayedLine[] } {
  const source = openSource(new SimulatedDisk(new Map([[JOURNAL, journal]])), FOLDER);
  const states = new Map<number, StateHashes>();
  const lines: ReplayedLine[] = [];
  replayJournalLines(source, {}, (line, exchange) => {
    // The first line is the opening, which is not a row.
    const rows = line.line.n - 1;
    if (isChecked(rows)) states.set(rows, stateHashes(exchange));
    if (rows > 0) lines.push(line);
  });
  return { states, lines };
}

/** Opens a report like the page. */
export const openBytes = (bytes: Buffer, name = "report.ndjson") => openReport(name, bytes, async () => {});
