import type { Clock, ClockSetting } from "../engine/clock.ts";
import type { Exchange, Snapshot } from "../engine/exchange.ts";

interface Kept {
  readonly exchange: Snapshot;
  readonly clock: ClockSetting;
  readonly secondsAdded: number;
}

/** Snapshots as `evm_snapshot` counts them, from 0: going back to one forgets it and all that came after it. */
export class EvmSnapshots {
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  readonly #kept = new Map<bigint, Kept>();
  #taken = 0n;
  /** What `evm_increaseTime` has moved the clock by so far; going back takes it back. */
  secondsAdded = 0;

  constructor(exchange: Exchange, clock: Clock) {
    this.#exchange = exchange;
    this.#clock = clock;
  }

  /** Keeps where the exchange and its clock stand, and answers the snapshot's number. */
  take(): bigint {
    const number = this.#taken;
    this.#taken += 1n;
    const { secondsAdded } = this;
    this.#kept.set(number, { exchange: this.#exchange.snapshot(), clock: this.#clock.setting, secondsAdded });
    return number;
  }

  /** Goes back to a snapshot; false when there is none of this number, or no longer. */
  revert(number: bigint): boolean {
    const kept = this.#kept.get(number);
    if (kept === undefined) return false;
    for (const other of this.#kept.keys()) if (other >= number) this.#kept.delete(other);
    this.#exchange.restore(kept.exchange);
    this.#clock.resume(kept.clock);
    this.secondsAdded = kept.secondsAdded;
    return true;
  }
}
