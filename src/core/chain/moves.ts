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
    case undefined: {
      const moves: Move[] = [];
      for (const trade of tradesOf(state, transaction)) addMovesOfTrade(state, trade, moves);
      return moves;
    }
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
    case undefined: {
      const changes: SupplyChange[] = [];
      for (const trade of tradesOf(state, transaction)) {
        if (trade.matchType !== "COMPLEMENTARY") changes.push(supplyChangeOfTrade(state, trade));
      }
      return changes;
    }
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
  const found: Trade[] = [];
  for (let index = 0; index < count; index += 1) found.push(trades.get(firstTrade + index));
  return found;
}

function addMovesOfTrade(state: State, { taker, maker, price, size, fee }: Trade, moves: Move[]): void {
  addMovesOfParty(state, maker, null, size, 0, moves);
  addMovesOfParty(state, taker, price, size, fee, moves);
  if (fee > 0) moves.push({ account: FEES, token: USDC, amount: fee });
}

/** A maker fills at its own price. */
function addMovesOfParty(
  state: State,
  number: number,
  price: Price | null,
  size: Size,
  fee: number,
  moves: Move[],
): void {
  const { account, token, side, price: limit } = state.orders.get(number);
  const bought = side === "BUY" ? 1 : -1;
  const value = notional(price ?? limit, size);
  moves.push(
    { account, token: USDC, amount: -bought * value - fee },
    { account, token, amount: bought * size },
  );
}

function supplyChangeOfTrade(state: State, { taker, size, matchType }: Trade): SupplyChange {
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
