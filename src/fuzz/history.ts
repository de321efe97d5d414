import { documentLines } from "../core/document/document-lines.ts";
import { parseDocument } from "../core/document/parse-document.ts";
import { violations } from "../core/invariants/invariants.ts";
import type { ExchangeConfig } from "../core/state.ts";
import { type Millis, millis } from "../core/units.ts";
import { Exchange, type Snapshot } from "../runtime/exchange.ts";
import type { Entry, Journal } from "../runtime/journal.ts";
import { contentHash } from "../runtime/state-hash.ts";
import type { Difference } from "./differences.ts";
import { type Batch, Follower } from "./follower.ts";
import { Generator, type Step } from "./generator.ts";
import type { Failure } from "./outcome.ts";
import type { Profile } from "./profile.ts";

/** When histories begin: 2026-01-01T00:00:00Z. */
export const START = millis(1_767_225_600_000);

/** How the exchange of a history is opened; other ones stand in for it where defects are planted. */
export type OpenExchange = (config: ExchangeConfig, start: Millis, journal: Journal) => Exchange;

export const openExchange: OpenExchange = (config, start, journal) => new Exchange(config, start, journal);

/** Thrown at the step after which something is wrong. */
class Wrong extends Error {
  readonly failure: Omit<Failure, "command">;

  constructor(kind: string, about: string, text: string) {
    super(text);
    this.failure = { fingerprint: `${kind}: ${about}`, sentence: `${kind}: ${text}` };
  }
}

/** Accepted commands, kept for a replay. */
class Entries implements Journal {
  readonly list: Entry[] = [];

  append(entry: Entry): void {
    this.list.push(entry);
  }

  mark(): number {
    return this.list.length;
  }

  rewind(sequence: number): void {
    this.list.length = sequence;
  }
}

/** One history of a seed: an exchange and its reference, step by step, judged after each. */
export class History {
  readonly exchange: Exchange;
  readonly #profile: Profile;
  readonly #generator: Generator;
  readonly #entries = new Entries();
  readonly #follower: Follower;
  readonly #open: OpenExchange;
  #batches: Batch[] = [];
  #snapshot: { readonly at: Snapshot; readonly mark: number } | null = null;

  constructor(seed: number, profile: Profile, open: OpenExchange = openExchange) {
    this.#profile = profile;
    this.#open = open;
    this.#generator = new Generator(seed, profile);
    this.exchange = open(profile.config, START, this.#entries);
    this.#follower = new Follower(() => this.exchange.state);
    this.exchange.watch((_sequence, at, events) => void this.#batches.push({ at, events }));
  }

  /** What was accepted so far, in order. */
  get entries(): readonly Entry[] {
    return this.#entries.list;
  }

  /** Runs so many steps; answers what is wrong, or null. */
  run(steps: number): Failure | null {
    let done = 0;
    try {
      for (const command of this.#generator.opening()) this.#take({ kind: "command", command });
      for (; done < steps; done += 1)
        this.#take(this.#generator.next(this.exchange.state, this.exchange.now));
      this.#replayed();
      this.#loaded();
      return null;
    } catch (error) {
      const { failure } = error instanceof Wrong ? error : thrown(error);
      return { ...failure, command: done + 1 };
    }
  }

  #take(step: Step): void {
    const { exchange } = this;
    this.#batches = [];
    switch (step.kind) {
      case "command": {
        const at = exchange.now;
        const decision = exchange.submit(step.command);
        this.#judge(this.#follower.afterCommand(step.command, at, decision, this.#batches));
        break;
      }
      case "wait":
        exchange.advanceTo(step.to);
        this.#judge(this.#follower.afterWait(step.to, this.#batches));
        break;
      case "snapshot":
        this.#snapshot = { at: exchange.snapshot(), mark: this.#follower.mark };
        break;
      case "restore":
        if (this.#snapshot === null) break;
        exchange.restore(this.#snapshot.at);
        this.#follower.goBackTo(this.#snapshot.mark);
        this.#judge(this.#follower.afterWait(exchange.now, []));
        break;
    }
  }

  #judge(difference: Difference | null): void {
    if (difference !== null) throw new Wrong("differs from the reference", difference.about, difference.text);
    for (const { name, differences } of violations(this.exchange.state)) {
      throw new Wrong("an invariant does not hold", name, `${name}: ${differences[0] ?? ""}`);
    }
  }

  /** What was accepted, decided again on a new exchange, comes to the same. */
  #replayed(): void {
    const { exchange } = this;
    const again = this.#open(this.#profile.config, START, { append: () => {} });
    for (const { at, command } of this.#entries.list) {
      const decision = again.redo({ at, command });
      if (!decision.ok)
        throw new Wrong(
          "a replay differs",
          `${command.kind} is refused`,
          `${command.kind} is refused: ${decision.refusal.code}`,
        );
    }
    again.passTo(exchange.now);
    if (again.hash !== exchange.hash)
      throw new Wrong("a replay differs", "events", "the history's hash is another");
    if (contentHash(again.state) !== contentHash(exchange.state))
      throw new Wrong("a replay differs", "state", "the state's content hash is another");
  }

  /** The state written out and read again is the same. */
  #loaded(): void {
    const { state } = this.exchange;
    const text = ["{", ...documentLines(state), "}"].join("\n");
    const loaded = parseDocument([new TextEncoder().encode(text)], (bytes) =>
      new TextDecoder().decode(bytes),
    );
    if (contentHash(loaded.state) !== contentHash(state))
      throw new Wrong("a state that was written is read otherwise", "state", "its content hash is another");
  }
}

function thrown(error: unknown): Wrong {
  const { message } = error instanceof Error ? error : new Error(String(error));
  return new Wrong("something was thrown", message.replace(/[0-9a-fx]*\d[0-9a-fx]*/g, "N"), message);
}
