import type { Block } from "../../core/chain/chain.ts";
import { baseFeeOf, CHAIN_ID, headBlock } from "../../core/chain/chain.ts";
import { blockHash, transactionHash } from "../../core/chain/chain-hashes.ts";
import { CONTRACTS, OPERATOR, ORACLE } from "../../core/chain/contracts.ts";
import { finalHeight } from "../../core/chain/settlement.ts";
import { kindOf, type Transaction } from "../../core/chain/transaction.ts";
import { idOf } from "../../core/ids.ts";
import type { Market, Supply } from "../../core/market.ts";
import { toIso } from "../../core/time.ts";
import { checksummed } from "../address.ts";
import { WEI_PER_GWEI } from "../settlement-faults.ts";
import { whyUnsettled } from "./settlement-words.ts";
import { isoOrNull, marketIdOf, type View } from "./view.ts";

const NO_PARENT = `0x${"0".repeat(64)}`;

/** The chain as it stands (contract, section 7). */
export function chainReply({ state }: View): object {
  const { chain, config } = state;
  const head = headBlock(chain);
  return {
    chainId: CHAIN_ID,
    settlement: config.settlement,
    balances: config.balances,
    head: { number: head.height, hash: blockHash(state, head), minedAt: toIso(head.at) },
    confirmed: finalHeight(state),
    pending: chain.pending,
    lost: chain.lost.length,
    nextBlockAt: isoOrNull(chain.nextBlockAt),
    baseFeeGwei: baseFeeOf(chain) / WEI_PER_GWEI,
    contracts: {
      collateral: checksummed(CONTRACTS.collateral),
      conditionalTokens: checksummed(CONTRACTS.conditionalTokens),
      exchange: checksummed(CONTRACTS.exchange),
    },
    oracle: checksummed(ORACLE),
    operator: checksummed(OPERATOR),
  };
}

/** A block with all its transactions. */
export function blockReply(view: View, block: Block): object {
  const { state } = view;
  const { chain } = state;
  const parent = block.parent === 0 ? undefined : chain.blocks.get(block.parent);
  const numbers = Array.from({ length: block.count }, (_, place) => chain.mined.get(block.first + place + 1));
  return {
    number: block.height,
    hash: blockHash(state, block),
    parentHash: parent === undefined ? NO_PARENT : blockHash(state, parent),
    minedAt: toIso(block.at),
    confirmed: block.height <= finalHeight(state),
    transactions: numbers.map((number) => transactionReply(view, chain.transactions.get(number))),
  };
}

const KINDS = {
  match: "MATCH",
  deposit: "DEPOSIT",
  prepare: "PREPARE",
  report: "REPORT",
  call: "CALL",
} as const;

/** A transaction, and why it is where it is. */
export function transactionReply({ state }: View, transaction: Transaction): object {
  const { firstTrade, trades } = transaction;
  const ids = Array.from({ length: trades }, (_, index) => idOf(state.idPrefixes.trade, firstTrade + index));
  return {
    hash: transactionHash(state, transaction),
    kind: KINDS[kindOf(transaction)],
    status: transaction.status,
    reason: whyUnsettled(state, transaction),
    tradeIds: ids,
  };
}

/** What a market has issued: as the ledger counts it, and what of it the chain has. */
export function supplyReply(view: View, market: Market): object {
  const { numbers } = view;
  const amounts = ({ yes, no, collateral }: Supply): object => ({
    YES: numbers.size(yes),
    NO: numbers.size(no),
    collateral: numbers.money(collateral),
  });
  return {
    marketId: marketIdOf(view, market),
    conditionId: market.conditionId,
    ledger: amounts(market.supply),
    onChain: amounts(market.onChain),
  };
}
