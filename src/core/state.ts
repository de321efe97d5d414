import { Account, emptyBalance } from "./account.ts";
import { MatchPlan } from "./book/book.ts";
import { OrderPool } from "./book/order-pool.ts";
import { type Chain, ChainWallet, createChain } from "./chain/chain.ts";
import { Transaction } from "./chain/transaction.ts";
import { addressText, orderText, SHOWN_DIGITS } from "./format.ts";
import { Digest } from "./hash.ts";
import { houseAddress, type IdKind, idPrefix, numberOf } from "./ids.ts";
import { EventRecord, Market, marketOfToken, outcomeOf } from "./market.ts";
import { ExpiryQueue, ORDER_PACKING, TRADE_PACKING } from "./order.ts";
import { PackedTable } from "./packed-table.ts";
import { type Infer, integer, oneOf, optional, record, size, text } from "./schema.ts";
import { Table } from "./table.ts";
import { type Address, BALANCE_POLICIES, SETTLEMENT_MODES } from "./terms.ts";
import { MAX_ISSUANCE, type Millis, type Money, money, type Size } from "./units.ts";

export const ExchangeConfig = record({
  seed: text(),
  /** Funds that a wallet gets with its first derivation of credentials. */
  faucet: record({ collateral: integer<Money>(0, MAX_ISSUANCE), everyMarket: size() }),
  /** Whether a wallet may derive credentials more than once. */
  credentials: oneOf("rotate", "once"),
  settlement: oneOf(...SETTLEMENT_MODES),
  balances: oneOf(...BALANCE_POLICIES),
  /** Whether wallets must approve the exchange's contracts; if absent, known wallets have approved them from the start. */
  approvals: optional(oneOf("required")),
});
export type ExchangeConfig = Infer<typeof ExchangeConfig>;

/** The faucet of an exchange that gives nothing. */
export const NO_FAUCET: ExchangeConfig["faucet"] = { collateral: money(0), everyMarket: 0 as Size };

/** State of an exchange. Only `apply` writes to it. */
export type State = Readonly<Omit<Created, "issued">> & Pick<Created, "issued">;
type Created = ReturnType<typeof createState>;

/** Account that gets the other half of sets minted for one outcome; the first of every exchange. */
export const FAUCET = 1;
/** Account that collects fees; the second of every exchange. */
export const FEES = 2;

export const emptyAccount = (number: number, address: Address): Account =>
  Account.make({ number, address, collateral: emptyBalance() });

export function findAccount(state: State, address: Address): Account | undefined {
  const number = state.accountByAddress.get(address);
  return number === undefined ? undefined : state.accounts.get(number);
}

/** Creates a state without events, markets or customers, whose chain begins at `start`. */
export function createState(config: ExchangeConfig, start: Millis) {
  const of = (kind: IdKind): string => idPrefix(config.seed, kind);
  const state = {
    config,
    idPrefixes: { event: of("event"), market: of("market"), order: of("order"), trade: of("trade") },
    events: new Table<EventRecord>(),
    markets: new Table<Market>(),
    accounts: new Table<Account>(),
    orders: new PackedTable(ORDER_PACKING),
    trades: new PackedTable(TRADE_PACKING),
    accountByAddress: new Map<Address, number>(),
    tokenById: new Map<string, number>(),
    marketByConditionId: new Map<string, number>(),
    eventBySlug: new Map<string, number>(),
    marketBySlug: new Map<string, number>(),
    expiries: new ExpiryQueue(),
    pool: new OrderPool(),
    /** Buffer for the match plan of one decision. */
    plan: new MatchPlan(),
    chain: createChain(config, start),
    /** All USDC ever issued: the sum of all balances and locked collateral. */
    issued: money(0),
  };
  for (const name of ["faucet", "fees"]) {
    const account = emptyAccount(state.accounts.next, houseAddress(config.seed, name));
    state.accountByAddress.set(account.address, state.accounts.add(account));
  }
  return state;
}

/**
 * Returns a writable copy of the state; the original must not be written to again. Records, and pages of orders and
 * trades, are copied when the copy first reads them. The cost depends on later changes, not on the size.
 */
export function copyState(state: State): State {
  const pool = state.pool.copy();
  return {
    config: state.config,
    idPrefixes: state.idPrefixes,
    events: state.events.copy(EventRecord.copy),
    markets: state.markets.copy((market) => copyMarket(market, pool)),
    accounts: state.accounts.copy(copyAccount),
    orders: state.orders.copy(),
    trades: state.trades.copy(),
    accountByAddress: new Map(state.accountByAddress),
    tokenById: new Map(state.tokenById),
    marketByConditionId: new Map(state.marketByConditionId),
    eventBySlug: new Map(state.eventBySlug),
    marketBySlug: new Map(state.marketBySlug),
    expiries: state.expiries.copy(),
    pool,
    plan: state.plan,
    chain: copyChain(state.chain),
    issued: state.issued,
  };
}

// Records are copied by their declarations, so that V8 gives created, copied and read ones one hidden class.

function copyMarket(market: Market, pool: OrderPool): Market {
  const copy = Market.copy(market);
  for (const bookState of copy.books) {
    bookState.book = bookState.book?.copy(pool) ?? null;
    bookState.history = bookState.history.copy();
  }
  copy.trades = market.trades.copy();
  copy.yesTrades = market.yesTrades.copy();
  return copy;
}

function copyAccount(account: Account): Account {
  const copy = Account.copy(account);
  for (const holding of copy.holdings.values()) {
    holding.yesFills = holding.yesFills?.copy() ?? null;
    holding.noFills = holding.noFills?.copy() ?? null;
  }
  copy.fills = account.fills.copy();
  return copy;
}

/** Returns a writable copy; the original must not be written to again. */
function copyChain(chain: Chain): Chain {
  const wallets = new Map<Address, ChainWallet>();
  for (const [address, wallet] of chain.wallets) wallets.set(address, ChainWallet.copy(wallet));
  return {
    ...chain,
    transactions: chain.transactions.copy(Transaction.copy),
    blocks: chain.blocks.copy(),
    heights: chain.heights.copy(),
    mined: chain.mined.copy(),
    digest: new Digest(chain.digest.words),
    wallets,
    signed: new Map(chain.signed),
    deferred: chain.deferred.slice(),
    lost: chain.lost.slice(),
    pendingBalances: chain.pendingBalances.slice(),
    building: chain.building && { ...chain.building },
  };
}

export function accountText(state: State, number: number): string {
  if (number === FAUCET) return "the faucet";
  if (number === FEES) return "the fees";
  const account = state.accounts.find(number);
  return account === undefined ? `account ${number}` : addressText(account.address);
}

/** Returns the slug of a market, not abbreviated, because the API and `clobsim inspect --market` take it. */
export const marketText = (state: State, number: number): string =>
  state.markets.find(number)?.slug ?? `market ${number}`;

/** `YES in will-it-rain`, of the id of a token, which may be unknown. */
export function tokenIdText(state: State, id: string): string {
  const token = state.tokenById.get(id);
  if (token === undefined) return `unknown token ${id.slice(0, SHOWN_DIGITS)}`;
  return `${outcomeOf(token)} in ${marketText(state, marketOfToken(token))}`;
}

/** Describes an order by its number, which its id contains. */
export function orderIdText(state: State, id: string): string {
  const number = numberOf(state.idPrefixes.order, id);
  return number === 0 ? `unknown order ${id.slice(0, SHOWN_DIGITS)}` : orderText(number);
}
