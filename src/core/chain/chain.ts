import { Digest, type DigestWords, sha256Hex } from "../hash.ts";
import {
  address,
  bigInteger,
  boolean,
  type Infer,
  id,
  integer,
  mapOf,
  oneOf,
  orNull,
  record,
} from "../schema.ts";
import { Table } from "../table.ts";
import { type Address, SETTLEMENT_MODES, type SettlementMode } from "../terms.ts";
import type { Millis } from "../units.ts";
import type { SettlementFault } from "./settlement-fault.ts";
import type { Transaction } from "./transaction.ts";

export const BLOCK_INTERVAL_MS = 2_000;
/** The chain id of local development nodes. */
export const CHAIN_ID = 31_337;
/** What a wei per gas costs in quiet times: 1 gwei. */
export const QUIET_BASE_FEE = 1_000_000_000;
/** The most that the exchange offers for its own transactions: 100 gwei. */
export const OPERATOR_MAX_FEE = 100_000_000_000;
/** What a wallet that the exchange knows has for gas: 10,000 of the native currency. */
export const GAS_MONEY = 10_000_000_000_000_000_000_000n;

/** How many blocks on top of its own make a transaction final. */
export const confirmationsOf = (mode: SettlementMode): number => (mode === "instant" ? 0 : 2);

const address20 = address();

/** What the chain knows of an address beyond collateral and tokens. */
export const ChainWallet = record(
  { address: address20 },
  {
    changing: {
      /** How many transactions it has mined, which is the nonce of the next. */
      mined: integer(),
      /** Its pending transactions by nonce. */
      pending: mapOf("a nonce and a transaction", integer(), id()),
      /** Wei. */
      native: bigInteger(true),
      /** What it allows others to spend of its collateral, where it has said so itself. */
      allowances: mapOf("an address and an integer in quotes", address20, bigInteger()),
      /** Who may move its tokens, where it has said so itself. */
      operators: mapOf("an address, and true or false", address20, boolean()),
    },
  },
);
export type ChainWallet = Infer<typeof ChainWallet>;

/** A block that is being put together, transaction by transaction, because one of them needs a look of its own. */
export interface Building {
  readonly height: number;
  readonly at: Millis;
  readonly baseFee: number;
  /** The last transaction that was looked at. */
  cursor: number;
  readonly first: number;
  logs: number;
  gas: number;
  /** Whether something is in it that awaits its confirmation. */
  isFilled: boolean;
}

/** The settlement chain: part of the state. */
export interface Chain {
  readonly transactions: Table<Transaction>;
  /** Every block ever made, by serial. */
  readonly blocks: Table<Block>;
  /** The serials of the chain's blocks, by height + 1. */
  readonly heights: Table<number>;
  /** The numbers of transactions in the order in which they were mined, orphaned blocks included. */
  readonly mined: Table<number>;
  readonly digest: Digest;
  readonly wallets: Map<Address, ChainWallet>;
  /** Signed transactions by hash; all others carry their number in it. */
  readonly signed: Map<string, number>;
  /** The first transaction that no block has looked at. */
  firstUnprocessed: number;
  /** Those that were looked at and put off, ascending. */
  deferred: number[];
  /**
   * Whose balances await the next block, flat: an account and a market, 0 for USDC. When nothing is out of the ordinary,
   * that block is all they wait for.
   */
  touched: number[];
  /** How many pending ones await a block. */
  pending: number;
  /** How many of them are calls. */
  pendingCalls: number;
  /** Those that will never be mined though the ledger counts on them, ascending. */
  dropped: number[];
  /** How many wallets do not let the exchange move all that they have. */
  restricted: number;
  faults: readonly SettlementFault[];
  faultsSet: number;
  /** When the next block is due; null while nobody waits for one. */
  nextBlockAt: Millis | null;
  /** How blocks are mined since somebody has said so; null as the exchange's terms have it. */
  mining: Mining | null;
  /** Wei per gas of the next block alone, where somebody has said so. */
  nextBaseFee: number | null;
  /** What blocks say of themselves since somebody has said so, oldest first; in the beginning, what all do. */
  blockTerms: readonly BlockTerms[];
  /** How many blocks are to be mined at once, because somebody asked for them. */
  asked: number;
  building: Building | null;
  /** The height of the last block with something that awaits its confirmation; null before the first. */
  lastFilled: number | null;
  reorganizations: number;
  /**
   * What was there of wallets before somebody wrote over it outside any block, oldest first, the latest `MAX_OVERWRITTEN`:
   * for those who ask how it was. It is in memory alone, and decides nothing.
   */
  overwritten: readonly Overwritten[];
}

/** When blocks are mined: as a mode of settlement has it, in `auto` mode so many milliseconds after somebody asks for one. */
export const Mining = record({ mode: oneOf(...SETTLEMENT_MODES), intervalMs: id() });
export type Mining = Infer<typeof Mining>;

/** What blocks say of themselves; null as they do when nobody has said so. */
export const BLOCK_TERMS = { miner: orNull(address20), gasLimit: orNull(integer()) } as const;
/** The same of the blocks behind so many that had ever been made. */
export const BlockTerms = record({ blocks: integer(), ...BLOCK_TERMS });
export type BlockTerms = Infer<typeof BlockTerms>;

const AT_FIRST: BlockTerms = { blocks: 0, miner: null, gasLimit: null };

/** What the block of a serial says of itself. */
export const blockTermsOf = ({ blockTerms }: Chain, serial: number): BlockTerms =>
  blockTerms.findLast(({ blocks }) => blocks < serial) ?? AT_FIRST;

/** The terms of an exchange that say how blocks are mined. */
interface SettlementTerms {
  readonly settlement: SettlementMode;
}

/** The mode in which blocks are mined now; asked with each order, so that it makes nothing. */
export const miningModeOf = ({ mining }: Chain, { settlement }: SettlementTerms): SettlementMode =>
  mining === null ? settlement : mining.mode;

/** How blocks are mined now. */
export const miningOf = ({ mining }: Chain, { settlement }: SettlementTerms): Mining =>
  mining ?? { mode: settlement, intervalMs: BLOCK_INTERVAL_MS };

/** What an address had before something was written over it. */
export interface Overwritten extends Readonly<Pick<ChainWallet, "address" | "native" | "mined">> {
  /** How many blocks had ever been made. */
  readonly blocks: number;
}

const MAX_OVERWRITTEN = 1_000;

/** Notes what an address has, for it is to be written over. */
export function noteOverwritten(chain: Chain, { address, native, mined }: ChainWallet): void {
  const kept = chain.overwritten.slice(1 - MAX_OVERWRITTEN);
  chain.overwritten = [...kept, { address, native, mined, blocks: chain.blocks.size }];
}

/** How many wallets are restricted as long as none has said anything: somebody always is where each has to approve. */
export const restrictedAtFirst = (approvals: "required" | undefined): number =>
  approvals === "required" ? 1 : 0;

/** A chain that holds its first block and nothing else. */
export function createChain(
  { seed, approvals }: { readonly seed: string; readonly approvals?: "required" | undefined },
  at: Millis,
): Chain {
  const digest = new Digest(wordsOf(seed));
  const chain: Chain = {
    transactions: new Table(),
    blocks: new Table(),
    heights: new Table(),
    mined: new Table(),
    digest,
    wallets: new Map(),
    signed: new Map(),
    firstUnprocessed: 1,
    deferred: [],
    touched: [],
    pending: 0,
    pendingCalls: 0,
    dropped: [],
    restricted: restrictedAtFirst(approvals),
    faults: [],
    faultsSet: 0,
    nextBlockAt: null,
    mining: null,
    nextBaseFee: null,
    blockTerms: [],
    asked: 0,
    building: null,
    lastFilled: null,
    reorganizations: 0,
    overwritten: [],
  };
  const serial = chain.blocks.add({
    serial: 1,
    height: 0,
    parent: 0,
    at,
    baseFee: QUIET_BASE_FEE,
    first: 0,
    count: 0,
    logs: 0,
    gas: 0,
    ...digestFields(digest),
  });
  chain.heights.add(serial);
  return chain;
}

/** The words of a digest as a block keeps them. */
export function digestFields({ words }: Digest) {
  return { digestA: words[0], digestB: words[1], digestC: words[2], digestD: words[3] };
}

const WORD_DIGITS = 8;

function wordsOf(seed: string): DigestWords {
  const hex = sha256Hex(`clobsim chain\n${seed}`);
  const word = (index: number): number =>
    Number.parseInt(hex.slice(index * WORD_DIGITS, (index + 1) * WORD_DIGITS), 16);
  return [word(0), word(1), word(2), word(3)];
}

/** The height of the latest block. */
export const headOf = (chain: Chain): number => chain.heights.size - 1;

/** The block of a height, or undefined above the head. */
export function blockAt(chain: Chain, height: number): Block | undefined {
  const serial = chain.heights.find(height + 1);
  return serial === undefined ? undefined : chain.blocks.get(serial);
}

/** The transactions of the chain's block at a height, in order. */
export function minedAt(chain: Chain, height: number): Transaction[] {
  const { first, count } = chain.blocks.get(chain.heights.get(height + 1));
  return Array.from({ length: count }, (_, index) =>
    chain.transactions.get(chain.mined.get(first + index + 1)),
  );
}

/** The latest block. */
export const headBlock = (chain: Chain): Block => chain.blocks.get(chain.heights.get(chain.heights.size));

/** What a unit of gas costs in the next block: what was set for it, or else a spike in force decides. */
export function baseFeeOf(chain: Chain): number {
  if (chain.nextBaseFee !== null) return chain.nextBaseFee;
  let fee = QUIET_BASE_FEE;
  for (const fault of chain.faults) if (fault.fault === "gasSpike") fee = Math.max(fee, fault.baseFee);
  return fee;
}

/** Whether all that is pending can be mined without a look at each: in order of arrival, nothing can be missing. */
export const canSettleInBatch = (chain: Chain): boolean =>
  chain.deferred.length === 0 &&
  chain.faults.length === 0 &&
  chain.pendingCalls === 0 &&
  chain.dropped.length === 0 &&
  chain.restricted === 0 &&
  chain.nextBaseFee === null;

/** What the chain knows of an address that never did anything on it. */
export const emptyWallet = (owner: Address): ChainWallet => ({
  address: owner,
  mined: 0,
  pending: new Map(),
  native: 0n,
  allowances: new Map(),
  operators: new Map(),
});

/** One block, in the chain or, after a reorganization, beside it. */
export interface Block {
  /** Counts every block ever made, from 1. */
  readonly serial: number;
  /** Its number in the chain; the first is 0. */
  readonly height: number;
  /** The serial of the block before it; 0 of the first. */
  readonly parent: number;
  readonly at: Millis;
  /** Wei per gas. */
  readonly baseFee: number;
  /** Where its transactions begin in the list of all that were mined, counted from 0, and how many they are. */
  readonly first: number;
  readonly count: number;
  readonly logs: number;
  readonly gas: number;
  /** The four words of the digest that names all that the chain holds up to here. */
  readonly digestA: number;
  readonly digestB: number;
  readonly digestC: number;
  readonly digestD: number;
}

/** What waits for a block, or will never be mined though the ledger counts on it; oldest first. */
export function unminedOf({ deferred, dropped, firstUnprocessed, transactions }: Chain): Transaction[] {
  const found = [...deferred, ...dropped].sort((a, b) => a - b).map((number) => transactions.get(number));
  for (let number = firstUnprocessed; number <= transactions.size; number += 1)
    found.push(transactions.get(number));
  return found.filter(({ status }) => status === "PENDING" || status === "LOST");
}
