import { encodeFunctionData } from "viem/utils";
import { NO_PARENT } from "../../core/chain/call.ts";
import { orderHash } from "../../core/chain/chain-hashes.ts";
import { CONTRACTS, ORACLE, TOKEN_UNITS } from "../../core/chain/contracts.ts";
import { tradesOf } from "../../core/chain/moves.ts";
import { questionIdOf } from "../../core/chain/position-ids.ts";
import type { DepositContent, Transaction } from "../../core/chain/transaction.ts";
import type { Address } from "../../core/commands.ts";
import { PAYOUTS } from "../../core/rules/chain/payouts.ts";
import type { State } from "../../core/state.ts";
import { asHex } from "../hex.ts";
import { COLLATERAL, EXCHANGE, TOKENS } from "./abis.ts";

/** Whom a transaction calls. */
export function recipientOf({ content }: Transaction): Address {
  switch (content?.kind) {
    case undefined:
      return CONTRACTS.exchange;
    case "call":
      return content.to;
    case "deposit":
      return content.market === 0 ? CONTRACTS.collateral : CONTRACTS.conditionalTokens;
    default:
      return CONTRACTS.conditionalTokens;
  }
}

/** What a transaction of the exchange's own calls it with: the function nearest to what it does. */
export function ownInputOf(state: State, transaction: Transaction): string {
  const { content } = transaction;
  const questionOf = (market: number) => asHex(questionIdOf(state.config.seed, market));
  switch (content?.kind) {
    case undefined:
      return matchInput(state, transaction);
    case "deposit":
      return content.market === 0 ? mintInput(state, content) : splitInput(state, content);
    case "prepare":
      return tokensInput("prepareCondition", [asHex(ORACLE), questionOf(content.market), 2n]);
    case "report": {
      const winner = state.markets.get(content.market).winningOutcome ?? "SPLIT";
      return tokensInput("reportPayouts", [questionOf(content.market), PAYOUTS[winner].map(BigInt)]);
    }
    case "call":
      throw new Error("a call is not the exchange's own");
  }
}

function matchInput(state: State, transaction: Transaction): string {
  const trades = tradesOf(state, transaction);
  const hashOf = (order: number) => asHex(orderHash(state, order));
  return encodeFunctionData({
    abi: EXCHANGE,
    functionName: "matchOrders",
    args: [
      hashOf(trades[0]?.taker ?? 0),
      trades.map(({ maker }) => hashOf(maker)),
      trades.map(({ size }) => BigInt(size * TOKEN_UNITS)),
    ],
  });
}

const mintInput = ({ accounts }: State, { account, collateral }: DepositContent): string =>
  encodeFunctionData({
    abi: COLLATERAL,
    functionName: "mint",
    args: [asHex(accounts.get(account).address), BigInt(collateral)],
  });

const splitInput = ({ markets }: State, { market, size }: DepositContent): string =>
  tokensInput("splitPosition", [
    CONTRACTS.collateral,
    asHex(NO_PARENT),
    asHex(markets.get(market).conditionId),
    [1n, 2n],
    BigInt(size * TOKEN_UNITS),
  ]);

const tokensInput = (
  functionName: "prepareCondition" | "reportPayouts" | "splitPosition",
  args: readonly unknown[],
): string => encodeFunctionData({ abi: TOKENS, functionName, args } as never);
