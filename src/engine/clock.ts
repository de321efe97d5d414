import type { Steps } from "../core/steps.ts";
import { MAX_MILLIS, type Millis, millis } from "../core/units.ts";
import type { Exchange } from "./exchange.ts";
import { PersistenceError } from "./journal.ts";
import type { Slices } from "./slices.ts";

export type ClockMode = "real" | "frozen" | "scaled";

/** How a clock runs from now on. */
export interface ClockSetting {
  readonly mode: ClockMode;
  /** Virtual seconds per wall second; counts only when scaled. */
  readonly rate: number;
}

/** How long a scaled clock with agents may hold the event loop at a time. */
const LONGEST_TURN_MS = 20;
/** The longest wait a timer of the platform can take. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * Drives the virtual time of one exchange from the wall clock: at its pace, faster, slower, or not at all. Requests
 * settle it first; between requests one timer lets due commands happen at their moment.
 */
export class Clock {
  readonly #exchange: Exchange;
  readonly #wallNow: () => number;
  readonly #opened: ClockSetting;
  readonly #followsWall: boolean;
  #setting: ClockSetting;
  /** Virtual time at one moment of the wall clock; both move on only when the setting changes. */
  #virtualAnchor: number;
  #wallAnchor: number;
  #timer: NodeJS.Timeout | null = null;
  #timerDue = 0;
  /** Done when the latest change is. */
  #changes: Promise<unknown> = Promise.resolve();
  #isChanging = false;
  readonly #watchers = new Set<(setting: ClockSetting) => void>();

  /** With `followsWall` it opens at the wall clock's own time, else at the exchange's; `later`: when `catchUp` says so. */
  constructor(
    exchange: Exchange,
    setting: ClockSetting,
    wallNow: () => number,
    followsWall = false,
    opens: "now" | "later" = "now",
  ) {
    this.#exchange = exchange;
    this.#wallNow = wallNow;
    this.#opened = setting;
    this.#setting = setting;
    this.#followsWall = followsWall;
    this.#wallAnchor = wallNow();
    this.#virtualAnchor = exchange.now;
    if (opens === "now") this.open();
  }

  /** What the wall clock shows, whatever this one does. */
  get wallTime(): Millis {
    return millis(Math.floor(this.#wallNow()));
  }

  /** How it runs. */
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
   * Brings the exchange to this moment, with all that became due. Time never runs backwards: where the wall clock has
   * been set back, it runs on from where it stands.
   */
  settle(): void {
    if (this.#setting.mode === "frozen" || this.#isChanging) return;
    const reading = this.#reading();
    if (reading < this.#exchange.now) {
      this.#anchor();
      this.#tell();
    } else if (this.#setting.mode === "scaled" && this.#exchange.agents !== null) this.#follow(reading);
    else this.#exchange.advanceTo(reading);
  }

  /** What agents do may take longer than the time in which it is due: a scaled clock then goes as fast as it can. */
  #follow(reading: Millis): void {
    const end = this.#wallNow() + LONGEST_TURN_MS;
    const steps = this.#exchange.advanceInSteps(reading);
    while (steps.next().done !== true) {
      if (this.#wallNow() < end) continue;
      this.#anchor();
      return;
    }
  }

  /** Waits for what time alone causes next; to be called after anything may have changed what that is. */
  arm(): void {
    const due = this.rate === 0 ? null : this.#exchange.nextDueAt;
    if (due === null) {
      this.stop();
      return;
    }
    if (this.#timer !== null && this.#timerDue === due) return;
    this.stop();
    const waitMs = Math.max(0, (due - this.#exchange.now) / this.rate);
    this.#timerDue = due;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        try {
          this.settle();
        } catch (error) {
          // Nobody has asked for anything: the clock stands still now, and whoever asks next is told why.
          if (!(error instanceof PersistenceError)) throw error;
        }
        this.arm();
      },
      Math.min(Math.ceil(waitMs), MAX_TIMER_MS),
    ).unref();
  }

  /** Forgets the timer. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /**
   * Carries out a change of the time, step by step while others have their turn. One change waits for another, and until
   * it is done the time moves by it alone.
   */
  change<T>(slices: Slices, steps: () => Steps<T>): Promise<T> {
    const carryOut = async (): Promise<T> => {
      this.#isChanging = true;
      try {
        return await slices.run(steps());
      } finally {
        this.#isChanging = false;
      }
    };
    const done = this.#changes.then(carryOut);
    // Who waited for it answers with the time that it has set: the next one begins a turn later.
    this.#changes = done.catch(() => {}).then(() => new Promise<void>((resolve) => setImmediate(resolve)));
    return done;
  }

  /**
   * Moves the time forward to `to`, then runs as the setting says. Answers false, and does no more, where the exchange was
   * put back meanwhile. Steps of a change.
   */
  *moveInSteps(setting: ClockSetting, to: Millis): Steps<boolean> {
    const isThere = yield* this.#exchange.advanceInSteps(to);
    if (isThere) this.resume(setting);
    return isThere;
  }

  /** Runs as the setting says from where the exchange stands, which a restored snapshot may have put back. */
  resume(setting: ClockSetting): void {
    this.stop();
    this.#setting = setting;
    this.#anchor();
    this.#tell();
    this.arm();
  }

  /**
   * Runs on as it ran before the program was stopped, `behind` ms of wall time ago: a real clock catches up, with all
   * that became due on the way; any other one goes on from where it stood.
   */
  catchUp(setting: ClockSetting, behind: number): void {
    const to =
      setting.mode === "real" ? this.#exchange.now + Math.max(0, Math.floor(behind)) : this.#exchange.now;
    this.#exchange.advanceTo(millis(Math.min(MAX_MILLIS, to)));
    this.resume(setting);
  }

  /** Stands still from now on, and tells nobody. */
  halt(): void {
    this.stop();
    this.#setting = { mode: "frozen", rate: 0 };
  }

  /** Runs as it was first set, from where the exchange stands, or from the wall clock's time when it follows that. */
  open(): void {
    if (this.#followsWall) this.#exchange.advanceTo(millis(Math.max(this.#exchange.now, this.#wallNow())));
    this.resume(this.#opened);
  }

  /** Calls `watcher` whenever the clock begins to run in another way, or from another moment, until the answer is called. */
  watch(watcher: (setting: ClockSetting) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #tell(): void {
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
