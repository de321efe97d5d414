import type { Clock, ClockSetting } from "./clock.ts";
import type { Exchange, Snapshot } from "./exchange.ts";

/** A snapshot of an exchange and its clock. */
export interface StoredSnapshot {
  /** `snapshot-1`, `snapshot-2`, ... in the order in which they were taken. */
  readonly id: string;
  /** Optional name; several snapshots may share one. */
  readonly name: string | null;
  /** State hash. */
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

  /** Takes a snapshot. */
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
    this.#clock.resume(clock);
  }

  /** Deletes a snapshot. */
  forget(snapshot: StoredSnapshot): void {
    this.#snapshots = this.#snapshots.filter((each) => each !== snapshot);
  }

  /** Deletes all snapshots, and restarts their numbering. */
  clear(): void {
    this.#snapshots = [];
    this.#taken = 0;
  }
}
