import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Clock, ClockSetting } from "../engine/clock.ts";
import type { Exchange, Snapshot } from "../engine/exchange.ts";
import type { Slices } from "../engine/slices.ts";
import { Filters } from "./filters.ts";
import { LogIndex } from "./log-index.ts";

interface NodeSnapshot {
  readonly exchange: Snapshot;
  readonly clock: ClockSetting;
  readonly secondsAdded: number;
}

/** Snapshots numbered from 0, as `evm_snapshot` does: reverting to one deletes it and all later ones. */
class EvmSnapshots {
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  readonly #snapshots = new Map<bigint, NodeSnapshot>();
  #taken = 0n;
  /** Seconds added by `evm_increaseTime` so far; a revert restores them. */
  secondsAdded = 0;

  constructor(exchange: Exchange, clock: Clock) {
    this.#exchange = exchange;
    this.#clock = clock;
  }

  /** Takes a snapshot of the exchange and its clock, and returns its number. */
  take(): bigint {
    const number = this.#taken;
    this.#taken += 1n;
    const { secondsAdded } = this;
    this.#snapshots.set(number, {
      exchange: this.#exchange.snapshot(),
      clock: this.#clock.setting,
      secondsAdded,
    });
    return number;
  }

  /** Reverts to a snapshot; false when there is none of this number, or no longer. */
  revert(number: bigint): boolean {
    const snapshot = this.#snapshots.get(number);
    if (snapshot === undefined) return false;
    for (const other of this.#snapshots.keys()) if (other >= number) this.#snapshots.delete(other);
    this.#exchange.restore(snapshot.exchange);
    this.#clock.resume(snapshot.clock);
    this.secondsAdded = snapshot.secondsAdded;
    return true;
  }
}

/** What a node is made of. */
export interface Host {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  /** The dev accounts, in lower case: it signs for them. */
  readonly accounts: readonly Address[];
  readonly slices: Slices;
}

/** What the methods work on: the exchange, and what the node itself remembers for its clients. */
export class NodeContext implements Host {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  readonly accounts: readonly Address[];
  readonly slices: Slices;
  /** Addresses that may send unsigned transactions, beside the dev accounts, in the order in which they were added. */
  readonly impersonated = new Set<Address>();
  impersonatesAll = false;
  readonly snapshots: EvmSnapshots;
  readonly logIndex: LogIndex;
  readonly filters: Filters;

  constructor({ exchange, clock, version, accounts, slices }: Host, logIndex = new LogIndex()) {
    this.exchange = exchange;
    this.clock = clock;
    this.version = version;
    this.accounts = accounts;
    this.slices = slices;
    this.snapshots = new EvmSnapshots(exchange, clock);
    this.logIndex = logIndex;
    this.filters = new Filters(logIndex);
  }

  /** The state at this moment; read it, never keep it. */
  get state(): State {
    return this.exchange.state;
  }
}

/** Performs a call of one method. @throws RpcError */
type Perform = (node: NodeContext, params: readonly unknown[]) => unknown;

/** One method of JSON-RPC. */
export interface Method {
  readonly minParams: number;
  readonly maxParams: number;
  /** Whether it needs the control plane's token: it steers the chain, or acts in somebody's name. */
  readonly isControl: boolean;
  readonly perform: Perform;
}

export type Methods = Readonly<Record<string, Method>>;

/** A method that anybody may call. */
export const open = (minParams: number, maxParams: number, perform: Perform): Method => ({
  ...{ minParams, maxParams, perform },
  isControl: false,
});

/** A method that needs the control plane's token. */
export const control = (minParams: number, maxParams: number, perform: Perform): Method => ({
  ...{ minParams, maxParams, perform },
  isControl: true,
});
