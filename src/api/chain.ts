import * as z from "zod";
import {
  type Block,
  baseFeeOf,
  CERTAIN,
  CHAIN_ID,
  headBlock,
  type SettlementFault,
  type SettlementFaultTerms,
} from "../core/chain/chain.ts";
import { blockHash, transactionHash } from "../core/chain/chain-hashes.ts";
import { CONTRACTS, NO_PARENT, OPERATOR, ORACLE } from "../core/chain/contracts.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import { kindOf, type Transaction } from "../core/chain/transaction.ts";
import { MAX_BLOCKS } from "../core/commands.ts";
import { idOf } from "../core/ids.ts";
import type { Market, Supply } from "../core/market.ts";
import type { State } from "../core/state.ts";
import { BALANCE_POLICIES, SETTLEMENT_MODES } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import { endpoints, paged } from "./endpoint.ts";
import { invalidFields } from "./errors.ts";
import { whyUnsettled } from "./explanations.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, MAX_TIMES, page, type ReplyOf } from "./schemas.ts";
import { asHex, checksummed, isoOrNull, orderOfAny, type View } from "./view.ts";

const blockNumber = field.count.describe("The first block is 0.");

const gwei = z.number().min(0);

const transactionSchema = exactly("ChainTransaction", {
  hash: field.hash32,
  kind: z.enum(["MATCH", "DEPOSIT", "PREPARE", "REPORT", "CALL"]),
  status: z.enum(["PENDING", "MINED", "REVERTED", "FAILED", "LOST", "REPLACED", "DROPPED"]),
  reason: z.string().nullable().describe("Why it reverted or failed, or what it waits for."),
  tradeIds: z.array(field.uuid),
});

const blockSchema = exactly("ChainBlock", {
  number: blockNumber,
  hash: field.hash32,
  parentHash: field.hash32,
  minedAt: field.moment,
  confirmed: z.boolean().describe("Whether the block is final."),
  transactions: z.array(transactionSchema),
});

const chainSchema = exactly("Chain", {
  chainId: z.int(),
  settlement: z.enum(SETTLEMENT_MODES),
  balances: z.enum(BALANCE_POLICIES),
  head: exactly("ChainHead", { number: blockNumber, hash: field.hash32, minedAt: field.moment }),
  confirmed: blockNumber.describe("The number of the latest block that is final."),
  pending: field.count.describe(
    "How many settlements, results of markets and calls of wallets wait for a block. `GET /sim/chain/pending` also lists deposits and new markets, which are in effect already, and lost transactions.",
  ),
  lost: field.count.describe("How many will never be mined, although the ledger includes their effects."),
  nextBlockAt: field.moment.nullable(),
  baseFeeGwei: gwei,
  contracts: exactly("ChainContracts", {
    collateral: field.address,
    conditionalTokens: field.address,
    exchange: field.address,
  }),
  oracle: field.address,
  operator: field.address,
});

const issued = z.strictObject({ YES: field.shares, NO: field.shares, collateral: field.usdc });

const supplySchema = exactly("MarketSupply", {
  marketId: field.uuid,
  conditionId: field.hash32,
  ledger: issued.describe("Includes pending settlements."),
  onChain: issued,
});

/** Kinds of settlement faults, as named by the API. */
export const FAULT_KINDS = ["fail", "retry", "delay", "ghost", "gas-spike"] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

const kind = z.enum([...FAULT_KINDS, "reorg"]);

/** Limits of a fault, in the API and in scenarios. */
export const MAX_REASON_LENGTH = 200;
const MAX_BASE_FEE_GWEI = 1_000_000;

const upTo = (max: number) => z.int().min(1).max(max).optional();

const newFaultBody = objectBody("NewSettlementFault", {
  kind: kind.describe(
    "fail: mined and reverted; retry: postponed to the next block; delay: postponed by `blocks`; ghost: never mined; gas-spike: the base fee rises above what the exchange offers; reorg: the latest blocks are replaced, at once.",
  ),
  times: upTo(MAX_TIMES).describe(
    "How many settlements it hits. Default: the next one or, with a probability, any number.",
  ),
  probability: field.probability.optional().describe("Of hitting each settlement; drawn from the seed."),
  blocks: upTo(MAX_BLOCKS).describe("For delay; default 1."),
  baseFeeGwei: gwei.max(MAX_BASE_FEE_GWEI).optional().describe("For gas-spike; default 500."),
  depth: upTo(MAX_BLOCKS).describe("For reorg; default 1."),
  reason: z.string().min(1).max(MAX_REASON_LENGTH).optional().describe("For fail: the reason it reports."),
  of: z
    .optional(z.string())
    .describe(
      "The id of an order: hits only the settlement of its fills as taker. `next`: the next order placed.",
    ),
});

type NewSettlementFault = ReplyOf<typeof newFaultBody.schema>;
export type FaultField = Exclude<keyof NewSettlementFault, "kind">;
/** Request for a fault, except a reorganization, which takes effect at once and is not kept. */
export type SettlementFaultWords = Omit<NewSettlementFault, "kind" | "depth"> & { readonly kind: FaultKind };

/** The fields that apply to each kind. */
export const FAULT_FIELDS: Readonly<Record<NewSettlementFault["kind"], readonly FaultField[]>> = {
  fail: ["times", "probability", "reason", "of"],
  retry: ["times", "probability", "of"],
  delay: ["times", "probability", "blocks", "of"],
  ghost: ["times", "probability", "of"],
  "gas-spike": ["baseFeeGwei"],
  reorg: ["depth"],
};

const id = z.string().regex(/^settlement-fault-[1-9][0-9]*$/);

const settlementFaultSchema = exactly("SettlementFault", {
  id: id.nullable().describe("Null for a reorg, which is complete when the response is sent."),
  kind,
  times: field.count.nullable(),
  probability: field.probability,
  blocks: field.count.nullable(),
  baseFeeGwei: gwei.nullable(),
  depth: field.count.nullable(),
  reason: z.string().nullable(),
  of: field.uuid.optional().describe("The only order to whose settlement it applies."),
  struck: field.count.describe("How many settlements it has hit."),
  remaining: field.count.nullable().describe("How many it will still hit; null: no limit."),
});

/** /sim/chain: the settlement chain and its faults (contract, section 7). */
export const chainEndpoints = endpoints("control", "Settlement chain", {
  getChain: {
    route: "GET /sim/chain",
    summary: "Head, number of pending settlements and calls, time of the next block, contracts",
    reply: chainSchema,
  },
  listBlocks: {
    route: "GET /sim/chain/blocks",
    summary: "Blocks with their transactions, latest first",
    query: paged(20, 500),
    reply: page("ChainBlockPage", blockSchema),
  },
  listPendingTransactions: {
    route: "GET /sim/chain/pending",
    summary: "Transactions that wait for a block or will never be mined, oldest first, and why",
    query: paged(50, 500),
    reply: page("ChainTransactionPage", transactionSchema),
  },
  getSupply: {
    route: "GET /sim/chain/supply/{idOrSlug}",
    summary: "Shares and locked USDC of a market, in the ledger and on the chain",
    reply: supplySchema,
    errors: ["MARKET_NOT_FOUND"],
  },
  mineBlocks: {
    route: "POST /sim/chain/mine",
    summary: "Mine blocks at once, in any mode; returns the chain",
    body: objectBody(
      "Mining",
      { blocks: z.int().min(1).max(MAX_BLOCKS).default(1) },
      { description: "All that is pending is in the first block.", required: false },
    ),
    reply: chainSchema,
  },
  bumpFees: {
    route: "POST /sim/chain/bump",
    summary: "Raise the exchange's fees, so that a gas spike no longer delays its transactions",
    reply: exactly("BumpedFees", { bumped: field.count }),
  },
  listSettlementFaults: {
    route: "GET /sim/chain/faults",
    summary: "Active settlement faults, oldest first, with the number of times each was applied",
    query: paged(50, 500),
    reply: page("SettlementFaultPage", settlementFaultSchema),
  },
  addSettlementFault: {
    route: "POST /sim/chain/faults",
    summary: "Make settlements fail, be retried, delayed or lost; raise gas prices; reorganize the chain",
    body: newFaultBody,
    reply: settlementFaultSchema,
    errors: ["LIMIT_REACHED", "ORDER_NOT_FOUND"],
  },
  removeSettlementFaults: {
    route: "DELETE /sim/chain/faults",
    summary: "End all settlement faults",
    reply: exactly("EndedSettlementFaults", { removed: z.array(id) }),
  },
  removeSettlementFault: {
    route: "DELETE /sim/chain/faults/{id}",
    summary: "End one settlement fault; returns its last state",
    reply: settlementFaultSchema,
    errors: ["FAULT_NOT_FOUND"],
  },
});

export function chainReply({ state }: View): ReplyOf<typeof chainSchema> {
  const { chain, config } = state;
  const head = headBlock(chain);
  return {
    chainId: CHAIN_ID,
    settlement: config.settlement,
    balances: config.balances,
    head: { number: head.height, hash: asHex(blockHash(state, head)), minedAt: toIso(head.at) },
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

export function blockReply(view: View, block: Block): ReplyOf<typeof blockSchema> {
  const { state } = view;
  const { chain } = state;
  const parent = block.parent === 0 ? undefined : chain.blocks.get(block.parent);
  const numbers = Array.from({ length: block.count }, (_, place) => chain.mined.get(block.first + place + 1));
  return {
    number: block.height,
    hash: asHex(blockHash(state, block)),
    parentHash: parent === undefined ? NO_PARENT : asHex(blockHash(state, parent)),
    minedAt: toIso(block.at),
    confirmed: block.height <= finalHeight(state),
    transactions: numbers.map((number) => transactionReply(view, chain.transactions.get(number))),
  };
}

export function transactionReply(
  { state }: View,
  transaction: Transaction,
): ReplyOf<typeof transactionSchema> {
  const { firstTrade, trades } = transaction;
  const ids = Array.from({ length: trades }, (_, index) => idOf(state.idPrefixes.trade, firstTrade + index));
  return {
    hash: asHex(transactionHash(state, transaction)),
    kind: kindOf(transaction).toUpperCase() as Uppercase<ReturnType<typeof kindOf>>,
    status: transaction.status,
    reason: whyUnsettled(state, transaction),
    tradeIds: ids,
  };
}

/** Builds a market's supply, in the ledger and on the chain. */
export function supplyReply(view: View, market: Market): ReplyOf<typeof supplySchema> {
  const { numbers } = view;
  const amounts = ({ yes, no, collateral }: Supply) => ({
    YES: numbers.size(yes),
    NO: numbers.size(no),
    collateral: numbers.money(collateral),
  });
  return {
    marketId: market.id,
    conditionId: asHex(market.conditionId),
    ledger: amounts(market.supply),
    onChain: amounts(market.onChain),
  };
}

const WEI_PER_GWEI = 1_000_000_000;

/** Default base fee of a gas spike, far above the fee the exchange offers. */
const SPIKE_GWEI = 500;

/** Converts a request, without its order, to the core's terms; without times and probability a fault hits once. */
export function faultTerms(words: SettlementFaultWords): SettlementFaultTerms {
  const { kind, times, probability, blocks, baseFeeGwei, reason } = words;
  const isSpike = kind === "gas-spike";
  return {
    fault: isSpike ? "gasSpike" : kind,
    probability: Math.round((probability ?? 1) * CERTAIN),
    times: times ?? (probability === undefined && !isSpike ? 1 : null),
    blocks: kind === "delay" ? (blocks ?? 1) : 0,
    baseFee: isSpike ? Math.round((baseFeeGwei ?? SPIKE_GWEI) * WEI_PER_GWEI) : 0,
    reason: reason ?? null,
  };
}

/** Converts the core's terms back to a request, with no field left to a default. */
export function faultWords(terms: SettlementFaultTerms) {
  const { fault, times, probability, blocks, baseFee, reason } = terms;
  const isSpike = fault === "gasSpike";
  const isPlain = isSpike || (times !== null && probability === CERTAIN);
  return {
    kind: isSpike ? ("gas-spike" as const) : fault,
    ...(times === null || isSpike ? {} : { times }),
    ...(isPlain ? {} : { probability: probability / CERTAIN }),
    ...(fault === "delay" ? { blocks } : {}),
    ...(isSpike ? { baseFeeGwei: baseFee / WEI_PER_GWEI } : {}),
    ...(reason === null || isSpike ? {} : { reason }),
  };
}

/** Returns the number of the order that a fault names. @throws ApiError `ORDER_NOT_FOUND` */
export const orderOfFault = (state: State, of: string): number =>
  of === "next" ? state.orders.next : orderOfAny(state, of).number;

export const settlementFaultId = (number: number): string => `settlement-fault-${number}`;

/** @throws ApiError `INVALID_PARAMETER` if a field does not apply to the fault's kind. */
export function requireFieldsOfKind(fault: NewSettlementFault): void {
  const known: readonly string[] = FAULT_FIELDS[fault.kind];
  const stray = Object.entries(fault).flatMap(([name, value]) =>
    name === "kind" || value === undefined || known.includes(name) ? [] : [name],
  );
  if (stray.length === 0) return;
  const message = `${stray.join(", ")}: not a field of a fault of kind ${fault.kind}`;
  throw invalidFields(message, stray, `beside kind it takes ${known.join(", ")}`);
}

/** Fields of a reply that do not apply to all kinds of faults. */
const NO_TERMS = { times: null, probability: 1, blocks: null, baseFeeGwei: null, depth: null, reason: null };

/** Has no id, because a reorganization is complete and cannot be ended. */
export const reorganizationReply = (depth: number): ReplyOf<typeof settlementFaultSchema> => ({
  id: null,
  kind: "reorg",
  ...NO_TERMS,
  times: 1,
  depth,
  struck: 1,
  remaining: 0,
});

export function settlementFaultReply(
  { idPrefixes }: State,
  fault: SettlementFault,
): ReplyOf<typeof settlementFaultSchema> {
  const { number, times, order, struck } = fault;
  const { kind, ...terms } = faultWords(fault);
  return {
    id: settlementFaultId(number),
    kind,
    ...NO_TERMS,
    ...terms,
    ...(order === undefined ? {} : { of: idOf(idPrefixes.order, order) }),
    struck,
    remaining: times === null ? null : times - struck,
  };
}
