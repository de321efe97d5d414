import type { Command, Stamped } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Decision } from "../core/refusals.ts";
import { EARLIER_RULES } from "../core/rules/rule-set.ts";
import { apply, decide } from "../core/rules/rules.ts";
import { type Agents, type Due, isInBlock, isUnfinished, nextDue, nextDueAt } from "../core/schedule.ts";
import { copyState, createState, type ExchangeConfig, type State } from "../core/state.ts";
import { runSteps, type Steps } from "../core/steps.ts";
import { type Millis, millis } from "../core/units.ts";
import { HistoryDigest } from "./hashes.ts";
import { type Journal, noJournal } from "./journal.ts";

/** Called after each accepted command is applied. */
export type Watcher = (
  sequence: number,
  at: Millis,
  events: readonly DomainEvent[],
  command: Command,
) => void;

/** Whether these are the events that the command caused when it was first accepted. */
export type IsRecorded = (events: readonly DomainEvent[]) => boolean;

/** State, time and counters of an exchange at one moment; immutable. */
export interface Snapshot {
  readonly state: State;
  readonly now: Millis;
  readonly sequence: number;
  /** Digest of the history up to there, as `HistoryDigest.text`. */
  readonly digest: string;
  /** The journal's position, as `Journal.mark` returned it. */
  readonly mark: unknown;
}

/** One running exchange: the only writer of one state. Its time advances only by its methods. */
export class Exchange {
  readonly #journal: Journal;
  /** Replaced when one is added or removed; called once a command, where an iterator of a set would be garbage. */
  #watchers: readonly Watcher[] = [];
  readonly #rewindWatchers = new Set<() => void>();
  #state: State;
  /** The unmodified state of which the current one is a copy, as long as no command was applied to it; or null. */
  #unmodified: State | null = null;
  #now: Millis;
  #sequence = 0;
  /** Number of calls of `restore` and `restart`. */
  #rewinds = 0;
  #digest: HistoryDigest;
  /** Whether the commands accepted now are those of the opening. */
  #isOpening = false;
  #thrown: { readonly command: Command; readonly error: unknown } | null = null;
  /** Agents that submit commands as time passes; null if there are none. The journal has only their commands. */
  agents: Agents | null = null;

  constructor(config: ExchangeConfig, start: Millis, journal: Journal = noJournal) {
    this.#journal = journal;
    this.#state = createState(config, start);
    this.#digest = HistoryDigest.of(this.#state);
    this.#now = start;
  }

  /** The state. Do not store a reference: a snapshot, a restore or a restart replaces it. */
  get state(): State {
    return this.#state;
  }

  get now(): Millis {
    return this.#now;
  }

  /** Number of accepted commands. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Decides a command at this moment and applies its events, then executes what follows at the same moment, such as a
   * block that is mined at once. A command that is refused or changes nothing leaves no trace.
   */
  submit(command: Command): Decision {
    const decision = this.#executeOne(command);
    while (isUnfinished(this.#state, this.#now)) this.#runDue(nextDue(this.#state, this.#now));
    return decision;
  }

  /**
   * The latest command that threw while it was decided, journaled or applied, by a defect or a failure of the journal; null
   * if none did.
   */
  get thrown() {
    return this.#thrown;
  }

  /** Decides and applies one command, without what follows at the same moment. */
  #executeOne(command: Command, isRecorded?: IsRecorded): Decision {
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
    this.#unmodified = null;
    try {
      for (const event of decision.events) apply(this.#state, event, at);
      if (!this.#isOpening) this.#digest.mix(at, decision.events);
    } catch (error) {
      this.#journal.applyFailed?.(error);
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
   * Sets the time and applies one recorded command. Commands that became due in between are not executed, because the
   * journal contains them as well. Uses the rules of an earlier version if only those cause the recorded events.
   */
  replay({ at, command }: Stamped, isRecorded?: IsRecorded): Decision {
    this.setTime(at);
    return this.#executeOne(command, isRecorded);
  }

  /** Sets the time, without executing what is due by then. @throws RangeError if the time is past */
  setTime(at: Millis): void {
    if (at < this.#now) throw new RangeError(`cannot set the time back to ${at}: it is ${this.#now}`);
    this.#now = at;
  }

  /** Advances the time and executes what becomes due, in order, each at its own moment. */
  advanceTo(target: Millis): void {
    const next = isInBlock(this.#state) ? this.#now : this.nextDueAt;
    if (next !== null && next <= target) runSteps(this.advanceInSteps(target));
    else if (target > this.#now) this.#now = target;
  }

  /**
   * Does the same in steps: one for each due command, one for a whole block, and one for each moment at which agents
   * act. Each step is complete when the generator yields. At equal times agents act after due commands. Stops if the
   * exchange is restored or restarted between steps, and returns whether it reached the target.
   */
  *advanceInSteps(target: Millis): Steps<boolean> {
    // Agents have acted up to this moment.
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
      const rewinds = this.#rewinds;
      yield;
      if (this.#rewinds !== rewinds) return false;
      acted = this.#now;
    }
    if (target > this.#now) this.#now = target;
    return true;
  }

  /** Next moment, up to `by`, at which agents act. They do not act during the opening. */
  #nextAct(after: Millis, by: Millis): Millis | null {
    const at = this.#isOpening ? null : (this.agents?.nextAfter(after) ?? null);
    return at !== null && at <= by ? at : null;
  }

  #act(at: Millis): void {
    this.#now = at;
    for (const command of this.agents?.act() ?? []) this.submit(command);
  }

  #runDue(due: Due | null): void {
    if (due === null) throw new Error("a block is being assembled, but no command is due");
    const decision = this.#executeOne(due.command);
    if (!decision.ok) throw new Error(`due but refused: ${due.command.kind}: ${decision.refusal.code}`);
  }

  /** Next moment at which a command is due or an agent acts; null if there is none. */
  get nextDueAt(): Millis | null {
    const due = nextDueAt(this.#state);
    const act = this.agents?.nextAfter(this.#now) ?? null;
    return due === null || act === null ? (due ?? act) : millis(Math.min(due, act));
  }

  /** Hash of the history: equal where histories are equal. `v2:` and 64 hex digits. */
  get hash(): string {
    return this.#digest.hash;
  }

  /** 32-bit hash of the history, cheap to compute after each command. */
  get shortHash(): number {
    return this.#digest.short;
  }

  /** Calls `watcher` after each accepted command. Returns a function that stops it. */
  watch(watcher: Watcher): () => void {
    this.#watchers = [...this.#watchers, watcher];
    return () => {
      this.#watchers = this.#watchers.filter((each) => each !== watcher);
    };
  }

  /** Calls `watcher` after each `restore` and `restart`. Returns a function that stops it. */
  watchRewind(watcher: () => void): () => void {
    this.#rewindWatchers.add(watcher);
    return () => this.#rewindWatchers.delete(watcher);
  }

  #continueFrom(state: State): void {
    this.#state = copyState(state);
    this.#unmodified = state;
  }

  /** Takes a snapshot to restore later. Snapshots without a command between them share one state. */
  snapshot(): Snapshot {
    const state = this.#unmodified ?? this.#state;
    const mark = this.#journal.mark?.();
    if (this.#unmodified === null) this.#continueFrom(state);
    return { state, now: this.#now, sequence: this.#sequence, digest: this.#digest.text, mark };
  }

  /**
   * Restores state, time and counters of a snapshot, any number of times. Only this and `restart` set time and sequence
   * back.
   */
  restore(snapshot: Snapshot): void {
    this.#journal.rewind?.(snapshot.sequence, snapshot.mark);
    this.#replaceState(snapshot);
  }

  #replaceState({ state, now, sequence, digest }: Omit<Snapshot, "mark">): void {
    this.#continueFrom(state);
    this.#now = now;
    this.#sequence = sequence;
    this.#digest = new HistoryDigest(digest);
    this.#rewinds += 1;
    for (const watch of this.#rewindWatchers) watch();
  }

  /** Runs `play`, the commands of the opening. `text` identifies it: the config, the start, each command. */
  playOpening(text: string, play: () => void): void {
    this.#isOpening = true;
    try {
      play();
    } finally {
      this.#isOpening = false;
    }
    this.#digest = HistoryDigest.ofText(text);
  }

  /** Restarts at a time with an empty state, or from the snapshot of an opening. */
  restart(start: Millis | Snapshot): void {
    this.#journal.rewind?.(0);
    if (typeof start !== "number") {
      this.#replaceState(start);
      return;
    }
    const state = createState(this.#state.config, start);
    this.#replaceState({ state, now: start, sequence: 0, digest: HistoryDigest.of(state).text });
  }
}
