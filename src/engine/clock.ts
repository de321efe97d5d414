import { scheduler } from "node:timers/promises";
import type { Steps } from "../core/steps.ts";
import { MAX_MILLIS, type Millis, millis } from "../core/units.ts";
import type { Exchange, Snapshot } from "./exchange.ts";
import { PersistenceError } from "./journal.ts";

export type ClockMode = "real" | "frozen" | "scaled";

/** Mode and rate of a clock; part of the published declarations, as the journal's records are not. */
export interface ClockSetting {
  readonly mode: ClockMode;
  /** Virtual seconds per wall second; used only in mode `scaled`. */
  readonly rate: number;
}

/** Longest time for which a scaled clock with agents holds the event loop. */
const MAX_TURN_MS = 20;
/** Longest delay of `setTimeout`. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * Drives the virtual time of one exchange from the wall clock: real, scaled or frozen. Requests advance it first;
 * between requests a timer executes due commands at their time.
 */
export class Clock {
  readonly #exchange: Exchange;
  readonly #wallNow: () => number;
  readonly #opened: ClockSetting;
  readonly #followsWall: boolean;
  #setting: ClockSetting;
  /** Virtual time at one moment of wall time; both change only with the setting. */
  #virtualAnchor: number;
  #wallAnchor: number;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = 0;
  /** Resolves when the latest change is done. */
  #changes: Promise<unknown> = Promise.resolve();
  #isChanging = false;
  /** Why a change of the time could not be persisted; null if it can be. */
  #failure: PersistenceError | null = null;
  readonly #watchers = new Set<(setting: ClockSetting) => void>();

  /** With `followsWall`, `open` sets the exchange to wall time. */
  constructor(exchange: Exchange, setting: ClockSetting, wallNow: () => number, followsWall = false) {
    this.#exchange = exchange;
    this.#wallNow = wallNow;
    this.#opened = setting;
    this.#setting = setting;
    this.#followsWall = followsWall;
    this.#wallAnchor = wallNow();
    this.#virtualAnchor = exchange.now;
  }

  get wallTime(): Millis {
    return millis(Math.floor(this.#wallNow()));
  }

  get setting(): ClockSetting {
    return this.#setting;
  }

  get mode(): ClockMode {
    return this.#setting.mode;
  }

  /** Virtual seconds per wall second: 1 when real, 0 when frozen. */
  get rate(): number {
    if (this.#setting.mode === "real") return 1;
    return this.#setting.mode === "frozen" ? 0 : this.#setting.rate;
  }

  /**
   * Advances the exchange to the current time and executes what became due. Time never runs backwards: if the wall
   * clock was set back, virtual time continues from where it is.
   */
  advanceToNow(): void {
    if (this.#setting.mode === "frozen" || this.#isChanging) return;
    const reading = this.#reading();
    if (reading < this.#exchange.now) {
      this.#anchor();
      this.#notify();
    } else if (this.#setting.mode === "scaled" && this.#exchange.agents !== null)
      this.#advanceWithAgents(reading);
    else this.#exchange.advanceTo(reading);
  }

  /** Advances a scaled clock with agents, for a limited time: if agents are slower than the rate, the clock slows down. */
  #advanceWithAgents(reading: Millis): void {
    const end = this.#wallNow() + MAX_TURN_MS;
    const steps = this.#exchange.advanceInSteps(reading);
    while (steps.next().done !== true) {
      if (this.#wallNow() < end) continue;
      this.#anchor();
      return;
    }
  }

  /** Sets the timer for what is due next. Must be called after anything that may change it. */
  arm(): void {
    const due = this.rate === 0 ? null : this.#exchange.nextDueAt;
    if (due === null) {
      this.stop();
      return;
    }
    if (this.#timer !== undefined && this.#timerDue === due) return;
    this.stop();
    const waitMs = Math.max(0, (due - this.#exchange.now) / this.rate);
    this.#timerDue = due;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        try {
          this.advanceToNow();
        } catch (error) {
          // There is no request to fail: the clock is halted, and the next request gets the error.
          if (!(error instanceof PersistenceError)) throw error;
        }
        this.arm();
      },
      Math.min(Math.ceil(waitMs), MAX_TIMER_MS),
    ).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Runs a change of the time in steps, sharing the event loop. Changes run one after another, and during a change only
   * its steps advance the time. @throws PersistenceError if nothing can be persisted any more
   */
  change<T>(slices: Slices, steps: () => Steps<T>): Promise<T> {
    const carryOut = async (): Promise<T> => {
      if (this.#failure !== null) throw this.#failure;
      this.#isChanging = true;
      try {
        return await slices.run(steps());
      } finally {
        this.#isChanging = false;
      }
    };
    const done = this.#changes.then(carryOut);
    // The caller answers with the time that it has set, so the next change begins a turn later.
    this.#changes = done.catch(() => {}).then(() => scheduler.yield());
    return done;
  }

  /**
   * Advances the time to `to`, then applies the setting. Returns false, and applies nothing, if the exchange was
   * restored or restarted meanwhile. Steps of a change.
   */
  *moveInSteps(setting: ClockSetting, to: Millis): Steps<boolean> {
    const isThere = yield* this.#exchange.advanceInSteps(to);
    if (isThere) this.applySetting(setting);
    return isThere;
  }

  /** Applies a setting at the exchange's current time, which a restored snapshot may have set back. */
  applySetting(setting: ClockSetting): void {
    this.stop();
    this.#setting = setting;
    this.#anchor();
    this.#notify();
    this.arm();
  }

  /**
   * Continues after the program was stopped for `stoppedMs` ms of wall time: a real clock catches up and executes what
   * became due; any other continues at the time at which it stopped.
   */
  catchUp(setting: ClockSetting, stoppedMs: number): void {
    const to =
      setting.mode === "real" ? this.#exchange.now + Math.max(0, Math.floor(stoppedMs)) : this.#exchange.now;
    this.#exchange.advanceTo(millis(Math.min(MAX_MILLIS, to)));
    this.applySetting(setting);
  }

  /** Freezes the clock without notifying watchers. After a failure, it refuses every change. */
  halt(failure: PersistenceError | null = null): void {
    this.stop();
    this.#failure = failure;
    this.#setting = { mode: "frozen", rate: 0 };
  }

  /** Applies the initial setting, at the exchange's time, or at wall time if it follows that. */
  open(): void {
    if (this.#followsWall) this.#exchange.advanceTo(millis(Math.max(this.#exchange.now, this.#wallNow())));
    this.applySetting(this.#opened);
  }

  /** Calls `watcher` after each change of the setting or the time. Returns a function that stops it. */
  watch(watcher: (setting: ClockSetting) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #notify(): void {
    for (const watch of this.#watchers) watch(this.#setting);
  }

  #anchor(): void {
    this.#wallAnchor = this.#wallNow();
    this.#virtualAnchor = this.#exchange.now;
  }

  #reading(): Millis {
    const elapsed = this.#wallNow() - this.#wallAnchor;
    const reading = this.#virtualAnchor + Math.floor(elapsed * this.rate);
    return millis(Math.min(MAX_MILLIS, reading));
  }
}

/** Longest time for which a job holds the event loop. */
const SLICE_MS = 5;

/**
 * Shares the event loop between long jobs and everything else: one job runs for one slice in each turn of the loop,
 * however many jobs there are, so that a request waits for at most one slice.
 */
export class Slices {
  readonly #waiting: (() => void)[] = [];
  readonly #sliceMs: number;

  /** A slice of 0 ms is one step. */
  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  /** Runs steps to their end and returns their result: one slice now, the others in turn. */
  async run<T>(steps: Iterator<undefined, T>): Promise<T> {
    for (let hasTime = this.#slice(); ; hasTime = await this.next()) {
      do {
        const { done, value } = steps.next();
        if (done === true) return value;
      } while (hasTime());
    }
  }

  /** Waits for the next slice; the returned function returns whether it still lasts. */
  async next(): Promise<() => boolean> {
    await new Promise<void>((resolve) => {
      if (this.#waiting.push(resolve) === 1) void this.#startWaiting();
    });
    return this.#slice();
  }

  /** Abandons the jobs that wait for a slice: they never go on. */
  stop(): void {
    this.#waiting.length = 0;
  }

  /** Begins a slice; the returned function returns whether it still lasts. */
  #slice(): () => boolean {
    const end = performance.now() + this.#sliceMs;
    return () => performance.now() < end;
  }

  /** Begins the waiting slices, each in a turn of the event loop. */
  async #startWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      await scheduler.yield();
      this.#waiting.shift()?.();
    }
  }
}

/** A snapshot of an exchange and its clock. */
export interface StoredSnapshot {
  /** `snapshot-1`, `snapshot-2`, ... in the order in which they were taken. */
  readonly id: string;
  /** Optional name; several snapshots may share one. */
  readonly name: string | null;
  readonly hash: string;
  readonly exchange: Snapshot;
  readonly clock: ClockSetting;
}

/** The snapshots of one exchange, in memory. Restoring one does not remove others. */
export class Snapshots {
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  #snapshots: StoredSnapshot[] = [];
  #taken = 0;

  constructor(exchange: Exchange, clock: Clock) {
    this.#exchange = exchange;
    this.#clock = clock;
  }

  /** All snapshots, oldest first. */
  get all(): readonly StoredSnapshot[] {
    return this.#snapshots;
  }

  take(name: string | null): StoredSnapshot {
    const { hash } = this.#exchange;
    this.#taken += 1;
    const id = `snapshot-${this.#taken}`;
    const snapshot = { id, name, hash, exchange: this.#exchange.snapshot(), clock: this.#clock.setting };
    this.#snapshots.push(snapshot);
    return snapshot;
  }

  /** Finds a snapshot by id, or else the latest by name. */
  find(idOrName: string): StoredSnapshot | undefined {
    return (
      this.#snapshots.find(({ id }) => id === idOrName) ??
      this.#snapshots.findLast(({ name }) => name === idOrName)
    );
  }

  /** Restores exchange and clock: the clock continues from the time of the snapshot, in its mode and at its rate. */
  restore({ exchange, clock }: StoredSnapshot): void {
    this.#exchange.restore(exchange);
    this.#clock.applySetting(clock);
  }

  delete(snapshot: StoredSnapshot): void {
    this.#snapshots = this.#snapshots.filter((each) => each !== snapshot);
  }

  /** Deletes all snapshots, and restarts their numbering. */
  clear(): void {
    this.#snapshots = [];
    this.#taken = 0;
  }
}
