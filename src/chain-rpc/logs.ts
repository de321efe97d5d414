import { orderHash } from "../core/chain/chain-hashes.ts";
import { CONTRACTS, ORACLE, TOKEN_UNITS, ZERO_ADDRESS } from "../core/chain/contracts.ts";
import { isFaucet, tradesOf, USDC } from "../core/chain/moves.ts";
import { questionIdOf } from "../core/chain/position-ids.ts";
import type { CallContent, CallEffect, DepositContent, Transaction } from "../core/chain/transaction.ts";
import { type Market, marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { Trade } from "../core/order.ts";
import { PAYOUTS } from "../core/rules/contract-calls.ts";
import { FEES, type State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { type Money, notional } from "../core/units.ts";
import { unreachable } from "../core/unreachable.ts";
import { collateralEvents, exchangeEvents, type Log, tokenEvents, transfer } from "./abis.ts";
import { addressWord, bytesWord, decimalWord, numberWord } from "./encoding.ts";

/** The id of a token as 64 hex digits. */
const tokenWord = ({ markets }: State, token: number): string =>
  decimalWord(tokenIdIn(markets.get(marketOfToken(token)), outcomeOf(token)));

/** The ids of both tokens of a market. */
const pairOf = ({ tokenIds }: Market): readonly [yes: string, no: string] => [
  decimalWord(tokenIds[0]),
  decimalWord(tokenIds[1]),
];

/** Shares in the units of the tokens' contract. */
const unitsOf = (size: number): number => size * TOKEN_UNITS;

/** Shares of one token change hands. */
const sharesMoved = (operator: Address, from: Address, to: Address, token: string, size: number): Log =>
  tokenEvents.TransferSingle(
    addressWord(operator),
    addressWord(from),
    addressWord(to),
    token,
    numberWord(unitsOf(size)),
  );

/** Shares of several tokens change hands, amounts in the contract's units. */
const batchMoved = (
  operator: Address,
  from: Address,
  to: Address,
  tokens: readonly string[],
  amounts: readonly string[],
): Log =>
  tokenEvents.TransferBatch(addressWord(operator), addressWord(from), addressWord(to), tokens, amounts);

const { collateral, conditionalTokens, exchange } = CONTRACTS;
const NO_PARENT = numberWord(0);
/** YES alone and NO alone. */
const BOTH = [1n, 2n];

/** So many full sets, in the contract's units, which are also what they cost; `partition` has both outcomes in some order. */
interface Sets {
  readonly holder: Address;
  readonly market: Market;
  readonly units: number | bigint;
  readonly partition?: readonly bigint[];
}

/** A holder's USDC becomes full sets. */
const splitLogs = (sets: Sets): Log[] => [
  transfer(sets.holder, conditionalTokens, sets.units),
  setsMoved(sets, ZERO_ADDRESS, sets.holder),
  tokenEvents.PositionSplit(...positionWords(sets)),
];

/** A holder's full sets become USDC again. */
const mergeLogs = (sets: Sets): Log[] => [
  setsMoved(sets, sets.holder, ZERO_ADDRESS),
  transfer(conditionalTokens, sets.holder, sets.units),
  tokenEvents.PositionsMerge(...positionWords(sets)),
];

function setsMoved({ holder, market, units, partition = BOTH }: Sets, from: Address, to: Address): Log {
  const [yes, no] = pairOf(market);
  const amount = numberWord(units);
  const tokens = partition.map((set) => (set === 1n ? yes : no));
  return batchMoved(
    holder,
    from,
    to,
    tokens,
    tokens.map(() => amount),
  );
}

const positionWords = ({ holder, market, units, partition = BOTH }: Sets) => [
  addressWord(holder),
  addressWord(collateral),
  NO_PARENT,
  bytesWord(market.conditionId),
  partition.map(numberWord),
  numberWord(units),
];

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
function matchLogs(state: State, transaction: Transaction): Log[] {
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

/** The logs of a wallet's call that was carried out, with what came of it. */
function callLogs(state: State, { from, call }: CallContent, { moves }: CallEffect): Log[] {
  switch (call.kind) {
    case "send":
    case "unknown":
      return [];
    case "approve":
      return [
        collateralEvents.Approval(addressWord(from), addressWord(call.spender), decimalWord(call.amount)),
      ];
    case "transfer":
      return [transfer(from, call.to, BigInt(call.amount))];
    case "transferFrom":
      return [transfer(call.from, call.to, BigInt(call.amount))];
    case "setApprovalForAll":
      return [
        tokenEvents.ApprovalForAll(
          addressWord(from),
          addressWord(call.operator),
          numberWord(Number(call.approved)),
        ),
      ];
    case "safeTransfer": {
      const [ids, amounts] = [call.ids.map(decimalWord), call.amounts.map(decimalWord)];
      if (call.isBatch) return [batchMoved(from, call.from, call.to, ids, amounts)];
      const words = [from, call.from, call.to].map(addressWord);
      return [tokenEvents.TransferSingle(...words, ids[0] as string, amounts[0] as string)];
    }
    case "split":
    case "merge": {
      const market = marketOf(state, call.condition);
      const partition = call.partition.map(BigInt);
      const sets = { holder: from, market, units: BigInt(call.amount), partition };
      return call.kind === "split" ? splitLogs(sets) : mergeLogs(sets);
    }
    case "redeem":
      return redeemLogs(state, from, call.condition, call.indexSets, moves);
    default:
      throw unreachable(call);
  }
}

/** Each outcome that had shares is burned, then all that they pay is paid at once. */
function redeemLogs(
  state: State,
  from: string,
  condition: string,
  indexSets: readonly string[],
  moves: CallEffect["moves"],
): Log[] {
  const paid = moves.find(({ token }) => token === USDC)?.amount ?? 0;
  return [
    ...moves
      .filter(({ token }) => token !== USDC)
      .map(({ token, amount }) => sharesMoved(from, from, ZERO_ADDRESS, tokenWord(state, token), -amount)),
    ...(paid > 0 ? [transfer(conditionalTokens, from, paid)] : []),
    tokenEvents.PayoutRedemption(
      addressWord(from),
      addressWord(collateral),
      numberWord(0),
      bytesWord(condition),
      indexSets.map(decimalWord),
      numberWord(paid),
    ),
  ];
}

function marketOf({ markets, marketByConditionId }: State, condition: string): Market {
  return markets.get(marketByConditionId.get(condition) ?? 0);
}

const OUTCOMES = 2;

/** The logs of a transaction, in order: made anew each time from what the transaction says. None before it is mined. */
export function logsOf(state: State, transaction: Transaction): Log[] {
  const { content, status, exception } = transaction;
  if (status !== "MINED") return [];
  switch (content?.kind) {
    case undefined:
      return matchLogs(state, transaction);
    case "deposit":
      return depositLogs(state, content);
    case "prepare":
      return prepareLogs(state, state.markets.get(content.market));
    case "report":
      return reportLogs(state, state.markets.get(content.market));
    case "call":
      return callLogs(state, content, exception?.effect ?? { moves: [], supply: null });
    default:
      throw unreachable(content);
  }
}

/** USDC comes from nowhere; so does what full sets are split from, by whoever keeps a half of them. */
function depositLogs(state: State, content: DepositContent): Log[] {
  const { account, collateral, market: number, size, yes, no } = content;
  const addressOf = (of: number): string => state.accounts.get(of).address;
  if (number === 0) return [transfer(ZERO_ADDRESS, addressOf(account), collateral)];
  const market = state.markets.get(number);
  const keeper = yes === no || isFaucet(yes) ? yes : no;
  const holder = addressOf(keeper);
  const units = unitsOf(size);
  const logs = [transfer(ZERO_ADDRESS, holder, units), ...splitLogs({ holder, market, units })];
  if (yes === no) return logs;
  const [yesToken, noToken] = pairOf(market);
  const [receiver, token] = keeper === yes ? [no, noToken] : [yes, yesToken];
  return [...logs, sharesMoved(holder, holder, addressOf(receiver), token, size)];
}

const prepareLogs = (state: State, market: Market): Log[] => [
  tokenEvents.ConditionPreparation(...conditionWords(state, market), numberWord(OUTCOMES)),
  exchangeEvents.TokenRegistered(...pairOf(market), bytesWord(market.conditionId)),
];

function reportLogs(state: State, market: Market): Log[] {
  if (market.winningOutcome === null) throw new Error(`market ${market.number} is reported before it ended`);
  const numerators = PAYOUTS[market.winningOutcome].map(numberWord);
  return [
    tokenEvents.ConditionResolution(...conditionWords(state, market), numberWord(OUTCOMES), numerators),
  ];
}

const conditionWords = ({ config }: State, { number, conditionId }: Market): string[] => [
  bytesWord(conditionId),
  addressWord(ORACLE),
  bytesWord(questionIdOf(config.seed, number)),
];
