import type { Account, Holding } from "./account.ts";
import { type Chain, type ChainWallet, headBlock } from "./chain/chain.ts";
import type { Transaction } from "./chain/transaction.ts";
import { sha256OfLines } from "./hash.ts";
import { idOf } from "./ids.ts";
import type { Market } from "./market.ts";
import { Order, Trade } from "./order.ts";
import type { State } from "./state.ts";
import type { Address } from "./terms.ts";

/**
 * The whole state as one JSON document, a line at a time: equal histories give equal bytes. Quantities are the core's
 * integers, as `units` says in the document; queues follow from the order numbers, for a partial fill keeps its place.
 */
export function* canonicalLines(state: State): Generator<string> {
  const { config } = state;
  yield "{";
  yield `"units":{"price":"0.0001 USDC","size":"0.01 share","money":"0.000001 USDC","at":"Unix ms"},`;
  const { seed, faucet, credentials, settlement, balances } = config;
  yield `"config":${JSON.stringify({ seed, faucet, credentials, settlement, balances })},`;
  yield* section("accounts", state.accounts, (account) => JSON.stringify(canonicalAccount(account)));
  yield* section("events", state.events, (event) =>
    JSON.stringify({ ...event, id: idOf(state.idPrefixes.event, event.number) }),
  );
  yield* section("markets", state.markets, (market) => JSON.stringify(canonicalMarket(state, market)));
  yield* section("orders", state.orders, Order.write);
  yield* section("trades", state.trades, Trade.write);
  yield* canonicalChain(state.chain);
  yield `"issued":${state.issued}`;
  yield "}";
}

/** SHA-256 of the canonical document, 64 hex digits. */
export const stateHash = (state: State): string => sha256OfLines(canonicalLines(state));

function* section<T>(name: string, items: Iterable<T>, line: (item: T) => string): Generator<string> {
  yield `"${name}":[`;
  let previous: string | undefined;
  for (const item of items) {
    if (previous !== undefined) yield `${previous},`;
    previous = line(item);
  }
  if (previous !== undefined) yield previous;
  yield "],";
}

function canonicalAccount(account: Account): object {
  const holdings = [...account.holdings].sort(([a], [b]) => a - b);
  return {
    number: account.number,
    address: account.address,
    collateral: account.collateral,
    everyMarket: account.everyMarket,
    derivations: account.derivations,
    holdings: holdings.map(([market, holding]) => canonicalHolding(market, holding)),
  };
}

const canonicalHolding = (market: number, { yes, no, granted }: Holding): object => ({
  market,
  yes,
  no,
  granted,
});

function canonicalMarket(state: State, market: Market): object {
  const { books, trades, yesTrades, number, ...facts } = market;
  return {
    number,
    id: idOf(state.idPrefixes.market, number),
    ...facts,
    books: books.map(({ sequence, updatedAt, last }) => ({ sequence, updatedAt, last })),
  };
}

/**
 * The settlement chain in lines of JSON. Its head names all that was mined; written out besides are transactions that
 * say more than their trades do, and what is still to come.
 */
function* canonicalChain(chain: Chain): Generator<string> {
  const { height, at } = headBlock(chain);
  const { fresh, held, lost, nextBlockAt, lastFilled, reorganizations, faults, faultsSet } = chain;
  yield `"chain":${JSON.stringify({ head: height, at, digest: chain.digest.words, blocks: chain.blocks.size, reorganizations })},`;
  yield `"waiting":${JSON.stringify({ fresh, held, lost, nextBlockAt, lastFilled, faults, faultsSet })},`;
  yield '"wallets":[';
  yield* separated([...chain.wallets].sort(([a], [b]) => (a < b ? -1 : 1)).map(walletLine));
  yield "],";
  yield '"transactions":[';
  yield* separated(remarkable(chain.transactions));
  yield "],";
}

function* remarkable(transactions: Iterable<Transaction>): Generator<string> {
  for (const transaction of transactions) {
    const { content, oddity, number, status, block, place } = transaction;
    if (content === null && oddity === null) continue;
    yield JSON.stringify({ number, status, block, place, content, oddity });
  }
}

function walletLine([address, wallet]: readonly [Address, ChainWallet]): string {
  const { mined, pending, native, allowances, operators } = wallet;
  return JSON.stringify({
    address,
    mined,
    pending: [...pending].sort(([a], [b]) => a - b),
    native: String(native),
    allowances: [...allowances].map(([spender, amount]) => [spender, String(amount)]),
    operators: [...operators],
  });
}

function* separated(lines: Iterable<string>): Generator<string> {
  let previous: string | undefined;
  for (const line of lines) {
    if (previous !== undefined) yield `${previous},`;
    previous = line;
  }
  if (previous !== undefined) yield previous;
}
