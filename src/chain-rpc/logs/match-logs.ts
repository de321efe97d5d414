import { orderHash } from "../../core/chain/chain-hashes.ts";
import { CONTRACTS } from "../../core/chain/contracts.ts";
import { tradesOf } from "../../core/chain/moves.ts";
import type { Transaction } from "../../core/chain/transaction.ts";
import type { Address } from "../../core/commands.ts";
import { marketOfToken } from "../../core/market.ts";
import type { Trade } from "../../core/order.ts";
import { FEES, type State } from "../../core/state.ts";
import { type Money, notional } from "../../core/units.ts";
import { addressWord, bytesWord, numberWord } from "../hex.ts";
import { sharesMoved, tokenWord, unitsOf } from "./asset.ts";
import { exchangeEvents, transfer } from "./events.ts";
import type { Log } from "./log.ts";
import { mergeLogs, splitLogs } from "./set-logs.ts";

const { exchange } = CONTRACTS;
/** What stands for the collateral where the exchange names assets. */
const COLLATERAL_ID = numberWord(0);

/** One order's part in a match: what its owner pays or gets in USDC, and in shares of its token. */
interface Part {
  readonly order: number;
  readonly owner: Address;
  readonly isBuyer: boolean;
  readonly token: string;
  /** Micro-USDC, without a fee. */
  readonly value: number;
  readonly size: number;
  readonly fee: number;
}

/**
 * The logs of a match that is settled: what the taker gives comes in, each maker is settled in turn, what the taker gets
 * goes out. Between two of its calls the exchange's contract holds everything, afterwards nothing.
 */
export function matchLogs(state: State, transaction: Transaction): Log[] {
  const trades = tradesOf(state, transaction);
  const taker = takerOf(state, trades);
  const { fee } = taker;
  return [
    moved(taker, taker.owner, exchange, fee),
    ...trades.flatMap((trade) => fillLogs(state, trade, taker)),
    moved(taker, exchange, taker.owner, -fee),
    ...(fee > 0 ? feeLogs(state, fee) : []),
    filled(state, taker, exchange),
    exchangeEvents.OrdersMatched(
      bytesWord(orderHash(state, taker.order)),
      addressWord(taker.owner),
      ...givenAndGot(taker),
    ),
  ];
}

function fillLogs(state: State, trade: Trade, taker: Part): Log[] {
  const maker = makerOf(state, trade);
  return [
    moved(maker, maker.owner, exchange, 0),
    ...setLogs(state, trade),
    moved(maker, exchange, maker.owner, 0),
    filled(state, maker, taker.owner),
  ];
}

/** The sets that a fill splits or merges on the way. */
function setLogs(state: State, { taker, size, matchType }: Trade): Log[] {
  if (matchType === "COMPLEMENTARY") return [];
  const market = state.markets.get(marketOfToken(state.orders.get(taker).token));
  const sets = { holder: exchange, market, units: unitsOf(size) };
  return matchType === "MINT" ? splitLogs(sets) : mergeLogs(sets);
}

/** A party gives what it pays with, or gets what it is owed; a buyer pays its fee with the rest, a seller's is kept back. */
function moved({ owner, isBuyer, token, value, size }: Part, from: Address, to: Address, fee: number): Log {
  const isMoney = (from === owner) === isBuyer;
  return isMoney ? transfer(from, to, value + fee) : sharesMoved(exchange, from, to, token, size);
}

const feeLogs = (state: State, fee: number): Log[] => {
  const { address } = state.accounts.get(FEES);
  return [
    transfer(exchange, address, fee),
    exchangeEvents.FeeCharged(addressWord(address), COLLATERAL_ID, numberWord(fee)),
  ];
};

/** What the exchange tells of an order that was filled against a counterparty. */
const filled = (state: State, part: Part, counterparty: Address): Log =>
  exchangeEvents.OrderFilled(
    bytesWord(orderHash(state, part.order)),
    addressWord(part.owner),
    addressWord(counterparty),
    ...givenAndGot(part),
    numberWord(part.fee),
  );

/** The assets that an owner gives and gets, then the amounts. */
function givenAndGot({ isBuyer, token, value, size }: Part): string[] {
  const money = numberWord(value);
  const shares = numberWord(unitsOf(size));
  return isBuyer ? [COLLATERAL_ID, token, money, shares] : [token, COLLATERAL_ID, shares, money];
}

function takerOf(state: State, trades: readonly Trade[]): Part {
  const [first] = trades;
  if (first === undefined) throw new Error("a match has no trades");
  let [value, size, fee] = [0, 0, 0];
  for (const trade of trades) {
    value += notional(trade.price, trade.size);
    size += trade.size;
    fee += trade.fee;
  }
  return partOf(state, first.taker, value, size, fee);
}

/** A maker fills at its own price. */
function makerOf(state: State, { maker, size }: Trade): Part {
  const value: Money = notional(state.orders.get(maker).price, size);
  return partOf(state, maker, value, size, 0);
}

function partOf(state: State, order: number, value: number, size: number, fee: number): Part {
  const { account, side, token } = state.orders.get(order);
  const owner = state.accounts.get(account).address;
  return { order, owner, isBuyer: side === "BUY", token: tokenWord(state, token), value, size, fee };
}
