import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Clock, ClockSetting } from "../engine/clock.ts";
import type { Exchange, Snapshot } from "../engine/exchange.ts";
import type { Slices } from "../engine/slices.ts";
import { Filters } from "./filters.ts";
import type { LogIndex } from "./log-index.ts";
import { optional } from "./params.ts";

interface NodeSnapshot {
  readonly exchange: Snapshot;
  readonly clock: ClockSetting;
  readonly secondsAdded: number;
}

/** Snapshots numbered from 0, as `evm_snapshot` does: reverting to one deletes it and all later ones. */
class EvmSnapshots {
  readonly #host: Host;
  readonly #snapshots = new Map<bigint, NodeSnapshot>();
  #taken = 0n;
  /** Seconds added by `evm_increaseTime` so far; a revert restores them. */
  secondsAdded = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  take(): bigint {
    const { exchange, clock } = this.#host;
    const { secondsAdded } = this;
    this.#snapshots.set(this.#taken, { exchange: exchange.snapshot(), clock: clock.setting, secondsAdded });
    this.#taken += 1n;
    return this.#taken - 1n;
  }

  /** Reverts to a snapshot; false when there is none of this number, or no longer. */
  revert(number: bigint): boolean {
    const snapshot = this.#snapshots.get(number);
    if (snapshot === undefined) return false;
    for (const other of this.#snapshots.keys()) if (other >= number) this.#snapshots.delete(other);
    this.#host.exchange.restore(snapshot.exchange);
    this.#host.clock.resume(snapshot.clock);
    this.secondsAdded = snapshot.secondsAdded;
    return true;
  }
}

export interface Host {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  /** The dev accounts, in lower case: it signs for them. */
  readonly accounts: readonly Address[];
  readonly slices: Slices;
  /** The private key of a dev account, where the exchange shows one. */
  readonly keyOf: (account: Address) => `0x${string}` | null;
  readonly reset: () => void;
}

/** What the methods work on: the exchange, and what the node itself remembers for its clients. */
export interface NodeContext extends Host {
  /** The state at this moment; read it, never keep it. */
  readonly state: State;
  /** Addresses that may send unsigned transactions, beside the dev accounts, in the order in which they were added. */
  readonly impersonated: Set<Address>;
  impersonatesAll: boolean;
  /** How far the clock moves before each block that is asked for; null for not at all. */
  secondsBetweenBlocks: number | null;
  readonly snapshots: EvmSnapshots;
  readonly logIndex: LogIndex;
  readonly filters: Filters;
}

export function contextOf(host: Host, logIndex: LogIndex): NodeContext {
  const filters = new Filters(logIndex);
  host.exchange.watchRewind(() => filters.follow(host.exchange.state));
  return {
    ...host,
    get state() {
      return host.exchange.state;
    },
    impersonated: new Set(),
    impersonatesAll: false,
    secondsBetweenBlocks: null,
    snapshots: new EvmSnapshots(host),
    logIndex,
    filters,
  };
}

export interface Param<Value> {
  readonly name: string;
  /** Whether it may be left out from the end. */
  readonly isOptional: boolean;
  /** @throws RpcError naming the parameter, what was expected and what was found. */
  readonly read: (value: unknown, name: string, state: State) => Value;
}

export const param = <Value>(name: string, read: Param<Value>["read"]): Param<Value> => ({
  ...{ name, isOptional: false, read },
});

/** One that may also be null. */
export const optionalParam = <Value>(name: string, read: Param<Value>["read"]): Param<Value | undefined> => ({
  ...{ name, isOptional: true },
  read: (value, name, state) => optional(value, name, (given) => read(given, name, state)),
});

type ValuesOf<Params extends readonly Param<unknown>[]> = {
  -readonly [Place in keyof Params]: Params[Place] extends Param<infer Value> ? Value : never;
};

export interface Method {
  readonly params: readonly Param<unknown>[];
  /** Whether it needs the control plane's token: it steers the chain, or acts in somebody's name. */
  readonly isControl: boolean;
  /** @throws RpcError */
  readonly perform: (node: NodeContext, ...values: never) => unknown;
}

export type Methods = Readonly<Record<string, Method>>;

const method =
  (isControl: boolean) =>
  <const Params extends readonly Param<unknown>[]>(
    params: Params,
    perform: (node: NodeContext, ...values: ValuesOf<Params>) => unknown,
  ): Method => ({ params, isControl, perform });

export const open = method(false);
export const control = method(true);

/** The same method by the names that anvil and Hardhat have for it. */
export const ofBoth = (methods: Methods): Methods =>
  Object.fromEntries(
    Object.entries(methods).flatMap(([name, method]): [string, Method][] => [
      [`anvil_${name}`, method],
      [`hardhat_${name}`, method],
    ]),
  );
