import { type Account, copyBalance, type Holding } from "./account.ts";
import type { OrderPool } from "./book/order-pool.ts";
import type { Chain, ChainWallet } from "./chain/chain.ts";
import { Transaction, TransactionException } from "./chain/transaction.ts";
import { Digest } from "./hash.ts";
import type { EventRecord, Market, MarketBook } from "./market.ts";
import { Order } from "./order.ts";
import type { State } from "./state.ts";

// Records are copied as literals in the order of their declaration, so that V8 gives created, copied and read records one
// hidden class and the code that uses them stays fast.

/**
 * Returns a writable copy of the state; the original must not be written to again. Records are copied when the copy first
 * reads them. Trades, and orders that are not LIVE, are never copied. The cost depends on later changes, not on the size.
 */
export function copyState(state: State): State {
  const pool = state.pool.copy();
  return {
    config: state.config,
    idPrefixes: state.idPrefixes,
    events: state.events.copy(copyEvent),
    markets: state.markets.copy((market) => copyMarket(market, pool)),
    accounts: state.accounts.copy(copyAccount),
    orders: state.orders.copy(copyOrder),
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

const copyOrder = (order: Order): Order => (order.status === "LIVE" ? Order.copy(order) : order);

const copyEvent = (event: EventRecord): EventRecord => ({ ...event, markets: event.markets.slice() });

function copyMarket(market: Market, pool: OrderPool): Market {
  const [first, second] = market.books;
  const books: Market["books"] =
    second === undefined ? [copyBook(first, pool)] : [copyBook(first, pool), copyBook(second, pool)];
  return {
    ...market,
    books,
    volume: { ...market.volume },
    liquidity: { ...market.liquidity },
    supply: { ...market.supply },
    onChain: { ...market.onChain },
    trades: market.trades.copy(),
    yesTrades: market.yesTrades.copy(),
  };
}

const copyBook = (bookState: MarketBook, pool: OrderPool): MarketBook => ({
  ...bookState,
  book: bookState.book?.copy(pool) ?? null,
  history: bookState.history.copy(),
});

function copyAccount(account: Account): Account {
  const holdings = new Map<number, Holding>();
  for (const [market, holding] of account.holdings) holdings.set(market, copyHolding(holding));
  const { number, address, collateral, everyMarket, derivations, oldestOpen, newestOpen, openCount, fills } =
    account;
  return {
    number,
    address,
    collateral: copyBalance(collateral),
    everyMarket,
    derivations,
    holdings,
    oldestOpen,
    newestOpen,
    openCount,
    fills: fills.copy(),
  };
}

const copyHolding = ({ market, yes, no, granted, yesFills, noFills }: Holding): Holding => ({
  market,
  yes: copyBalance(yes),
  no: copyBalance(no),
  granted,
  yesFills: yesFills?.copy() ?? null,
  noFills: noFills?.copy() ?? null,
});

/** Returns a writable copy; the original must not be written to again. */
function copyChain(chain: Chain): Chain {
  const wallets = new Map<string, ChainWallet>();
  for (const [address, wallet] of chain.wallets) wallets.set(address, copyWallet(wallet));
  return {
    ...chain,
    transactions: chain.transactions.copy(copyTransaction),
    blocks: chain.blocks.copy(),
    heights: chain.heights.copy(),
    mined: chain.mined.copy(),
    digest: new Digest(chain.digest.words),
    wallets,
    signed: new Map(chain.signed),
    deferred: chain.deferred.slice(),
    lost: chain.lost.slice(),
    touched: chain.touched.slice(),
    faults: chain.faults.map((fault) => ({ ...fault })),
    building: chain.building && { ...chain.building },
  };
}

function copyTransaction(transaction: Transaction): Transaction {
  const copy = Transaction.copy(transaction);
  if (copy.exception !== null) copy.exception = TransactionException.copy(copy.exception);
  return copy;
}

const copyWallet = (wallet: ChainWallet): ChainWallet => ({
  ...wallet,
  pending: new Map(wallet.pending),
  allowances: new Map(wallet.allowances),
  operators: new Map(wallet.operators),
});
