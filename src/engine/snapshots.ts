import type { Clock, ClockSetting } from "./clock.ts";
import type { Exchange, Snapshot } from "./exchange.ts";

/** A snapshot of an exchange and its clock, kept to come back to. */
export interface StoredSnapshot {
  /** `snapshot-1`, `snapshot-2`, ... in the order in which they were taken. */
  readonly id: string;
  /** What it is also known by; several may have one name. */
  readonly name: string | null;
  /** The hash of the state. */
  readonly hash: string;
  readonly exchange: Snapshot;
  readonly clock: ClockSetting;
}

/** The snapshots of one exchange, in memory. Going back to one forgets none of the others. */
export class Snapshots {
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  #kept: StoredSnapshot[] = [];
  #taken = 0;

  constructor(exchange: Exchange, clock: Clock) {
    this.#exchange = exchange;
    this.#clock = clock;
  }

  /** All that are kept, oldest first. */
  get all(): readonly StoredSnapshot[] {
    return this.#kept;
  }

  /** Keeps where the exchange stands. */
  take(name: string | null): StoredSnapshot {
    const { hash } = this.#exchange;
    this.#taken += 1;
    const id = `snapshot-${this.#taken}`;
    const kept = { id, name, hash, exchange: this.#exchange.snapshot(), clock: this.#clock.setting };
    this.#kept.push(kept);
    return kept;
  }

  /** The snapshot of an id, or else the latest of a name. */
  find(idOrName: string): StoredSnapshot | undefined {
    return (
      this.#kept.find(({ id }) => id === idOrName) ?? this.#kept.findLast(({ name }) => name === idOrName)
    );
  }

  /** Puts exchange and clock back: the clock runs on from the time of the snapshot, in its mode and at its rate. */
  restore({ exchange, clock }: StoredSnapshot): void {
    this.#exchange.restore(exchange);
    this.#clock.resume(clock);
  }

  /** Forgets one. */
  forget(snapshot: StoredSnapshot): void {
    this.#kept = this.#kept.filter((kept) => kept !== snapshot);
  }

  /** Forgets all; the next is the first again. */
  clear(): void {
    this.#kept = [];
    this.#taken = 0;
  }
}
