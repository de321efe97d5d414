import { marketOfToken, tokenOf } from "../market.ts";
import type { Trade } from "../order.ts";
import { FAUCET, FEES, type State } from "../state.ts";
import { FULL_PRICE, notional, type Price, type Size } from "../units.ts";
import type { Move, SupplyChange, Transaction } from "./transaction.ts";

/** The token number that stands for USDC: no market has number 0. */
export const USDC = 0;

/**
 * What a transaction moves between accounts, in the order in which it does; USDC in micro-USDC, shares in size units.
 * What it issues comes from nowhere, what it locks or burns goes there.
 */
export function movesOf(state: State, transaction: Transaction): Move[] {
  const { content } = transaction;
  switch (content?.kind) {
    case undefined:
      return tradesOf(state, transaction).flatMap((trade) => movesOfTrade(state, trade));
    case "deposit": {
      const { account, collateral, market, size, yes, no } = content;
      if (market === 0) return [{ account, token: USDC, amount: collateral }];
      return [
        { account: yes, token: tokenOf(market, "YES"), amount: size },
        { account: no, token: tokenOf(market, "NO"), amount: size },
      ];
    }
    case "call":
      return [...(transaction.oddity?.effect?.moves ?? [])];
    default:
      return [];
  }
}

/** How a transaction changes the sets that markets have issued. */
export function supplyChangesOf(state: State, transaction: Transaction): SupplyChange[] {
  const { content } = transaction;
  switch (content?.kind) {
    case undefined:
      return tradesOf(state, transaction).flatMap((trade) => supplyChangeOfTrade(state, trade) ?? []);
    case "deposit":
      return content.market === 0 ? [] : [setsOf(content.market, content.size)];
    case "call": {
      const supply = transaction.oddity?.effect?.supply ?? null;
      return supply === null ? [] : [supply];
    }
    default:
      return [];
  }
}

/** The trades that a match settles, in order. */
export function tradesOf({ trades }: State, { firstTrade, trades: count }: Transaction): Trade[] {
  return Array.from({ length: count }, (_, index) => trades.get(firstTrade + index));
}

function movesOfTrade(state: State, { taker, maker, price, size, fee }: Trade): Move[] {
  const moves = [
    ...movesOfParty(state, maker, null, size, 0),
    ...movesOfParty(state, taker, price, size, fee),
  ];
  if (fee > 0) moves.push({ account: FEES, token: USDC, amount: fee });
  return moves;
}

/** A maker fills at its own price. */
function movesOfParty(state: State, number: number, price: Price | null, size: Size, fee: number): Move[] {
  const { account, token, side, price: limit } = state.orders.get(number);
  const bought = side === "BUY" ? 1 : -1;
  const value = notional(price ?? limit, size);
  return [
    { account, token: USDC, amount: -bought * value - fee },
    { account, token, amount: bought * size },
  ];
}

function supplyChangeOfTrade(state: State, { taker, size, matchType }: Trade): SupplyChange | null {
  if (matchType === "COMPLEMENTARY") return null;
  const market = marketOfToken(state.orders.get(taker).token);
  return setsOf(market, matchType === "MINT" ? size : -size);
}

/** So many full sets. */
export const setsOf = (market: number, size: number): SupplyChange => ({
  market,
  yes: size,
  no: size,
  collateral: size * FULL_PRICE,
});

/** Whether an account is one that the exchange gives from. */
export const isFaucet = (account: number): boolean => account === FAUCET;
