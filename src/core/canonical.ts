import type { Account, Holding } from "./account.ts";
import { sha256OfLines } from "./hash.ts";
import { idOf } from "./ids.ts";
import type { Market } from "./market.ts";
import type { Order, Trade } from "./order.ts";
import type { State } from "./state.ts";

/**
 * The whole state as one JSON document, a line at a time: equal histories give equal bytes. Quantities are the core's
 * integers, as `units` says in the document; queues follow from the order numbers, for a partial fill keeps its place.
 */
export function* canonicalLines(state: State): Generator<string> {
  const { config } = state;
  yield "{";
  yield `"units":{"price":"0.0001 USDC","size":"0.01 share","money":"0.000001 USDC","at":"Unix ms"},`;
  yield `"config":${JSON.stringify({ seed: config.seed, faucet: config.faucet, credentials: config.credentials })},`;
  yield `"issued":${state.issued},`;
  yield* section("accounts", state.accounts, canonicalAccount);
  yield* section("events", state.events, (event) => ({
    ...event,
    id: idOf(state.idPrefixes.event, event.number),
  }));
  yield* section("markets", state.markets, (market) => canonicalMarket(state, market));
  yield* section("orders", state.orders, canonicalOrder);
  yield* section("trades", state.trades, canonicalTrade, "");
  yield "}";
}

/** SHA-256 of the canonical document, 64 hex digits. */
export const stateHash = (state: State): string => sha256OfLines(canonicalLines(state));

function* section<T>(
  name: string,
  items: Iterable<T>,
  plain: (item: T) => object,
  end = ",",
): Generator<string> {
  yield `"${name}":[`;
  let line: string | undefined;
  for (const item of items) {
    if (line !== undefined) yield `${line},`;
    line = JSON.stringify(plain(item));
  }
  if (line !== undefined) yield line;
  yield `]${end}`;
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

function canonicalOrder(order: Order): object {
  const { slot, lastTrade, nextOpen, previousOpen, ...facts } = order;
  return facts;
}

function canonicalTrade(trade: Trade): object {
  const { takerPrevious, makerPrevious, ...facts } = trade;
  return facts;
}
