import { Buffer } from "node:buffer";
import fc from "fast-check";
import { type Config, VERSION } from "../../src/config.ts";
import type { RefusedRequest } from "../../src/core/refusals.ts";
import { runSteps } from "../../src/core/steps.ts";
import { millis } from "../../src/core/units.ts";
import type { Exchange, Snapshot } from "../../src/engine/exchange.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { contentHash } from "../../src/engine/state-hash.ts";
import { JournalReplay, type ReplayedLine } from "../../src/history/journal-replay.ts";
import { openSource } from "../../src/history/journal-source.ts";
import type { OpenedReport } from "../../src/inspector/report-file.ts";
import { openReport } from "../../src/inspector/report-file.ts";
import { anyChainMove, chainCommandOf } from "../core/chain/chain-moves.ts";
import { openArena } from "../core/properties/moves.ts";
import { FOLDER, openOn } from "../engine/support/kept.ts";
import { addressOf } from "../support/commands.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";

const JOURNAL = `${FOLDER}/journal.ndjson`;

/** A request of the arena that was refused. */
export const REFUSED: RefusedRequest = {
  ...{ method: "POST", path: "/clob/order", address: addressOf("ann"), isProven: true },
  ...{ status: 400, code: "INVALID_TICK_SIZE", field: "price" },
  asked: {
    kind: "request",
    body: { tokenId: "1", side: "BUY", price: 0.555, size: 10 },
    ...{ query: {}, isCut: false },
  },
};

/** What else happens beside commands, each so often among a hundred moves. */
export interface Mixture {
  readonly snapshot: number;
  readonly restore: number;
  readonly reset: number;
  readonly refused: number;
}

export const PLAIN: Mixture = { snapshot: 0, restore: 0, reset: 0, refused: 0 };

/** A journal of moves on the arena that a seed draws, as a data directory has it when it was closed. */
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
  const { exchange, clock } = opened;
  const kept: Snapshot[] = [exchange.snapshot()];
  const chances = fc.sample(fc.nat({ max: 99 }), { seed, numRuns: 2 * moves });
  for (const [index, move] of fc.sample(anyChainMove, { seed, numRuns: moves }).entries()) {
    const [chance = 0, which = 0] = [chances[2 * index], chances[2 * index + 1]];
    const { snapshot, restore, reset, refused } = mixture;
    if (chance < snapshot) kept.push(exchange.snapshot());
    else if (chance < snapshot + restore) exchange.restore(kept[which % kept.length] as Snapshot);
    else if (chance < snapshot + restore + reset) {
      opened.reopen();
      openArena(exchange);
      kept.splice(0, kept.length, exchange.snapshot());
    } else if (chance < snapshot + restore + reset + refused) opened.noteRefused(REFUSED);
    if (move.kind === "wait") runSteps(clock.moveInSteps(clock.setting, millis(exchange.now + move.ms)));
    else {
      const command = chainCommandOf(exchange.state, exchange.now, move);
      if (command !== null) exchange.submit(command);
    }
  }
}

/** An exchange in figures: what it did, what it holds, and when. */
export const stateHashes = ({ hash, state, now, sequence }: Exchange) => ({
  hash,
  content: contentHash(state),
  now,
  sequence,
});
export type Sight = ReturnType<typeof stateHashes>;

/** What a replay comes to behind each line of a journal, the opening first; `look` says behind which it is looked at. */
export function replayedSights(
  journal: Buffer,
  look: (row: number) => boolean = () => true,
): { readonly sights: ReadonlyMap<number, Sight>; readonly told: readonly ReplayedLine[] } {
  const source = openSource(new SimulatedDisk(new Map([[JOURNAL, journal]])), FOLDER, VERSION);
  const replay = new JournalReplay(source, VERSION);
  const sights = new Map<number, Sight>();
  const told: ReplayedLine[] = [];
  replay.run((line) => {
    // The opening is the first line and no row.
    const rows = line.line.n - 1;
    if (look(rows)) sights.set(rows, stateHashes(replay.exchange));
    if (rows > 0) told.push(line);
  });
  return { sights, told };
}

/** A report as the page opens it. */
export const opened = (bytes: Buffer, name = "report.ndjson"): Promise<OpenedReport> =>
  openReport(name, bytes, VERSION, async () => {});
