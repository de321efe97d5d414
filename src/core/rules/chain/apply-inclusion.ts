import type { Building, Chain } from "../../chain/chain.ts";
import { ownGas } from "../../chain/gas.ts";
import { logCountOf } from "../../chain/log-counts.ts";
import { setsOf } from "../../chain/moves.ts";
import { awaitsBlock, type Transaction, type TransactionContent } from "../../chain/transaction.ts";
import type { WinningOutcome } from "../../commands.ts";
import { type Market, marketOfToken } from "../../market.ts";
import type { Trade } from "../../order.ts";
import type { State } from "../../state.ts";
import { leavePool } from "./apply-transactions.ts";
import { notePending, type Sign } from "./pending.ts";
import { changeSupply } from "./supply.ts";

/** Puts a transaction of the exchange's own into a block; what is on its way with it is none of its business. */
export function includeOwn(state: State, building: Building, transaction: Transaction): void {
  const { chain } = state;
  const { content } = transaction;
  transaction.status = "MINED";
  if (content === null) {
    chain.digest.mix(transaction.fillsA);
    chain.digest.mix(transaction.fillsB);
  }
  if (content !== null) mixContent(state, content);
  const logs = logCountOf(transaction);
  include(chain, building, transaction, logs, ownGas(logs));
}

/** Puts a transaction into a block: its place, and what it adds to what the block sums up. */
export function include(
  chain: Chain,
  building: Building,
  transaction: Transaction,
  logs: number,
  gas: number,
): void {
  transaction.block = chain.blocks.next;
  transaction.place = chain.mined.size - building.first;
  transaction.logsBefore = building.logs;
  transaction.gasBefore = building.gas;
  building.logs += logs;
  building.gas += gas;
  if (awaitsBlock(transaction)) building.isFilled = true;
  if (transaction.oddity !== null) transaction.oddity.hold = null;
  leavePool(chain, transaction);
  chain.mined.add(transaction.number);
  chain.digest.mix(transaction.number);
  chain.digest.mix(transaction.status === "MINED" ? 1 : 0);
}

/** The fills of a match come to the chain, or are on their way again when its block is replaced. */
export function settleMatch(state: State, { firstTrade, trades: count }: Transaction, sign: Sign): void {
  const { trades, orders } = state;
  for (let number = firstTrade; number < firstTrade + count; number += 1) {
    const trade = trades.get(number);
    const taker = orders.get(trade.taker);
    notePending(state, trade, taker, orders.get(trade.maker), sign === 1 ? -1 : 1);
    if (trade.matchType !== "COMPLEMENTARY")
      settleSets(state.markets.get(marketOfToken(taker.token)), trade, sign);
  }
}

/** Sets that a fill splits or merges come to the chain, or leave it. */
const settleSets = ({ number, onChain }: Market, { matchType, size }: Trade, sign: Sign): void =>
  changeSupply(onChain, setsOf(number, matchType === "MINT" ? size : -size), sign);

/** Takes in what the content of a transaction says. */
function mixContent({ chain, markets }: State, content: TransactionContent): void {
  const { digest } = chain;
  switch (content.kind) {
    case "prepare":
      digest.mix(content.market);
      return;
    case "report":
      digest.mix(content.market);
      digest.mix(WINNERS.indexOf(markets.get(content.market).winningOutcome));
      return;
    case "deposit":
      for (const value of [content.account, content.market, content.yes, content.no]) digest.mix(value);
      digest.mixWide(content.collateral);
      digest.mix(content.size);
      return;
    default:
      throw new Error("a call is not the exchange's own");
  }
}

const WINNERS: readonly (WinningOutcome | null)[] = ["YES", "NO", "SPLIT"];
