import { DEFAULT_CONFIG } from "../config.ts";
import { documentLines } from "../core/document/document-lines.ts";
import { parseDocument } from "../core/document/parse-document.ts";
import type { ExchangeConfig, State } from "../core/state.ts";
import type { Millis } from "../core/units.ts";
import type { Exchange } from "../engine/exchange.ts";
import { JOURNAL_FILE } from "../engine/files.ts";
import { LOCK_FILE } from "../engine/folder-lock.ts";
import { type Entry, type Journal, noJournal } from "../engine/journal.ts";
import { type OpenedExchange, openExchange as openKept } from "../engine/open-exchange.ts";
import { originOfWorld } from "../engine/origin.ts";
import { emptyWorld } from "../simulation/opening.ts";
import { SimulatedDisk } from "./simulated-disk.ts";

/** Opens the exchange of a history; another one stands in for it where a defect is planted. */
export type OpenExchange = (config: ExchangeConfig, start: Millis, journal: Journal) => Exchange;

/** What a history runs on. */
export interface ExchangeHost {
  readonly exchange: Exchange;
  /** What was accepted, in order; null where that is known on a disk alone. */
  readonly entries: readonly Entry[] | null;
  /** The bytes of its journal; null where it has none. */
  readonly journal: Uint8Array | null;
  /** Puts an exchange in its place that was read from what is kept of it. */
  reopen(): Promise<void>;
}

/** An exchange in memory; reopened, it goes on with its state as it was written and read. */
export class ExchangeInMemory implements ExchangeHost, Journal {
  readonly exchange: Exchange;
  readonly entries: Entry[] = [];
  readonly journal = null;

  constructor(config: ExchangeConfig, start: Millis, open: OpenExchange) {
    this.exchange = openEmpty(config, start, open, this);
  }

  append(entry: Entry): void {
    this.entries.push(entry);
  }

  mark(): number {
    return this.entries.length;
  }

  rewind(sequence: number): void {
    this.entries.length = sequence;
  }

  async reopen(): Promise<void> {
    const snapshot = this.exchange.snapshot();
    this.exchange.restore({ ...snapshot, state: writtenAndRead(snapshot.state) });
  }
}

/** An exchange that stands where a report of its history begins. */
export function openEmpty(
  config: ExchangeConfig,
  start: Millis,
  open: OpenExchange,
  journal: Journal = noJournal,
): Exchange {
  const exchange = open(config, start, journal);
  originOfWorld(emptyWorld(config.seed), config, start).play(exchange);
  return exchange;
}

/** A state as its document is read. */
export function writtenAndRead(state: State): State {
  const text = `{\n${[...documentLines(state)].join("\n")}\n}`;
  return parseDocument([new TextEncoder().encode(text)], (bytes) => new TextDecoder().decode(bytes)).state;
}

const FOLDER = "/data";

/** An exchange on a simulated disk; reopened, it goes on as after the death of its process. */
export class ExchangeOnDisk implements ExchangeHost {
  readonly entries = null;
  readonly #config: ExchangeConfig;
  readonly #start: Millis;
  #disk = new SimulatedDisk();
  #opened: OpenedExchange;

  private constructor(config: ExchangeConfig, start: Millis, disk: SimulatedDisk, opened: OpenedExchange) {
    this.#config = config;
    this.#start = start;
    this.#disk = disk;
    this.#opened = opened;
  }

  static async open(config: ExchangeConfig, start: Millis): Promise<ExchangeOnDisk> {
    const disk = new SimulatedDisk();
    return new ExchangeOnDisk(config, start, disk, await openOn(disk, config, start, true));
  }

  get exchange(): Exchange {
    return this.#opened.exchange;
  }

  get journal(): Uint8Array | null {
    return this.#disk.image.get(`${FOLDER}/${JOURNAL_FILE}`) ?? null;
  }

  async reopen(): Promise<void> {
    const { exchange, keeper } = this.#opened;
    await keeper.keep(keeper.position);
    const left = new Map(this.#disk.image);
    left.delete(`${FOLDER}/${LOCK_FILE}`);
    this.#disk = new SimulatedDisk(left);
    this.#opened = await openOn(this.#disk, this.#config, this.#start, false);
    // That time has passed, and nothing else, is nowhere written down.
    this.#opened.exchange.advanceTo(exchange.now);
  }
}

function openOn(
  disk: SimulatedDisk,
  config: ExchangeConfig,
  start: Millis,
  isNew: boolean,
): Promise<OpenedExchange> {
  const origin = isNew ? originOfWorld(emptyWorld(config.seed), config, start) : null;
  const kept = { ...DEFAULT_CONFIG, data: FOLDER, clock: { mode: "frozen" } as const };
  return openKept(kept, () => {}, { disk, wallNow: () => start }, origin);
}
