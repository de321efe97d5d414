import type { Command } from "../core/commands.ts";
import type { Invariant } from "../core/invariants/check.ts";
import { orderViolations, violations } from "../core/invariants/invariants.ts";
import { type Millis, millis } from "../core/units.ts";
import { Exchange, type Snapshot } from "../engine/exchange.ts";
import type { Entry } from "../engine/journal.ts";
import { contentHash } from "../engine/state-hash.ts";
import {
  type ExchangeHost,
  ExchangeInMemory,
  ExchangeOnDisk,
  type OpenExchange,
  openEmpty,
} from "./exchange-host.ts";
import { type Batch, Follower } from "./follower.ts";
import { Generator, type Profile, profileOf, type Step } from "./generator.ts";
import { type Failure, Wrong } from "./outcome.ts";
import type { ReferenceExchange } from "./reference/reference-exchange.ts";

/** When histories begin: 2026-01-01T00:00:00Z. */
const START = millis(1_767_225_600_000);

/** Events after which all funds are where they were. */
const OF_ORDERS: ReadonlySet<string> = new Set([
  "orderPlaced",
  "orderRested",
  "orderCanceled",
  "orderExpired",
]);

export const openPlain: OpenExchange = (config, start, journal) => new Exchange(config, start, journal);

/** One history of a seed: an exchange and its reference, step by step, judged after each. */
export class History {
  readonly start = START;
  readonly profile: Profile;
  readonly #generator: Generator;
  readonly #host: ExchangeHost;
  readonly #open: OpenExchange;
  readonly #follower: Follower;
  #batches: Batch[] = [];
  #snapshot: { readonly at: Snapshot; readonly mark: number } | null = null;
  /** The command that is being carried out. */
  #latest: { readonly at: Millis; readonly command: Command; readonly isRefused: boolean } | null = null;

  private constructor(seed: number, profile: Profile, host: ExchangeHost, open: OpenExchange) {
    this.profile = profile;
    this.#generator = new Generator(seed, profile);
    this.#host = host;
    this.#open = open;
    this.#follower = new Follower(() => host.exchange.state);
    this.#watch();
  }

  /** The history of a seed, before its first step. */
  static async open(seed: number, open: OpenExchange = openPlain): Promise<History> {
    const profile = profileOf(seed);
    const host =
      profile.keeping === "disk"
        ? await ExchangeOnDisk.open(profile.config, START)
        : new ExchangeInMemory(profile.config, START, open);
    return new History(seed, profile, host, open);
  }

  get exchange(): Exchange {
    return this.#host.exchange;
  }

  get reference(): ReferenceExchange {
    return this.#follower.reference;
  }

  /** What was accepted so far, in order; null of one on a disk. */
  get entries(): readonly Entry[] | null {
    return this.#host.entries;
  }

  /** The bytes of its journal; null of one in memory. */
  get journal(): Uint8Array | null {
    return this.#host.journal;
  }

  /** The latest command; null before the first. */
  get latest() {
    return this.#latest;
  }

  /** Runs so many steps; answers what is wrong, or null. */
  async run(steps: number): Promise<Failure | null> {
    let done = 0;
    try {
      for (const command of this.#generator.opening()) this.#command(command);
      for (; done < steps; done += 1) {
        const wait = this.#take(this.#generator.next(this.exchange.state, this.exchange.now));
        if (wait !== undefined) await wait;
      }
      if (this.profile.isReplayed) this.#replay();
      if (this.profile.keeping === "disk") await this.#reopen();
      return null;
    } catch (error) {
      const { failure } = error instanceof Wrong ? error : thrown(error);
      return { ...failure, command: done + 1 };
    }
  }

  #take(step: Step): Promise<void> | undefined {
    switch (step.kind) {
      case "command":
        this.#command(step.command);
        return;
      case "wait":
        this.#batches = [];
        this.exchange.advanceTo(step.to);
        this.#judgeAt(step.to);
        return;
      case "snapshot":
        this.#snapshot = { at: this.exchange.snapshot(), mark: this.#follower.mark };
        return;
      case "restore":
        if (this.#snapshot === null) return;
        this.exchange.restore(this.#snapshot.at);
        this.#follower.goBackTo(this.#snapshot.mark);
        this.#batches = [];
        this.#judgeAt(this.exchange.now);
        return;
      case "reopen":
        return this.#reopen();
    }
  }

  #command(command: Command): void {
    const { exchange } = this;
    this.#batches = [];
    const at = exchange.now;
    this.#latest = { at, command, isRefused: false };
    const decision = exchange.submit(command);
    this.#latest = { at, command, isRefused: !decision.ok };
    this.#follower.afterCommand(command, at, decision, this.#batches);
    // What was refused leaves no trace; if it does, the next accepted command shows it.
    if (this.#batches.length > 0) this.#judge();
  }

  /** Judges what time has done up to a moment. */
  #judgeAt(at: Millis): void {
    this.#follower.afterWait(at, this.#batches);
    this.#judge();
  }

  #judge(): void {
    for (const { name, differences } of this.#violations()) {
      throw new Wrong("an invariant does not hold", name, `${name}: ${differences[0] ?? ""}`);
    }
  }

  /** Where no funds have moved, those invariants that can have been broken all the same. */
  #violations(): readonly Invariant[] {
    const { state } = this.exchange;
    const isOfOrders =
      this.#batches.length > 0 &&
      this.#batches.every(({ events }) => events.every(({ kind }) => OF_ORDERS.has(kind)));
    return isOfOrders ? orderViolations(state) : violations(state);
  }

  /** What is kept is read again, and comes to the same. */
  async #reopen(): Promise<void> {
    const { hash, state } = this.exchange;
    const content = contentHash(state);
    await this.#host.reopen();
    if (this.#host.exchange.hash !== hash)
      throw new Wrong("reopened, it differs", "history", "another state hash");
    if (contentHash(this.exchange.state) !== content)
      throw new Wrong("reopened, it differs", "state", "another content of the state");
    this.#snapshot = null;
    this.#batches = [];
    if (this.profile.keeping === "disk") this.#watch();
    this.#judgeAt(this.exchange.now);
  }

  #watch(): void {
    this.exchange.watch((_sequence, at, events) => void this.#batches.push({ at, events }));
  }

  /** All that was accepted, decided again on a new exchange, comes to the same. */
  #replay(): void {
    const { exchange, entries } = this;
    if (entries === null) return;
    const again = openEmpty(this.profile.config, START, this.#open);
    for (const { at, command } of entries) {
      const decision = again.replay({ at, command });
      if (decision.ok) continue;
      const text = `${command.kind} is refused`;
      throw new Wrong("a replay differs", text, `${text}: ${decision.refusal.code}`);
    }
    again.passTo(exchange.now);
    if (again.hash !== exchange.hash) throw new Wrong("a replay differs", "history", "another state hash");
    if (contentHash(again.state) !== contentHash(exchange.state))
      throw new Wrong("a replay differs", "state", "another content of the state");
  }
}

function thrown(error: unknown): Wrong {
  const { message } = error instanceof Error ? error : new Error(String(error));
  return new Wrong("something was thrown", message.replace(/\b(?:0x)?[0-9a-f]*\d[0-9a-f]*\b/g, "N"), message);
}
