import { join } from "node:path";
import { DEFAULT_CONFIG } from "../config.ts";
import type { Command } from "../core/commands.ts";
import { withoutFigures } from "../core/format.ts";
import { violations } from "../core/invariants.ts";
import { parseDocument } from "../core/rebuild-state.ts";
import type { ExchangeConfig } from "../core/state.ts";
import { documentLines } from "../core/state-document.ts";
import { FROZEN_START, type Millis } from "../core/units.ts";
import { Exchange, type Snapshot } from "../engine/exchange.ts";
import { JOURNAL_FILE, LOCK_FILE } from "../engine/files.ts";
import { contentHash } from "../engine/hashes.ts";
import { type Journal, noJournal, SessionLog } from "../engine/journal.ts";
import { MemoryDisk } from "../engine/memory-disk.ts";
import { openConfigured } from "../engine/open-exchange.ts";
import { type Origin, originOfWorld } from "../engine/origin.ts";
import { emptyWorld } from "../simulation/opening.ts";
import { type FuzzProfile, type FuzzStep, Generator, profileOf } from "./generator.ts";
import { type Batch, ReferenceChecker } from "./reference-checker.ts";
import { CheckFailed, type Failure } from "./seeds.ts";

/** Events that transfer no funds. */
const ORDER_EVENTS = new Set<string>(["orderPlaced", "orderRested", "orderCanceled", "orderExpired"]);

export const openPlain: OpenExchange = (config, start, journal) => new Exchange(config, start, journal);

/** The history of a seed. After each step it checks the exchange against the reference and the invariants. */
export class SeedHistory {
  readonly profile: FuzzProfile;
  readonly #generator: Generator;
  readonly host: ExchangeHost;
  readonly #open: OpenExchange;
  readonly checker: ReferenceChecker;
  #batches: Batch[] = [];
  #snapshot: { readonly exchange: Snapshot; readonly operations: number } | null = null;
  /** The latest command; null before the first. */
  latest: { readonly at: Millis; readonly command: Command; readonly isRefused: boolean } | null = null;

  private constructor(seed: number, profile: FuzzProfile, host: ExchangeHost, open: OpenExchange) {
    this.profile = profile;
    this.#generator = new Generator(seed, profile);
    this.host = host;
    this.#open = open;
    this.checker = new ReferenceChecker(() => host.exchange.state);
    this.#watch();
  }

  /** Opens the exchange of a seed's history and runs no step yet. */
  static async open(seed: number, open: OpenExchange = openPlain): Promise<SeedHistory> {
    const profile = profileOf(seed);
    const host =
      profile.storage === "disk" ? await openOnDisk(profile.config) : openInMemory(profile.config, open);
    return new SeedHistory(seed, profile, host, open);
  }

  get exchange(): Exchange {
    return this.host.exchange;
  }

  /** Runs the opening and a number of steps. Returns the first failed check, or null. */
  async run(steps: number): Promise<Failure | null> {
    let done = 0;
    try {
      for (const command of this.#generator.opening()) this.#command(command);
      for (; done < steps; done += 1) {
        const pending = this.#step(this.#generator.next(this.exchange.state, this.exchange.now));
        if (pending !== undefined) await pending;
      }
      if (this.profile.isReplayed) this.#replay();
      if (this.profile.storage === "disk") await this.#reopen();
      return null;
    } catch (error) {
      const { fingerprint, message } = error instanceof CheckFailed ? error : unexpectedError(error);
      return { fingerprint, sentence: message, command: done + 1 };
    }
  }

  #step(step: FuzzStep): Promise<void> | undefined {
    switch (step.kind) {
      case "command":
        this.#command(step.command);
        return;
      case "wait":
        this.#batches = [];
        this.exchange.advanceTo(step.to);
        this.#checkAt(step.to);
        return;
      case "snapshot":
        this.#snapshot = { exchange: this.exchange.snapshot(), operations: this.checker.operations };
        return;
      case "restore":
        if (this.#snapshot === null) return;
        this.exchange.restore(this.#snapshot.exchange);
        this.checker.rewindTo(this.#snapshot.operations);
        this.#batches = [];
        this.#checkAt(this.exchange.now);
        return;
      case "reopen":
        return this.#reopen();
    }
  }

  #command(command: Command): void {
    const { exchange } = this;
    this.#batches = [];
    const at = exchange.now;
    this.latest = { at, command, isRefused: false };
    const decision = exchange.submit(command);
    this.latest = { at, command, isRefused: !decision.ok };
    this.checker.afterCommand(command, at, decision, this.#batches);
    // A refusal must not change the state. If it does, the checks after the next accepted command fail.
    if (this.#batches.length > 0) this.#checkInvariants();
  }

  /** Checks the state after time has passed up to `at`. */
  #checkAt(at: Millis): void {
    this.checker.afterWait(at, this.#batches);
    this.#checkInvariants();
  }

  /** Checks all invariants; after events that transfer no funds, only those of orders. */
  #checkInvariants(): void {
    const hasOrderEventsOnly =
      this.#batches.length > 0 &&
      this.#batches.every(({ events }) => events.every(({ kind }) => ORDER_EVENTS.has(kind)));
    const [broken] = violations(this.exchange.state, hasOrderEventsOnly ? "orders" : undefined);
    if (broken === undefined) return;
    const { name, differences } = broken;
    throw new CheckFailed("an invariant does not hold", name, `${name}: ${differences[0] ?? ""}`);
  }

  async #reopen(): Promise<void> {
    const { hash, state } = this.exchange;
    const content = contentHash(state);
    await this.host.reopen();
    requireEqualState("reopened, it differs", this.exchange, hash, content);
    this.#snapshot = null;
    this.#batches = [];
    if (this.profile.storage === "disk") this.#watch();
    this.#checkAt(this.exchange.now);
  }

  #watch(): void {
    this.exchange.watch((_sequence, at, events) => void this.#batches.push({ at, events }));
  }

  #replay(): void {
    const { exchange, record } = this.host;
    if (!(record instanceof SessionLog)) return;
    const replayed = openEmpty(this.profile.config, this.#open);
    for (const { at, command } of record.entries ?? []) {
      const decision = replayed.replay({ at, command });
      if (decision.ok) continue;
      const text = `${command.kind} is refused`;
      throw new CheckFailed("a replay differs", text, `${text}: ${decision.refusal.code}`);
    }
    replayed.setTime(exchange.now);
    requireEqualState("a replay differs", replayed, exchange.hash, contentHash(exchange.state));
  }
}

function requireEqualState(kind: string, found: Exchange, hash: string, content: string): void {
  if (found.hash !== hash) throw new CheckFailed(kind, "history", "another state hash");
  if (contentHash(found.state) !== content)
    throw new CheckFailed(kind, "state", "another content of the state");
}

function unexpectedError(error: unknown): CheckFailed {
  const { message } = error instanceof Error ? error : new Error(String(error));
  return new CheckFailed("something was thrown", withoutFigures(message), message);
}

/** Opens the exchange of a history. Tests pass one that opens an exchange with a planted defect. */
export type OpenExchange = (config: ExchangeConfig, start: Millis, journal: Journal) => Exchange;

/** An exchange that can be closed and opened again. */
interface ExchangeHost {
  readonly exchange: Exchange;
  /** The session in memory, or the bytes of the journal on its disk. */
  readonly record: SessionLog | Uint8Array;
  /** Replaces the exchange by one that is opened from the persisted data. */
  reopen(): Promise<void>;
}

/** Opens an exchange in memory. To reopen it writes its state as a document and reads it back. */
function openInMemory(config: ExchangeConfig, open: OpenExchange): ExchangeHost {
  const record = new SessionLog(Number.POSITIVE_INFINITY);
  const exchange = openEmpty(config, open, record);
  record.begin();
  return {
    exchange,
    record,
    async reopen() {
      const snapshot = exchange.snapshot();
      const document = Buffer.from(`{\n${[...documentLines(snapshot.state)].join("\n")}\n}`);
      const { state } = parseDocument([document], (bytes) => Buffer.from(bytes).toString());
      exchange.restore({ ...snapshot, state });
    },
  };
}

/** Opens an exchange with an empty world, as at the beginning of a history's report. */
export function openEmpty(config: ExchangeConfig, open: OpenExchange, journal: Journal = noJournal) {
  const exchange = open(config, FROZEN_START, journal);
  originOfWorld(emptyWorld(config.seed), config, FROZEN_START).play(exchange);
  return exchange;
}

const FOLDER = "/data";

/** Opens an exchange on a disk in memory, which is reopened as after a crash of its process. */
async function openOnDisk(config: ExchangeConfig): Promise<ExchangeHost> {
  const diskConfig = { ...DEFAULT_CONFIG, data: FOLDER, clock: { mode: "frozen" } as const };
  let disk = new MemoryDisk();
  const open = (origin: Origin | null) =>
    openConfigured(diskConfig, () => {}, { disk, wallNow: () => FROZEN_START }, origin);
  let opened = await open(originOfWorld(emptyWorld(config.seed), config, FROZEN_START));
  return {
    get exchange() {
      return opened.exchange;
    },
    get record() {
      return disk.image.get(join(FOLDER, JOURNAL_FILE)) as Uint8Array;
    },
    async reopen() {
      const { exchange, persistence } = opened;
      await persistence.flush(persistence.position);
      const files = new Map(disk.image);
      files.delete(join(FOLDER, LOCK_FILE));
      disk = new MemoryDisk(files);
      opened = await open(null);
      // Time that passed after the latest command is not persisted.
      opened.exchange.advanceTo(exchange.now);
    },
  };
}
