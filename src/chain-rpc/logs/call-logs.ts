import { CONTRACTS, ZERO_ADDRESS } from "../../core/chain/contracts.ts";
import { USDC } from "../../core/chain/moves.ts";
import type { CallContent, CallEffect } from "../../core/chain/transaction.ts";
import type { Market } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import { unreachable } from "../../core/unreachable.ts";
import { addressWord, bytesWord, decimalWord, numberWord } from "../hex.ts";
import { batchMoved, sharesMoved, tokenWord } from "./asset.ts";
import { collateralEvents, tokenEvents, transfer } from "./events.ts";
import type { Log } from "./log.ts";
import { mergeLogs, splitLogs } from "./set-logs.ts";

const { collateral, conditionalTokens } = CONTRACTS;

/** The logs of a wallet's call that was carried out, with what came of it. */
export function callLogs(state: State, { from, call }: CallContent, { moves }: CallEffect): Log[] {
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
