import { type Account, emptyBalance } from "./account.ts";
import { NO_SLOT, OrderPool } from "./book/order-pool.ts";
import { MatchPlan } from "./book/plan.ts";
import { type Chain, createChain } from "./chain/chain.ts";
import { ExpiryQueue } from "./expiry-queue.ts";
import { houseAddress, type IdKind, idPrefix } from "./ids.ts";
import type { EventRecord, Market } from "./market.ts";
import type { Order, Trade } from "./order.ts";
import { type Infer, integer, oneOf, optional, record, size, text } from "./schema.ts";
import { Table } from "./table.ts";
import { type Address, BALANCE_POLICIES, SETTLEMENT_MODES } from "./terms.ts";
import { MAX_ISSUANCE, type Millis, type Money, money, type Size } from "./units.ts";

/** Immutable configuration of an exchange. */
export const ExchangeConfig = record({
  /** Decides every id. */
  seed: text(),
  /** Funds that a wallet gets with its first derivation of credentials. */
  faucet: record({ collateral: integer<Money>(0, MAX_ISSUANCE), everyMarket: size() }),
  /** Whether a wallet may derive credentials more than once. */
  credentials: oneOf("rotate", "once"),
  /** When blocks are mined. */
  settlement: oneOf(...SETTLEMENT_MODES),
  balances: oneOf(...BALANCE_POLICIES),
  /** Whether wallets must approve the exchange's contracts; if absent, known wallets have approved them from the start. */
  approvals: optional(oneOf("required")),
});
export type ExchangeConfig = Infer<typeof ExchangeConfig>;

/** State of an exchange. Only `apply` writes to it. */
export interface State {
  readonly config: ExchangeConfig;
  readonly idPrefixes: Readonly<Record<IdKind, string>>;
  readonly events: Table<EventRecord>;
  readonly markets: Table<Market>;
  readonly accounts: Table<Account>;
  readonly orders: Table<Order>;
  readonly trades: Table<Trade>;
  readonly accountByAddress: Map<Address, number>;
  readonly tokenById: Map<string, number>;
  readonly marketByConditionId: Map<string, number>;
  readonly eventBySlug: Map<string, number>;
  readonly marketBySlug: Map<string, number>;
  readonly expiries: ExpiryQueue;
  readonly pool: OrderPool;
  /** Buffer for the match plan of one decision. */
  readonly plan: MatchPlan;
  readonly chain: Chain;
  /** All USDC ever issued: the sum of all balances and locked collateral. */
  issued: Money;
}

/** Account that gets the other half of sets minted for one outcome; the first of every exchange. */
export const FAUCET = 1;
/** Account that collects fees; the second of every exchange. */
export const FEES = 2;

/** Makes an account without funds. */
export function emptyAccount(number: number, address: Address): Account {
  return {
    number,
    address,
    collateral: emptyBalance(),
    everyMarket: 0 as Size,
    derivations: 0,
    holdings: new Map(),
    oldestOpen: NO_SLOT,
    newestOpen: NO_SLOT,
    openCount: 0,
    fills: new Table(),
  };
}

/** Returns the account of an address; undefined if it has none. */
export function findAccount(state: State, address: Address): Account | undefined {
  const number = state.accountByAddress.get(address);
  return number === undefined ? undefined : state.accounts.get(number);
}

/** Creates a state without events, markets or customers, whose chain begins at `start`. */
export function createState(config: ExchangeConfig, start: Millis): State {
  const prefix = (kind: IdKind): string => idPrefix(config.seed, kind);
  const state: State = {
    config,
    idPrefixes: {
      event: prefix("event"),
      market: prefix("market"),
      order: prefix("order"),
      trade: prefix("trade"),
    },
    events: new Table(),
    markets: new Table(),
    accounts: new Table(),
    orders: new Table(),
    trades: new Table(),
    accountByAddress: new Map(),
    tokenById: new Map(),
    marketByConditionId: new Map(),
    eventBySlug: new Map(),
    marketBySlug: new Map(),
    expiries: new ExpiryQueue(),
    pool: new OrderPool(),
    plan: new MatchPlan(),
    chain: createChain(config, start),
    issued: money(0),
  };
  for (const name of ["faucet", "fees"]) {
    const account = emptyAccount(state.accounts.next, houseAddress(config.seed, name));
    state.accountByAddress.set(account.address, state.accounts.add(account));
  }
  return state;
}
