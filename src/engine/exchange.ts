import type { Agents } from "../core/agents.ts";
import { apply } from "../core/apply.ts";
import type { Command, Stamped } from "../core/commands.ts";
import { copyState } from "../core/copy-state.ts";
import { decide } from "../core/decide.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Decision } from "../core/refusals.ts";
import { EARLIER_RULES } from "../core/rules/rule-set.ts";
import { type Due, isInBlock, isUnfinished, nextDue, nextDueAt } from "../core/schedule.ts";
import { createState, type ExchangeConfig, type State } from "../core/state.ts";
import { runSteps, type Steps } from "../core/steps.ts";
import { type Millis, millis } from "../core/units.ts";
import { type Journal, noJournal } from "./journal.ts";
import { HistoryDigest } from "./state-hash.ts";

/** Told of each accepted command after it has been applied. */
export type Watcher = (
  sequence: number,
  at: Millis,
  events: readonly DomainEvent[],
  command: Command,
) => void;

/** Whether events are those that a command caused when it was accepted. */
export type IsRecorded = (events: readonly DomainEvent[]) => boolean;

/** Where an exchange stood: what it knew, its time, its counters. Nothing that happens later changes it. */
export interface Snapshot {
  readonly state: State;
  readonly now: Millis;
  readonly sequence: number;
  /** The digest of the history that led there, as `HistoryDigest.text`. */
  readonly digest: string;
  /** What the journal needs to go back here. */
  readonly mark: unknown;
}

/** A command at which deciding or applying threw, which is a defect, or at which it could not be kept. */
export interface Thrown {
  readonly command: Command;
  readonly error: unknown;
}

/** One running exchange: the single writer of one state. Time passes only when it is told to. */
export class Exchange {
  readonly #config: ExchangeConfig;
  readonly #journal: Journal;
  readonly #watchers = new Set<Watcher>();
  readonly #putBackWatchers = new Set<() => void>();
  #state: State;
  #now: Millis;
  #sequence = 0;
  /** How often it was put back, by `restore` or `restart`. */
  #putBack = 0;
  #digest: HistoryDigest;
  /** What is accepted now is what the history begins with. */
  #isOpening = false;
  #thrown: Thrown | null = null;
  /** Who acts on it as time passes; what they did before stands in the journal, which knows nothing of them. */
  agents: Agents | null = null;

  constructor(config: ExchangeConfig, start: Millis, journal: Journal = noJournal) {
    this.#config = config;
    this.#journal = journal;
    this.#state = createState(config, start);
    this.#digest = HistoryDigest.of(this.#state);
    this.#now = start;
  }

  /** What the exchange knows; read it, never keep it: a snapshot, a restore or a restart puts another in its place. */
  get state(): State {
    return this.#state;
  }

  /** The moment up to which time has passed. */
  get now(): Millis {
    return this.#now;
  }

  /** How many commands have been accepted. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Decides a command at this moment and applies what it causes, with what must follow at the same moment: a block that
   * is mined at once. A refused command leaves no trace, nor does one that changes nothing.
   */
  submit(command: Command): Decision {
    const decision = this.decideNext(command);
    while (isUnfinished(this.#state, this.#now)) this.#runDue(nextDue(this.#state, this.#now));
    return decision;
  }

  /** The latest command at which something was thrown; null when there is none. */
  get thrown(): Thrown | null {
    return this.#thrown;
  }

  /** The same for one command alone. Whoever calls it brings what must follow. */
  decideNext(command: Command, isRecorded?: IsRecorded): Decision {
    try {
      return this.#decideAndApply(command, isRecorded);
    } catch (error) {
      this.#thrown = { command, error };
      throw error;
    }
  }

  #decideAndApply(command: Command, isRecorded?: IsRecorded): Decision {
    const at = this.#now;
    let decision = decide(this.#state, { at, command });
    if (isRecorded !== undefined && !(decision.ok && isRecorded(decision.events))) {
      decision = this.#decideByEarlierRules({ at, command }, isRecorded) ?? decision;
    }
    if (!decision.ok || decision.events.length === 0) return decision;
    const sequence = this.#sequence + 1;
    this.#journal.append({ sequence, at, command }, decision.events);
    this.#sequence = sequence;
    try {
      for (const event of decision.events) apply(this.#state, event, at);
      if (!this.#isOpening) this.#digest.mix(at, decision.events);
    } catch (error) {
      this.#journal.unapplied?.(error);
      throw error;
    }
    for (const watch of this.#watchers) watch(sequence, at, decision.events, command);
    return decision;
  }

  #decideByEarlierRules(stamped: Stamped, isRecorded: IsRecorded): Decision | undefined {
    for (const rules of EARLIER_RULES) {
      const decision = decide(this.#state, stamped, rules);
      if (decision.ok && isRecorded(decision.events)) return decision;
    }
    return undefined;
  }

  /**
   * Decides again what was accepted at a moment, without anything that became due by then: that was accepted, too. Where
   * the rules of this version do not cause what was recorded and those of an earlier version do, theirs hold.
   */
  replay({ at, command }: Stamped, isRecorded?: IsRecorded): Decision {
    this.passTo(at);
    return this.decideNext(command, isRecorded);
  }

  /** Time has passed; what became due on the way has been decided again, or will be. @throws RangeError */
  passTo(at: Millis): void {
    if (at < this.#now) throw new RangeError(`${at} is over: time has passed up to ${this.#now}`);
    this.#now = at;
  }

  /** Lets time pass, submitting in order whatever becomes due on the way, each at its own moment. */
  advanceTo(target: Millis): void {
    runSteps(this.advanceInSteps(target));
  }

  /**
   * The same, a step for each command that becomes due, one for a whole block, and one for a moment at which agents act:
   * what others see between steps, and a snapshot keeps, is never one of them half done. At one moment agents come
   * last. Stops where the exchange is put back between steps, and answers whether it came to its end.
   */
  *advanceInSteps(target: Millis): Steps<boolean> {
    // Agents have acted up to here.
    let acted = this.#now;
    for (;;) {
      const due = nextDue(this.#state, target);
      const act = this.#nextAct(acted, target);
      if (due !== null && (act === null || due.at <= act)) {
        if (due.at > this.#now) this.#now = due.at;
        this.#runDue(due);
        if (isInBlock(this.#state) || act === this.#now) continue;
      } else if (act !== null) this.#act(act);
      else break;
      const putBack = this.#putBack;
      yield;
      if (this.#putBack !== putBack) return false;
      acted = this.#now;
    }
    if (target > this.#now) this.#now = target;
    return true;
  }

  /** When agents act next, by a moment; what a history begins with is none of theirs. */
  #nextAct(after: Millis, by: Millis): Millis | null {
    const at = this.#isOpening ? null : (this.agents?.nextAfter(after) ?? null);
    return at !== null && at <= by ? at : null;
  }

  /** What is refused leaves no trace, as anybody's. */
  #act(at: Millis): void {
    this.#now = at;
    for (const command of this.agents?.act() ?? []) this.submit(command);
  }

  #runDue(due: Due | null): void {
    if (due === null) throw new Error("something is unfinished, and nothing is due");
    const decision = this.decideNext(due.command);
    if (!decision.ok) throw new Error(`due but refused: ${due.command.kind}: ${decision.refusal.code}`);
  }

  /** When time causes something next, or lets an agent act; or null. */
  get nextDueAt(): Millis | null {
    const due = nextDueAt(this.#state);
    const act = this.agents?.nextAfter(this.#now) ?? null;
    return due === null || act === null ? (due ?? act) : millis(Math.min(due, act));
  }

  /** Names the state by what led to it: equal where histories are equal. `v2:` and 64 hex digits. */
  get hash(): string {
    return this.#digest.hash;
  }

  /** 32 bits that are equal where histories are equal, and are had for little after each command. */
  get shortHash(): number {
    return this.#digest.short;
  }

  /** Calls `watcher` after each accepted command until the answer is called. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Calls `watcher` after each `restore` and `restart` until the answer is called. */
  watchRewind(watcher: () => void): () => void {
    this.#putBackWatchers.add(watcher);
    return () => this.#putBackWatchers.delete(watcher);
  }

  /** Where the exchange stands, to come back to. */
  snapshot(): Snapshot {
    const state = this.#state;
    const mark = this.#journal.mark?.();
    this.#state = copyState(state);
    return { state, now: this.#now, sequence: this.#sequence, digest: this.#digest.text, mark };
  }

  /**
   * Goes to where a snapshot of this exchange was taken, as often as wanted: state, time and counters together. Only
   * here, and in `restart`, may time and sequence run backwards.
   */
  restore(snapshot: Snapshot): void {
    this.#journal.rewind?.(snapshot.sequence, snapshot.mark);
    this.#become(snapshot);
  }

  #become({ state, now, sequence, digest }: Omit<Snapshot, "mark">): void {
    this.#state = copyState(state);
    this.#now = now;
    this.#sequence = sequence;
    this.#digest = new HistoryDigest(digest);
    this.#putBack += 1;
    for (const watch of this.#putBackWatchers) watch();
  }

  /** Plays what the history begins with. `text` tells all of it: the config, the start, each command. */
  open(text: string, play: () => void): void {
    this.#isOpening = true;
    try {
      play();
    } finally {
      this.#isOpening = false;
    }
    this.#digest = HistoryDigest.ofText(text);
  }

  /** Forgets everything and starts anew at a moment, or where a snapshot was taken that everything begins with. */
  restart(start: Millis | Snapshot): void {
    this.#journal.rewind?.(0);
    if (typeof start !== "number") {
      this.#become(start);
      return;
    }
    const state = createState(this.#config, start);
    this.#become({ state, now: start, sequence: 0, digest: HistoryDigest.of(state).text });
  }
}
