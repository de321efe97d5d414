import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Clock, ClockSetting, Slices } from "../engine/clock.ts";
import type { Exchange, Snapshot } from "../engine/exchange.ts";
import { type Cursor, Cursors } from "./cursors.ts";
import type { LogIndex } from "./log-search.ts";
import { optional } from "./parameters.ts";

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
const emptyMemory = () => ({
  /** Addresses besides the dev accounts that may send unsigned transactions, in the order in which they were added. */
  impersonated: new Set<Address>(),
  impersonatesAll: false,
  /** Seconds by which the clock is advanced before each mined block; null for none. */
  secondsBetweenBlocks: null as number | null,
  /** Seconds added by `evm_increaseTime` so far. */
  secondsAdded: 0,
  /** Snapshots of `evm_snapshot`, by numbers from 0. */
  snapshots: new Map<bigint, { exchange: Snapshot; clock: ClockSetting; secondsAdded: number }>(),
  snapshotsTaken: 0n,
  /** Cursors of filters by id, the most recently polled last. */
  filters: new Map<string, Cursor>(),
  filtersAdded: 0,
});

/** The exchange and the node's own data, as the methods use them. */
export interface NodeContext extends Host, ReturnType<typeof emptyMemory> {
  /** The current state; a later command may replace it. */
  readonly state: State;
  readonly logIndex: LogIndex;
  /** The cursors of filters and subscriptions. */
  readonly cursors: Cursors;
  /** Deletes filters, snapshots and impersonations; subscriptions stay. */
  readonly clear: () => void;
}

export function contextOf(host: Host, logIndex: LogIndex): NodeContext {
  const { exchange } = host;
  const cursors = new Cursors();
  exchange.watchRewind(() => cursors.follow(exchange.state));
  const context: NodeContext = {
    ...host,
    ...emptyMemory(),
    get state() {
      return exchange.state;
    },
    logIndex,
    cursors,
    clear: () => {
      for (const cursor of context.filters.values()) cursors.delete(cursor);
      Object.assign(context, emptyMemory());
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
