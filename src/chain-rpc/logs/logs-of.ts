import { ORACLE, ZERO_ADDRESS } from "../../core/chain/contracts.ts";
import { isFaucet } from "../../core/chain/moves.ts";
import { questionIdOf } from "../../core/chain/position-ids.ts";
import type { DepositContent, Transaction } from "../../core/chain/transaction.ts";
import type { Market } from "../../core/market.ts";
import { PAYOUTS } from "../../core/rules/chain/payouts.ts";
import type { State } from "../../core/state.ts";
import { unreachable } from "../../core/unreachable.ts";
import { addressWord, bytesWord, numberWord } from "../hex.ts";
import { pairOf, sharesMoved, unitsOf } from "./asset.ts";
import { callLogs } from "./call-logs.ts";
import { exchangeEvents, tokenEvents, transfer } from "./events.ts";
import type { Log } from "./log.ts";
import { matchLogs } from "./match-logs.ts";
import { splitLogs } from "./set-logs.ts";

const OUTCOMES = 2;

/** The logs of a transaction, in order: made anew each time from what the transaction says. None before it is mined. */
export function logsOf(state: State, transaction: Transaction): Log[] {
  const { content, status, oddity } = transaction;
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
      return callLogs(state, content, oddity?.effect ?? { moves: [], supply: null });
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
