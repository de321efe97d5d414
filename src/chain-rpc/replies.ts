import { encodeFunctionData } from "viem/utils";
import { asHex } from "../api/view.ts";
import { type Block, baseFeeOf, CHAIN_ID, headBlock } from "../core/chain/chain.ts";
import { blockHash, orderHash, transactionHash } from "../core/chain/chain-hashes.ts";
import {
  CONTRACTS,
  NO_PARENT,
  OPERATOR,
  ORACLE,
  questionIdOf,
  TOKEN_UNITS,
  ZERO_WORD,
} from "../core/chain/contracts.ts";
import { blockOf, tradesOf } from "../core/chain/settlement.ts";
import { type CallContent, logCountOf, ownGas, type Transaction } from "../core/chain/transaction.ts";
import { sha256Hex } from "../core/hash.ts";
import { PAYOUTS } from "../core/rules/contract-calls.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";
import { type AnyAbi, COLLATERAL, EXCHANGE, TOKENS } from "./abis.ts";
import { LazyList, lazyList, quantity, secondsOf } from "./json-rpc.ts";
import { LogTexts, logsOf } from "./logs.ts";
import {
  gasPriceOf,
  gasUsedOf,
  limitsOf,
  ownFeeCap,
  pendingTransactions,
  readSigned,
  senderOf,
  TIP,
} from "./transactions.ts";

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

const calldata = (abi: AnyAbi, functionName: string, ...args: readonly unknown[]): string =>
  encodeFunctionData({ abi, functionName, args } as never);

/** Encodes the calldata of one of the exchange's own transactions: a call of the function closest to its effect. */
function ownInputOf(state: State, transaction: Transaction): string {
  const { content } = transaction;
  const questionOf = (market: number) => questionIdOf(state.config.seed, market);
  switch (content?.kind) {
    case undefined: {
      const trades = tradesOf(state, transaction);
      const taker = orderHash(state, trades[0]?.taker ?? 0);
      const makers = trades.map(({ maker }) => orderHash(state, maker));
      const amounts = trades.map(({ size }) => BigInt(size * TOKEN_UNITS));
      return calldata(EXCHANGE, "matchOrders", taker, makers, amounts);
    }
    case "deposit": {
      const { market, account, collateral, size } = content;
      if (market === 0) {
        return calldata(COLLATERAL, "mint", state.accounts.get(account).address, BigInt(collateral));
      }
      const { conditionId } = state.markets.get(market);
      const position = [CONTRACTS.collateral, NO_PARENT, conditionId];
      return calldata(TOKENS, "splitPosition", ...position, [1n, 2n], BigInt(size * TOKEN_UNITS));
    }
    case "prepare":
      return calldata(TOKENS, "prepareCondition", ORACLE, questionOf(content.market), 2n);
    case "report": {
      const winner = state.markets.get(content.market).winningOutcome ?? "SPLIT";
      return calldata(TOKENS, "reportPayouts", questionOf(content.market), PAYOUTS[winner].map(BigInt));
    }
    case "call":
      throw new Error("a call is not the exchange's own");
  }
}

/** Returns a transaction as the chain has it or, with null for the block, as it was while pending. */
export function transactionObject(
  state: State,
  transaction: Transaction,
  block: Block | null = blockOf(state.chain, transaction),
): object {
  const { content, place } = transaction;
  const hash = transactionHash(state, transaction);
  const position =
    block === null
      ? { blockHash: null, blockNumber: null, transactionIndex: null }
      : {
          blockHash: blockHash(state, block),
          blockNumber: quantity(block.height),
          blockTimestamp: quantity(secondsOf(block.at)),
          transactionIndex: quantity(place),
        };
  return {
    ...fieldsOf(content?.kind === "call" ? content : ownFields(state, transaction, block), hash),
    gasPrice: quantity(gasPriceOf(state, transaction, block)),
    hash,
    ...position,
  };
}

/** What a wallet signs. */
type Fields = Omit<CallContent, "kind" | "at" | "call" | "hash">;

/** Returns the fields of a transaction as it was signed, or as a node would have signed it. */
function fieldsOf(content: Fields, hash: string): object {
  const { from, to, nonce, gas, value, input, raw, maxFeePerGas, maxPriorityFeePerGas } = content;
  const numbers = { nonce: quantity(nonce), gas: quantity(gas), value: quantity(BigInt(value)) };
  const common = { from, to, ...numbers, input };
  const fees = { maxFeePerGas: quantity(maxFeePerGas), maxPriorityFeePerGas: quantity(maxPriorityFeePerGas) };
  if (raw === null) return { ...DEFAULT_FIELDS, ...common, ...fees, ...syntheticSignature(hash) };
  const { type, chainId, accessList, r, s, v, yParity } = readSigned(asHex(raw));
  const signature = { r: quantity(BigInt(r)), s: quantity(BigInt(s)), v: quantity(v) };
  if (type === "0x0") {
    const chain = chainId === undefined ? {} : { chainId: quantity(chainId) };
    return { type, ...chain, ...common, ...signature };
  }
  const offered = type === "0x2" ? fees : {};
  return {
    ...{ ...DEFAULT_FIELDS, type, accessList, ...common, ...offered, ...signature },
    yParity: quantity(yParity),
  };
}

/** Returns the fields of one of the exchange's own transactions. Their nonces are their numbers. */
const ownFields = (state: State, transaction: Transaction, block: Block | null): Fields => ({
  from: OPERATOR,
  to: recipientOf(transaction),
  nonce: transaction.number,
  gas: ownGas(logCountOf(transaction)),
  value: "0",
  input: ownInputOf(state, transaction),
  maxFeePerGas: ownFeeCap(state, transaction, block),
  maxPriorityFeePerGas: TIP,
  raw: null,
});

const DEFAULT_FIELDS = { type: "0x2", chainId: quantity(CHAIN_ID), accessList: [] };

/** Returns a well-formed signature for an unsigned transaction. No key has made it. */
function syntheticSignature(hash: string): object {
  const digits = (name: string): string => sha256Hex(`clobsim signature ${name}\n${hash}`).slice(1);
  const r = digits("r");
  const parity = quantity(Number.parseInt(r.slice(-1), 16) & 1);
  // A number whose first of 64 digits is 1 is below half the order of the curve.
  return { r: `0x1${r}`, s: `0x1${digits("s")}`, v: parity, yParity: parity };
}

/** Returns the receipt of a transaction; null while it is not mined. */
export function receiptObject(state: State, transaction: Transaction): object | null {
  const block = blockOf(state.chain, transaction);
  if (block === null) return null;
  const { status, place, gasBefore, content } = transaction;
  const gasUsed = gasUsedOf(transaction);
  const logs = new LogTexts(state, block).of(transaction, logsOf(state, transaction));
  const raw = content?.kind === "call" ? content.raw : null;
  return {
    type: raw === null ? "0x2" : readSigned(asHex(raw)).type,
    status: status === "MINED" ? "0x1" : "0x0",
    cumulativeGasUsed: quantity(gasBefore + gasUsed),
    logs: new LazyList([logs]),
    logsBloom: bloomOf(logs.length),
    transactionHash: transactionHash(state, transaction),
    transactionIndex: quantity(place),
    blockHash: blockHash(state, block),
    blockNumber: quantity(block.height),
    gasUsed: quantity(gasUsed),
    effectiveGasPrice: quantity(gasPriceOf(state, transaction, block)),
    blobGasPrice: BLOB_BASE_FEE,
    blockTimestamp: quantity(secondsOf(block.at)),
    from: senderOf(transaction),
    to: recipientOf(transaction),
    contractAddress: null,
  };
}

/** Price of blob gas, wei: the minimum, because there are no blobs. */
export const BLOB_BASE_FEE = "0x1";
const BLOOM_DIGITS = 512;
const EMPTY_BLOOM = `0x${"0".repeat(BLOOM_DIGITS)}`;
const FULL_BLOOM = `0x${"f".repeat(BLOOM_DIGITS)}`;

/** Returns a bloom filter for a number of logs. It matches everything if there is any log, which a bloom filter may do. */
const bloomOf = (logs: number): string => (logs === 0 ? EMPTY_BLOOM : FULL_BLOOM);

/** Keccak-256 of an empty RLP list, for blocks without uncles. */
const NO_UNCLES = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";
/** Keccak-256 of an empty RLP string, the root of an empty trie. */
const EMPTY_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
/** SHA-256 of no bytes, for blocks without requests (EIP-7685). */
const NO_REQUESTS = "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/** Bytes of a block without transactions, and approximate bytes per transaction. */
const HEADER_BYTES = 520;
const TRANSACTION_BYTES = 180;

export function* transactionsIn({ chain }: State, { first, count }: Block): Generator<Transaction> {
  for (let number = first + 1; number <= first + count; number += 1) {
    yield chain.transactions.get(chain.mined.get(number));
  }
}

/** Returns a block with its transactions, or with only their hashes. */
export const blockObject = (state: State, block: Block, isFull: boolean): object =>
  replyOf(state, block, blockHash(state, block), transactionsIn(state, block), isFull);

/** Returns the next block as if it were mined now, without a hash. */
export function pendingBlockObject(state: State, at: Millis, isFull: boolean): object {
  const { chain } = state;
  const { height, serial: parent } = headBlock(chain);
  const pending = pendingTransactions(state);
  const gas = pending.reduce((sum, transaction) => sum + gasUsedOf(transaction), 0);
  const mayLog = pending.filter(({ content }) => content?.kind !== "call" || content.call.kind !== "send");
  const [baseFee, count, logs] = [baseFeeOf(chain), pending.length, mayLog.length];
  const next = { serial: chain.blocks.next, height: height + 1, parent, at, baseFee, gas, count, logs };
  return replyOf(state, next, null, pending, isFull);
}

type BlockFields = Pick<Block, "serial" | "height" | "parent" | "at" | "baseFee" | "gas" | "count" | "logs">;

/** `hash` is null for the pending block. */
function replyOf(
  state: State,
  { serial, height, parent, at, baseFee, gas, count, logs }: BlockFields,
  hash: string | null,
  transactions: Iterable<Transaction>,
  isFull: boolean,
): object {
  const { chain } = state;
  const { miner, gasLimit } = limitsOf(chain, serial);
  /** Returns a placeholder for a root, because there are no tries. */
  const root = (name: string): string =>
    hash === null ? ZERO_WORD : `0x${sha256Hex(`clobsim ${name} root\n${hash}`)}`;
  const isEmpty = hash !== null && count === 0;
  return {
    hash,
    parentHash: parent === 0 ? ZERO_WORD : blockHash(state, chain.blocks.get(parent)),
    sha3Uncles: NO_UNCLES,
    difficulty: "0x0",
    totalDifficulty: "0x0",
    number: quantity(height),
    gasUsed: quantity(gas),
    timestamp: quantity(secondsOf(at)),
    extraData: "0x",
    mixHash: ZERO_WORD,
    baseFeePerGas: quantity(baseFee),
    size: quantity(HEADER_BYTES + count * TRANSACTION_BYTES),
    uncles: [],
    // Fields since Shanghai, Cancun and Prague, which are empty on this chain.
    withdrawals: [],
    withdrawalsRoot: EMPTY_ROOT,
    blobGasUsed: "0x0",
    excessBlobGas: "0x0",
    parentBeaconBlockRoot: ZERO_WORD,
    requestsHash: NO_REQUESTS,
    miner,
    // Raised to the used gas, because the exchange may exceed the limit.
    gasLimit: quantity(Math.max(gasLimit, gas)),
    logsBloom: bloomOf(logs),
    nonce: "0x0000000000000000",
    stateRoot: root("state"),
    transactionsRoot: isEmpty ? EMPTY_ROOT : root("transactions"),
    receiptsRoot: isEmpty ? EMPTY_ROOT : root("receipts"),
    transactions: lazyList(transactions, (transaction) =>
      isFull ? transactionObject(state, transaction) : transactionHash(state, transaction),
    ),
  };
}
