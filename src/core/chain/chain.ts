import { counted, decimalText, orderText } from "../format.ts";
import { Digest, sha256Hex } from "../hash.ts";
import {
  address,
  bigInteger,
  boolean,
  type Infer,
  id,
  integer,
  mapOf,
  moment,
  oneOf,
  optional,
  orNull,
  record,
  text,
} from "../schema.ts";
import { Table } from "../table.ts";
import { type Address, SETTLEMENT_MODES, type SettlementMode } from "../terms.ts";
import type { Millis } from "../units.ts";
import type { Transaction } from "./transaction.ts";

export const BLOCK_INTERVAL_MS = 2_000;
/** Chain id of local development nodes. */
export const CHAIN_ID = 31_337;
/** Base fee without a gas spike: 1 gwei per gas. */
export const DEFAULT_BASE_FEE = 1_000_000_000;
/** Maximum fee that the exchange offers for its own transactions: 100 gwei per gas. */
export const OPERATOR_MAX_FEE = 100_000_000_000;
/** Initial native balance of a wallet that the exchange knows: 10,000 units of the native currency, in wei. */
export const INITIAL_NATIVE_BALANCE = 10_000_000_000_000_000_000_000n;

/** Returns the number of further blocks after which a block is final. */
export const confirmationsOf = (mode: SettlementMode): number => (mode === "instant" ? 0 : 2);

const address20 = address();

/** State of an address on the chain, except collateral and tokens. */
export const ChainWallet = record(
  { address: address20 },
  {
    changing: {
      /** Number of mined transactions, which is the nonce of the next one. */
      mined: integer(),
      pending: mapOf("a nonce and a transaction", integer(), id()),
      /** Wei. */
      native: bigInteger(true),
      /** Allowances of collateral that it has set, by spender, micro-USDC. */
      allowances: mapOf("an address and an integer in quotes", address20, bigInteger()),
      /** Token approvals that it has set, by operator. */
      operators: mapOf("an address, and true or false", address20, boolean()),
    },
  },
);
export type ChainWallet = Infer<typeof ChainWallet>;

/** Block being assembled transaction by transaction, because not all can be settled in a batch. */
export interface Building extends Pick<Block, "height" | "at" | "baseFee" | "first"> {
  cursor: number;
  logs: number;
  gas: number;
  /** Whether it contains a transaction that awaits confirmation. */
  isFilled: boolean;
}

/** When blocks are mined: a settlement mode, and for `auto` the delay after a block is needed. */
export const Mining = record({ mode: oneOf(...SETTLEMENT_MODES), intervalMs: id() });
export type Mining = Infer<typeof Mining>;

/** Header fields of blocks; null for the default. */
export const BLOCK_TERMS = { miner: orNull(address20), gasLimit: orNull(integer()) } as const;
/** Header fields of all blocks whose serial is greater than `blocks`. */
export const BlockTerms = record({ blocks: integer(), ...BLOCK_TERMS });
export type BlockTerms = Infer<typeof BlockTerms>;

export const blockTermsOf = ({ blockTerms }: Chain, serial: number): BlockTerms =>
  blockTerms.findLast(({ blocks }) => blocks < serial) ?? { blocks: 0, miner: null, gasLimit: null };

/** Returns the current mining mode. Called for each order, therefore without allocation. */
export const miningModeOf = ({ mining }: Chain, { settlement }: { settlement: SettlementMode }) =>
  mining === null ? settlement : mining.mode;

export const miningOf = ({ mining }: Chain, { settlement }: { settlement: SettlementMode }): Mining =>
  mining ?? { mode: settlement, intervalMs: BLOCK_INTERVAL_MS };

export interface Overwritten extends Readonly<Pick<ChainWallet, "address" | "native" | "mined">> {
  /** Number of blocks made until then, orphaned ones included. */
  readonly blocks: number;
}

const MAX_OVERWRITTEN = 1_000;

/** Records the state of a wallet that is about to be overwritten. */
export function recordOverwritten(chain: Chain, { address, native, mined }: ChainWallet): void {
  const kept = chain.overwritten.slice(1 - MAX_OVERWRITTEN);
  chain.overwritten = [...kept, { address, native, mined, blocks: chain.blocks.size }];
}

/** Returns the initial count of restricted wallets; never 0 if approvals are required. */
export const initialRestricted = (approvals: "required" | undefined): number =>
  approvals === "required" ? 1 : 0;

export function createChain(
  { seed, approvals }: { readonly seed: string; readonly approvals?: "required" | undefined },
  at: Millis,
) {
  const digest = Digest.of(sha256Hex(`clobsim chain\n${seed}`));
  const chain = {
    transactions: new Table<Transaction>(),
    /** All blocks, orphaned ones included, by serial. */
    blocks: new Table<Block>(),
    /** Serials of the chain's blocks, by height + 1. */
    heights: new Table<number>(),
    /** Numbers of transactions in the order of mining, those of orphaned blocks included. */
    mined: new Table<number>(),
    digest,
    wallets: new Map<Address, ChainWallet>(),
    /** Signed transactions by hash; the hashes of all others contain their number. */
    signed: new Map<string, number>(),
    /** First transaction that no block has processed. */
    firstUnprocessed: 1,
    /** Processed and deferred transactions, ascending. */
    deferred: [] as number[],
    /** Flat pairs of account and market (0 for USDC) with pending amounts; the next batch settles all of them. */
    pendingBalances: [] as number[],
    /** Number of pending transactions that await a block. */
    pending: 0,
    pendingCalls: 0,
    /** Settlements that will never be mined although they are in the ledger, ascending. */
    lost: [] as number[],
    /** Number of wallets that limit what the exchange may move. */
    restricted: initialRestricted(approvals),
    faults: [] as readonly SettlementFault[],
    faultsSet: 0,
    /** When the next block is due; null if none is. */
    nextBlockAt: null as Millis | null,
    /** Mining mode set by command; null for that of the configuration. */
    mining: null as Mining | null,
    /** Base fee set for the next block only, wei per gas; null if not set. */
    nextBaseFee: null as number | null,
    /** Header fields set by command, oldest first; empty if never set. */
    blockTerms: [] as readonly BlockTerms[],
    /** Number of requested blocks still to be mined at once. */
    asked: 0,
    building: null as Building | null,
    /** Height of the latest block with a transaction that awaits confirmation; null before the first. */
    lastFilled: null as number | null,
    reorganizations: 0,
    /**
     * Wallets before they were overwritten outside a block, oldest first, the latest `MAX_OVERWRITTEN`. Used for queries at
     * past blocks; in memory only, and no decision depends on it.
     */
    overwritten: [] as readonly Overwritten[],
  };
  const serial = chain.blocks.add({
    serial: 1,
    height: 0,
    parent: 0,
    at,
    baseFee: DEFAULT_BASE_FEE,
    first: 0,
    count: 0,
    logs: 0,
    gas: 0,
    ...digestFields(digest),
  });
  chain.heights.add(serial);
  return chain;
}

/** The chain of a state, whose collections are changed and never replaced. */
export type Chain = Omit<Created, Collection> & Readonly<Pick<Created, Collection>>;
type Created = ReturnType<typeof createChain>;
type Collection = "transactions" | "blocks" | "heights" | "mined" | "digest" | "wallets" | "signed";

export function digestFields({ words }: Pick<Digest, "words">) {
  return { digestA: words[0], digestB: words[1], digestC: words[2], digestD: words[3] };
}

export const headOf = (chain: Chain): number => chain.heights.size - 1;

export function blockAt(chain: Chain, height: number): Block | undefined {
  const serial = chain.heights.find(height + 1);
  return serial === undefined ? undefined : chain.blocks.get(serial);
}

export function minedAt(chain: Chain, height: number): Transaction[] {
  const { first, count } = chain.blocks.get(chain.heights.get(height + 1));
  return Array.from({ length: count }, (_, index) =>
    chain.transactions.get(chain.mined.get(first + index + 1)),
  );
}

export const headBlock = (chain: Chain): Block => chain.blocks.get(chain.heights.get(chain.heights.size));

/** Returns the base fee of the next block, wei per gas: the one set for it, else that of the highest active spike. */
export function baseFeeOf(chain: Chain): number {
  if (chain.nextBaseFee !== null) return chain.nextBaseFee;
  let fee = DEFAULT_BASE_FEE;
  for (const fault of chain.faults) if (fault.fault === "gasSpike") fee = Math.max(fee, fault.baseFee);
  return fee;
}

/** Returns the highest fee that a transaction offers, wei per gas; Infinity if the exchange has raised it. */
export function maxFeeOf({ content, exception }: Transaction): number {
  if (content?.kind === "call") return content.maxFeePerGas;
  return exception?.isBumped ? Number.POSITIVE_INFINITY : OPERATOR_MAX_FEE;
}

/** Whether all pending transactions can be mined without checking each, because in order of arrival no funds can be missing. */
export const canSettleInBatch = (chain: Chain): boolean =>
  chain.deferred.length === 0 &&
  chain.faults.length === 0 &&
  chain.pendingCalls === 0 &&
  chain.lost.length === 0 &&
  chain.restricted === 0 &&
  chain.nextBaseFee === null;

/** Makes the state of an address that has never used the chain. */
export const emptyWallet = (owner: Address): ChainWallet => ChainWallet.make({ address: owner });

const word = integer(-2_147_483_648, 2_147_483_647);

/** Block of the chain, or orphaned by a reorganization, with the digest of the whole chain up to it. */
export const Block = record({
  /** Numbers all blocks, orphaned ones included, from 1. */
  serial: id(),
  /** Position in the chain; the first is 0. */
  height: integer(),
  /** Serial of the previous block; 0 for the first. */
  parent: integer(),
  at: moment(),
  /** Wei per gas. */
  baseFee: integer(),
  /** Index of its first transaction in `Chain.mined`, from 0, and number of transactions. */
  first: integer(),
  count: integer(),
  logs: integer(),
  gas: integer(),
  digestA: word,
  digestB: word,
  digestC: word,
  digestD: word,
});
export type Block = Infer<typeof Block>;

/** Returns transactions that are pending, and lost ones that the ledger still includes; oldest first. */
export function unminedOf({ deferred, lost, firstUnprocessed, transactions }: Chain): Transaction[] {
  const found = [...deferred, ...lost].sort((a, b) => a - b).map((number) => transactions.get(number));
  for (let number = firstUnprocessed; number <= transactions.size; number += 1)
    found.push(transactions.get(number));
  return found.filter(({ status }) => status === "PENDING" || status === "LOST");
}

export const CERTAIN = 1_000_000;
const CHANCE_PLACES = 6;
const GWEI_PLACES = 9;

export const FAULT_TERMS = {
  /**
   * fail: the settlement is mined and reverted. retry: deferred once; the trade is RETRYING until the next block. delay:
   * deferred by a number of blocks. ghost: lost, never mined; the trade stays MATCHED. gasSpike: the base fee rises above
   * the exchange's maximum; its own transactions wait until their fees are raised.
   */
  fault: oneOf("fail", "retry", "delay", "ghost", "gasSpike"),
  /** In millionths. */
  probability: integer(0, CERTAIN),
  /** Maximum number of settlements it hits; null for any number. */
  times: orNull(id()),
  blocks: integer(),
  /** Base fee of a gas spike, wei per gas; else 0. */
  baseFee: integer(),
  /** Reason reported by the failure; null for the default reason. */
  reason: orNull(text()),
  /** Restricts the fault to the settlement of this taker order; absent for all settlements. */
  order: optional(id()),
} as const;
const SettlementFaultTerms = record(FAULT_TERMS);
export type SettlementFaultTerms = Infer<typeof SettlementFaultTerms>;
export type SettlementFaultKind = SettlementFaultTerms["fault"];

/** Describes a fault, without the number of settlements that it hits. */
export function faultText({ fault, probability, blocks, baseFee, order }: SettlementFaultTerms): string {
  const delay = fault === "delay" ? ` by ${counted(blocks, "block")}` : "";
  return [
    fault === "gasSpike" ? `gas-spike to ${decimalText(baseFee, GWEI_PLACES)} gwei` : fault + delay,
    ...(probability === CERTAIN ? [] : [`probability ${decimalText(probability, CHANCE_PLACES)}`]),
    ...(order === undefined ? [] : [`only of ${orderText(order)}`]),
  ].join(", ");
}

/** Active fault: its number among all faults ever set, from 1, and how many settlements it has hit. */
export const SettlementFault = record({ number: id(), ...FAULT_TERMS }, { changing: { struck: integer() } });
export type SettlementFault = Infer<typeof SettlementFault>;

/**
 * Returns a uniform number from 0 to 999,999 for one attempt of one transaction under one fault. It is a hash, not a draw
 * from a stream, so that deciding a command again gives the same result.
 */
export function faultDraw(seed: string, fault: number, transaction: number, attempt: number): number {
  const digest = sha256Hex(`clobsim chance\n${fault}\n${transaction}\n${attempt}\n${seed}`);
  return Math.floor((Number.parseInt(digest.slice(0, 8), 16) / 4_294_967_296) * CERTAIN);
}
