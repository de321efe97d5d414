import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Clock, ClockSetting, Slices } from "../engine/clock.ts";
import type { Exchange, Snapshot } from "../engine/exchange.ts";
import { Cursors } from "./cursors.ts";
import { Filters } from "./filters.ts";
import type { LogIndex } from "./log-index.ts";
import { optional } from "./params.ts";
import { Subscriptions } from "./subscriptions.ts";

interface NodeSnapshot {
  readonly exchange: Snapshot;
  readonly clock: ClockSetting;
  readonly secondsAdded: number;
}

/** Snapshots of `evm_snapshot`, numbered from 0. Reverting to one deletes it and all later ones. */
class EvmSnapshots {
  readonly #host: Host;
  readonly #snapshots = new Map<bigint, NodeSnapshot>();
  #next = 0n;
  /** Seconds added by `evm_increaseTime` so far; a revert restores them. */
  secondsAdded = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  take(): bigint {
    const { exchange, clock } = this.#host;
    const { secondsAdded } = this;
    this.#snapshots.set(this.#next, { exchange: exchange.snapshot(), clock: clock.setting, secondsAdded });
    this.#next += 1n;
    return this.#next - 1n;
  }

  /** Reverts to a snapshot; returns false if it does not exist. */
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

/** The exchange of a node, with what the node needs to know about its server. */
export interface Host {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  /** Dev accounts, in lower case. The node signs for them. */
  readonly accounts: readonly Address[];
  readonly slices: Slices;
  /** Returns the private key of a dev account; null for other addresses. */
  readonly keyOf: (account: Address) => `0x${string}` | null;
  /** Restarts the exchange. */
  readonly reset: () => void;
}

/** Returns the data of a node for its clients, which a reset deletes. */
const emptyMemory = (host: Host) => ({
  /** Addresses besides the dev accounts that may send unsigned transactions, in the order in which they were added. */
  impersonated: new Set<Address>(),
  impersonatesAll: false,
  /** Seconds by which the clock is advanced before each mined block; null for none. */
  secondsBetweenBlocks: null as number | null,
  snapshots: new EvmSnapshots(host),
});

/** The exchange and the node's own data, as the methods use them. */
export interface NodeContext extends Host, ReturnType<typeof emptyMemory> {
  /** The current state; a later command may replace it. */
  readonly state: State;
  readonly logIndex: LogIndex;
  readonly filters: Filters;
  readonly subscriptions: Subscriptions;
  /** Deletes filters, snapshots and impersonations; subscriptions stay. */
  readonly forget: () => void;
}

export function contextOf(host: Host, logIndex: LogIndex): NodeContext {
  const { exchange } = host;
  const cursors = new Cursors();
  const filters = new Filters(logIndex, cursors);
  exchange.watchRewind(() => cursors.follow(exchange.state));
  const context: NodeContext = {
    ...host,
    get state() {
      return exchange.state;
    },
    ...emptyMemory(host),
    logIndex,
    filters,
    subscriptions: new Subscriptions(exchange, host.slices, cursors),
    forget: () => {
      filters.clear();
      Object.assign(context, emptyMemory(host));
    },
  };
  return context;
}

export interface Param<Value> {
  readonly name: string;
  /** Whether it may be omitted. */
  readonly isOptional: boolean;
  /** @throws RpcError naming the parameter, what was expected and what was found. */
  readonly read: (value: unknown, name: string, state: State) => Value;
}

export const param = <Value>(name: string, read: Param<Value>["read"]): Param<Value> => ({
  ...{ name, isOptional: false, read },
});

/** A parameter that may be omitted or null. */
export const optionalParam = <Value>(name: string, read: Param<Value>["read"]): Param<Value | undefined> => ({
  ...{ name, isOptional: true },
  read: (value, name, state) => optional(value, name, (given) => read(given, name, state)),
});

type ValuesOf<Params extends readonly Param<unknown>[]> = {
  -readonly [Index in keyof Params]: Params[Index] extends Param<infer Value> ? Value : never;
};

export interface Method {
  readonly params: readonly Param<unknown>[];
  /** Whether it needs the token of the control plane, because it controls the chain or acts for an account. */
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

/** Returns each method under its names in anvil and Hardhat. */
export const aliased = (methods: Methods): Methods =>
  Object.fromEntries(
    Object.entries(methods).flatMap(([name, method]): [string, Method][] => [
      [`anvil_${name}`, method],
      [`hardhat_${name}`, method],
    ]),
  );
