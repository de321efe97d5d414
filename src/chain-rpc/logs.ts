import type { Block } from "../core/chain/chain.ts";
import { blockHash, orderHash, transactionHash } from "../core/chain/chain-hashes.ts";
import {
  CONTRACTS,
  NO_PARENT,
  numberWord,
  ORACLE,
  questionIdOf,
  TOKEN_UNITS,
  ZERO_ADDRESS,
} from "../core/chain/contracts.ts";
import { tradesOf, USDC } from "../core/chain/settlement.ts";
import type { CallContent, CallEffect, DepositContent, Transaction } from "../core/chain/transaction.ts";
import { type Market, marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { Trade } from "../core/order.ts";
import { PAYOUTS } from "../core/rules/contract-calls.ts";
import { FAUCET, FEES, type State } from "../core/state.ts";
import { type Address, unreachable } from "../core/terms.ts";
import { notional } from "../core/units.ts";
import { collateralEvents, exchangeEvents, type Log, tokenEvents } from "./abis.ts";
import { quantity, secondsOf } from "./json-rpc.ts";

const { Transfer } = collateralEvents;
const { collateral, conditionalTokens, exchange } = CONTRACTS;

/** Returns a function that computes each value once. */
function memo<Value>(make: (key: number) => Value): (key: number) => Value {
  const known = new Map<number, Value>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}

/** The contracts' ids of orders and tokens, cached because many matches have the same ones. */
type ContractIds = ReturnType<typeof contractIds>;

export const contractIds = (state: State) => ({
  order: memo((order) => orderHash(state, order)),
  /** Returns the id of a token: `0x` and 64 hex digits. */
  token: memo((token) => {
    const market = state.markets.get(marketOfToken(token));
    return `0x${numberWord(BigInt(tokenIdIn(market, outcomeOf(token))))}`;
  }),
});

/** Converts shares to units of the tokens' contract. */
const unitsOf = (size: number): number => size * TOKEN_UNITS;

const shareTransfer = (operator: Address, from: Address, to: Address, token: string, size: number): Log =>
  tokenEvents.TransferSingle(operator, from, to, token, unitsOf(size));

/** Full sets that are split or merged. */
interface Sets {
  readonly holder: Address;
  readonly market: Market;
  /** Number of sets in the contract's units, and their price in micro-USDC. */
  readonly units: number | string;
  /** Both outcomes in the order of the call. */
  readonly partition?: readonly string[];
}

const splitLogs = (sets: Sets): Log[] => [
  Transfer(sets.holder, conditionalTokens, sets.units),
  setTransfer(sets, ZERO_ADDRESS, sets.holder),
  tokenEvents.PositionSplit(...positionOf(sets)),
];

const mergeLogs = (sets: Sets): Log[] => [
  setTransfer(sets, sets.holder, ZERO_ADDRESS),
  Transfer(conditionalTokens, sets.holder, sets.units),
  tokenEvents.PositionsMerge(...positionOf(sets)),
];

const BOTH = ["1", "2"];

function setTransfer({ holder, market, units, partition = BOTH }: Sets, from: Address, to: Address): Log {
  const tokens = partition.map((set) => market.tokenIds[set === "1" ? 0 : 1]);
  const amounts = tokens.map(() => units);
  return tokenEvents.TransferBatch(holder, from, to, tokens, amounts);
}

const positionOf = ({ holder, market, units, partition = BOTH }: Sets) =>
  [holder, collateral, NO_PARENT, market.conditionId, partition, units] as const;

/** Asset id of the collateral in the exchange's events. */
const COLLATERAL_ID = 0;

/** One order's fill in a match, in USDC and in shares of its token. */
interface Fill {
  /** The hash of the order. */
  readonly order: string;
  readonly owner: Address;
  readonly isBuyer: boolean;
  readonly token: string;
  /** Micro-USDC, without a fee. */
  readonly value: number;
  readonly size: number;
  readonly fee: number;
}

/**
 * Returns the logs of a settled match: the taker pays the exchange's contract, each maker is settled in turn, and the
 * contract pays the taker. It holds the assets in between, and none afterwards.
 */
function matchLogs(state: State, transaction: Transaction, ids: ContractIds): Log[] {
  const trades = tradesOf(state, transaction);
  const taker = takerOf(state, trades, ids);
  const { fee, owner } = taker;
  return [
    payment(taker, owner, exchange, fee),
    ...trades.flatMap((trade) => fillLogs(state, trade, taker, ids)),
    payment(taker, exchange, owner, -fee),
    ...(fee > 0 ? feeLogs(state, fee) : []),
    orderFilled(taker, exchange),
    exchangeEvents.OrdersMatched(taker.order, owner, ...assetsOf(taker)),
  ];
}

function fillLogs(state: State, trade: Trade, taker: Fill, ids: ContractIds): Log[] {
  const { maker: order, size } = trade;
  const value = notional(state.orders.get(order).price, size);
  const maker = fillOf(state, order, { value, size, fee: 0 }, ids);
  return [
    payment(maker, maker.owner, exchange, 0),
    ...setLogs(state, trade),
    payment(maker, exchange, maker.owner, 0),
    orderFilled(maker, taker.owner),
  ];
}

function setLogs(state: State, { taker, size, matchType }: Trade): Log[] {
  if (matchType === "COMPLEMENTARY") return [];
  const market = state.markets.get(marketOfToken(state.orders.get(taker).token));
  const sets = { holder: exchange, market, units: unitsOf(size) };
  return matchType === "MINT" ? splitLogs(sets) : mergeLogs(sets);
}

/** Returns the payment between the owner of a fill and the contract. `fee` is added if it is of USDC; a negative one is withheld. */
function payment({ owner, isBuyer, token, value, size }: Fill, from: Address, to: Address, fee: number): Log {
  const isMoney = (from === owner) === isBuyer;
  return isMoney ? Transfer(from, to, value + fee) : shareTransfer(exchange, from, to, token, size);
}

const feeLogs = (state: State, fee: number): Log[] => {
  const { address } = state.accounts.get(FEES);
  return [Transfer(exchange, address, fee), exchangeEvents.FeeCharged(address, COLLATERAL_ID, fee)];
};

const orderFilled = (fill: Fill, counterparty: Address): Log =>
  exchangeEvents.OrderFilled(fill.order, fill.owner, counterparty, ...assetsOf(fill), fill.fee);

/** Returns the assets that the owner pays and receives, then the amounts. */
const assetsOf = ({ isBuyer, token, value, size }: Fill) =>
  isBuyer ? [COLLATERAL_ID, token, value, unitsOf(size)] : [token, COLLATERAL_ID, unitsOf(size), value];

function takerOf(state: State, trades: readonly Trade[], ids: ContractIds): Fill {
  const [first] = trades;
  if (first === undefined) throw new Error("a match has no trades");
  let [value, size, fee] = [0, 0, 0];
  for (const trade of trades) {
    value += notional(trade.price, trade.size);
    size += trade.size;
    fee += trade.fee;
  }
  return fillOf(state, first.taker, { value, size, fee }, ids);
}

function fillOf(
  state: State,
  order: number,
  amounts: Pick<Fill, "value" | "size" | "fee">,
  ids: ContractIds,
): Fill {
  const { account, side, token } = state.orders.get(order);
  const owner = state.accounts.get(account).address;
  return { order: ids.order(order), owner, isBuyer: side === "BUY", token: ids.token(token), ...amounts };
}

/** Returns the logs of a wallet's call that succeeded. */
function callLogs(state: State, { from, call }: CallContent, { moves }: CallEffect, ids: ContractIds): Log[] {
  switch (call.kind) {
    case "send":
    case "unknown":
      return [];
    case "approve":
      return [collateralEvents.Approval(from, call.spender, call.amount)];
    case "transfer":
      return [Transfer(from, call.to, call.amount)];
    case "transferFrom":
      return [Transfer(call.from, call.to, call.amount)];
    case "setApprovalForAll":
      return [tokenEvents.ApprovalForAll(from, call.operator, call.approved)];
    case "safeTransfer": {
      const { ids, amounts } = call;
      const parties = [from, call.from, call.to];
      if (call.isBatch) return [tokenEvents.TransferBatch(...parties, ids, amounts)];
      return [tokenEvents.TransferSingle(...parties, ids[0] as string, amounts[0] as string)];
    }
    case "split":
    case "merge": {
      const market = marketOf(state, call.condition);
      const sets = { holder: from, market, units: call.amount, partition: call.partition };
      return call.kind === "split" ? splitLogs(sets) : mergeLogs(sets);
    }
    case "redeem": {
      // The shares of each outcome are burned, then the whole payout is transferred.
      const paid = moves.find(({ token }) => token === USDC)?.amount ?? 0;
      const burned = moves.filter(({ token }) => token !== USDC);
      return [
        ...burned.map(({ token, amount }) =>
          shareTransfer(from, from, ZERO_ADDRESS, ids.token(token), -amount),
        ),
        ...(paid > 0 ? [Transfer(conditionalTokens, from, paid)] : []),
        tokenEvents.PayoutRedemption(from, collateral, NO_PARENT, call.condition, call.indexSets, paid),
      ];
    }
    default:
      throw unreachable(call);
  }
}

const marketOf = ({ markets, marketByConditionId }: State, condition: string): Market =>
  markets.get(marketByConditionId.get(condition) ?? 0);

const OUTCOMES = 2;

/**
 * Builds the logs of a transaction, in order; none before it is mined. Callers that build those of many transactions pass
 * the same `ids` for all of them.
 */
export function logsOf(state: State, transaction: Transaction, ids = contractIds(state)): Log[] {
  const { content, status, exception } = transaction;
  if (status !== "MINED") return [];
  switch (content?.kind) {
    case undefined:
      return matchLogs(state, transaction, ids);
    case "deposit":
      return depositLogs(state, content);
    case "prepare": {
      const market = state.markets.get(content.market);
      return [
        tokenEvents.ConditionPreparation(...conditionOf(state, market), OUTCOMES),
        exchangeEvents.TokenRegistered(...market.tokenIds, market.conditionId),
      ];
    }
    case "report": {
      const market = state.markets.get(content.market);
      if (market.winningOutcome === null)
        throw new Error(`market ${market.number} is reported before it ended`);
      const numerators = PAYOUTS[market.winningOutcome];
      return [tokenEvents.ConditionResolution(...conditionOf(state, market), OUTCOMES, numerators)];
    }
    case "call":
      return callLogs(state, content, exception?.effect ?? { moves: [], supply: null }, ids);
    default:
      throw unreachable(content);
  }
}

const conditionOf = ({ config }: State, { number, conditionId }: Market) =>
  [conditionId, ORACLE, questionIdOf(config.seed, number)] as const;

/** Returns the logs of a deposit. USDC is minted; for shares, one receiver splits minted USDC and transfers the other outcome. */
function depositLogs(state: State, content: DepositContent): Log[] {
  const { account, collateral, market: number, size, yes, no } = content;
  const addressOf = (of: number): string => state.accounts.get(of).address;
  if (number === 0) return [Transfer(ZERO_ADDRESS, addressOf(account), collateral)];
  const market = state.markets.get(number);
  const splitter = yes === no || yes === FAUCET ? yes : no;
  const holder = addressOf(splitter);
  const units = unitsOf(size);
  const logs = [Transfer(ZERO_ADDRESS, holder, units), ...splitLogs({ holder, market, units })];
  if (yes === no) return logs;
  const [receiver, token] = splitter === yes ? [no, market.tokenIds[1]] : [yes, market.tokenIds[0]];
  return [...logs, shareTransfer(holder, holder, addressOf(receiver), token, size)];
}

/** Writes the logs of one block as JSON, as clients receive them. */
export class LogTexts {
  readonly block: Block;
  readonly #state: State;
  /** The JSON fields of the block, which all its logs share. */
  readonly #blockFields: string;

  constructor(state: State, block: Block) {
    this.block = block;
    this.#state = state;
    this.#blockFields = `"blockHash":"${blockHash(state, block)}","blockNumber":"${quantity(block.height)}","blockTimestamp":"${quantity(secondsOf(block.at))}"`;
  }

  /** Writes the matching logs of a transaction. No text in them needs escaping. */
  of(transaction: Transaction, logs: readonly Log[], isWanted: (log: Log) => boolean = () => true): string[] {
    const texts: string[] = [];
    let position = "";
    for (const [index, log] of logs.entries()) {
      if (!isWanted(log)) continue;
      if (position === "") position = this.#positionOf(transaction);
      const { address, topics, data } = log;
      const logIndex = quantity(transaction.logsBefore + index);
      texts.push(
        `{"address":"${address}","topics":["${listed(topics)}"],"data":"${data}",${position},"logIndex":"${logIndex}"}`,
      );
    }
    return texts;
  }

  #positionOf(transaction: Transaction): string {
    const hash = transactionHash(this.#state, transaction);
    const position = `"transactionHash":"${hash}","transactionIndex":"${quantity(transaction.place)}",${NOT_REMOVED}`;
    // `join` makes one flat string in memory, which the texts of all logs then share.
    return [this.#blockFields, position].join();
  }
}

/** Writes topics without the first and last quotation mark. Not `join`, which copies them once more. */
function listed(topics: readonly string[]): string {
  let list = topics[0] as string;
  for (let at = 1; at < topics.length; at += 1) list += `","${topics[at]}`;
  return list;
}

const NOT_REMOVED = '"removed":false';

/** Returns the JSON of a log after a reorganization has removed it. */
export const removedText = (log: string): string => log.replace(NOT_REMOVED, '"removed":true');
