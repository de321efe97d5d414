import * as z from "zod";
import { address, count, hash32, moment, page, shares, usdc, uuid } from "./quantities.ts";
import { exactly, named } from "./registry.ts";

const MOST_BLOCKS = 100_000;
const MOST_DELAY = 100_000;
const MOST_TIMES = 1_000_000_000;

const blockNumber = count.meta({ description: "The first block is 0." });
const gwei = z.number().min(0);

export const transaction = exactly("ChainTransaction", {
  hash: hash32,
  kind: z.enum(["MATCH", "DEPOSIT", "PREPARE", "REPORT", "CALL"]),
  status: z.enum(["PENDING", "MINED", "REVERTED", "FAILED", "LOST", "REPLACED"]),
  reason: z.string().nullable().meta({ description: "Why it reverted or failed, or what it waits for." }),
  tradeIds: z.array(uuid),
});

export const block = exactly("ChainBlock", {
  number: blockNumber,
  hash: hash32,
  parentHash: hash32,
  minedAt: moment,
  confirmed: z.boolean().meta({ description: "Whether nothing can take it back." }),
  transactions: z.array(transaction),
});
export const blockPage = page("ChainBlockPage", block);
export const transactionPage = page("ChainTransactionPage", transaction);

export const chain = exactly("Chain", {
  chainId: z.int(),
  settlement: z.enum(["instant", "auto", "manual"]),
  balances: z.enum(["optimistic", "settled"]),
  head: exactly("ChainHead", { number: blockNumber, hash: hash32, minedAt: moment }),
  confirmed: blockNumber.meta({ description: "The number of the latest block that is final." }),
  pending: count.meta({ description: "How many transactions wait for a block." }),
  lost: count.meta({ description: "How many will never be mined, though the ledger counts on them." }),
  nextBlockAt: moment.nullable(),
  baseFeeGwei: gwei,
  contracts: exactly("ChainContracts", {
    collateral: address,
    conditionalTokens: address,
    exchange: address,
  }),
  oracle: address,
  operator: address,
});

const issued = z.strictObject({ YES: shares, NO: shares, collateral: usdc });

export const supply = exactly("MarketSupply", {
  marketId: uuid,
  conditionId: hash32,
  ledger: issued.meta({ description: "With what pending settlements will change." }),
  onChain: issued,
});

export const mining = named(
  "Mining",
  z.object({ blocks: z.int().min(1).max(MOST_BLOCKS).default(1) }),
  "All that is pending is in the first block.",
);

export const bumped = exactly("BumpedFees", { bumped: count });

const kind = z.enum(["fail", "retry", "delay", "ghost", "gas-spike", "reorg"]);
const probability = z.number().min(0).max(1);

export const newSettlementFault = named(
  "NewSettlementFault",
  z.object({
    kind: kind.meta({
      description:
        "fail: mined and reverted; retry: put off to the next block; delay: put off by some blocks; ghost: never mined; gas-spike: the base fee rises above what the exchange offers; reorg: the latest blocks are replaced, at once.",
    }),
    times: z.int().min(1).max(MOST_TIMES).optional().meta({
      description:
        "How many settlements it befalls. Left out: the next one or, with a probability, any number.",
    }),
    probability: probability.optional().meta({ description: "Of each settlement, drawn by the seed." }),
    blocks: z.int().min(1).max(MOST_DELAY).optional().meta({ description: "Of a delay; default 1." }),
    baseFeeGwei: gwei.max(1_000_000).optional().meta({ description: "Of a gas-spike; default 500." }),
    depth: z.int().min(1).max(MOST_BLOCKS).optional().meta({ description: "Of a reorg; default 1." }),
    reason: z.string().min(1).max(200).optional().meta({ description: "Of a failure: what it says." }),
  }),
);

const id = z.string().regex(/^settlement-fault-[1-9][0-9]*$/);

export const settlementFault = exactly("SettlementFault", {
  id: id.nullable().meta({ description: "Null of a reorg, which is over when it is answered." }),
  kind,
  times: count.nullable(),
  probability,
  blocks: count.nullable(),
  baseFeeGwei: gwei.nullable(),
  depth: count.nullable(),
  reason: z.string().nullable(),
  struck: count.meta({ description: "How many settlements it has befallen." }),
  remaining: count.nullable().meta({ description: "How many it will yet befall; null: without end." }),
});
export const settlementFaultPage = page("SettlementFaultPage", settlementFault);
export const endedSettlementFaults = exactly("EndedSettlementFaults", { removed: z.array(id) });
