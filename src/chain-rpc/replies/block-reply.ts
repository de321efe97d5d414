import type { Block } from "../../core/chain/block.ts";
import { baseFeeOf, headBlock } from "../../core/chain/chain.ts";
import { blockHash, transactionHash } from "../../core/chain/chain-hashes.ts";
import { ZERO_ADDRESS } from "../../core/chain/contracts.ts";
import type { Transaction } from "../../core/chain/transaction.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import { quantity } from "../hex.ts";
import { LazyList } from "../lazy-list.ts";
import { pendingTransactions } from "../pending-transactions.ts";
import { GAS_LIMIT, secondsOf } from "../protocol.ts";
import { bloomOf } from "./bloom.ts";
import { gasUsedOf } from "./transaction-facts.ts";
import { transactionReply } from "./transaction-reply.ts";

const ZERO_WORD = `0x${"0".repeat(64)}`;
/** The Keccak-256 of an empty list in RLP: what blocks without uncles say. */
const NO_UNCLES = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";
/** The Keccak-256 of an empty text in RLP: the root of an empty trie. */
const EMPTY_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
/** Bytes of a block without transactions, and roughly what one adds. */
const HEADER_BYTES = 520;
const TRANSACTION_BYTES = 180;

/** The transactions of a block, in order. */
export function* transactionsIn({ chain }: State, { first, count }: Block): Generator<Transaction> {
  for (let number = first + 1; number <= first + count; number += 1) {
    yield chain.transactions.get(chain.mined.get(number));
  }
}

/** A block with its transactions, or with their hashes alone. */
export function blockReply(state: State, block: Block, isFull: boolean): object {
  const { chain } = state;
  const hash = blockHash(state, block);
  const parent = block.parent === 0 ? null : blockHash(state, chain.blocks.get(block.parent));
  return {
    hash,
    ...header(block.height, parent ?? ZERO_WORD, block.at, block.baseFee, block.gas, block.count),
    logsBloom: bloomOf(block.logs),
    nonce: "0x0000000000000000",
    stateRoot: root("state", hash),
    ...rootsOf(block, hash),
    transactions: listed(state, transactionsIn(state, block), isFull),
  };
}

/** What the next block would be if it were mined now; it has no hash yet. */
export function pendingBlockReply(state: State, now: Millis, isFull: boolean): object {
  const head = headBlock(state.chain);
  const pending = pendingTransactions(state);
  const gas = pending.reduce((sum, transaction) => sum + gasUsedOf(transaction), 0);
  const parent = blockHash(state, head);
  return {
    hash: null,
    ...header(head.height + 1, parent, now, baseFeeOf(state.chain), gas, pending.length),
    logsBloom: null,
    nonce: null,
    ...{ stateRoot: ZERO_WORD, transactionsRoot: ZERO_WORD, receiptsRoot: ZERO_WORD },
    transactions: listed(state, pending, isFull),
  };
}

/** What both have in common; nothing is ever mined by anybody, nor for a reward. */
const header = (
  height: number,
  parentHash: string,
  at: Millis,
  baseFee: number,
  gas: number,
  count: number,
): object => ({
  parentHash,
  sha3Uncles: NO_UNCLES,
  miner: ZERO_ADDRESS,
  difficulty: "0x0",
  totalDifficulty: "0x0",
  number: quantity(height),
  gasLimit: quantity(Math.max(GAS_LIMIT, gas)),
  gasUsed: quantity(gas),
  timestamp: quantity(secondsOf(at)),
  extraData: "0x",
  mixHash: ZERO_WORD,
  baseFeePerGas: quantity(baseFee),
  size: quantity(HEADER_BYTES + count * TRANSACTION_BYTES),
  uncles: [],
});

const rootsOf = ({ count }: Block, hash: string): object =>
  count === 0
    ? { transactionsRoot: EMPTY_ROOT, receiptsRoot: EMPTY_ROOT }
    : { transactionsRoot: root("transactions", hash), receiptsRoot: root("receipts", hash) };

/** Fills the place of a root: there are no tries, and who would verify one finds that out. */
const root = (name: string, hash: string): string => `0x${sha256Hex(`clobsim ${name} root\n${hash}`)}`;

const listed = (state: State, transactions: Iterable<Transaction>, isFull: boolean): LazyList =>
  LazyList.of(transactions, (transaction) =>
    isFull ? transactionReply(state, transaction) : transactionHash(state, transaction),
  );
