import { blockAt, CHAIN_ID, headBlock, headOf, miningOf } from "../core/chain/chain.ts";
import { blockHash, transactionHash } from "../core/chain/chain-hashes.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import { ADDRESS, TRANSACTION } from "./chain-methods.ts";
import { aliased, control, type Methods, type NodeContext, optionalParam, param } from "./context.ts";
import { invalidParams } from "./json-rpc.ts";
import { countUpTo, optional, readBoolean, readCount, readObject, readQuantity } from "./params.ts";
import { senderOf, unminedTransactions } from "./transactions.ts";

const SECOND_MS = 1_000;
const MAX_INTERVAL_S = 86_400;

const readSeconds = countUpTo(MAX_INTERVAL_S);
const readMillis = countUpTo(MAX_INTERVAL_S * SECOND_MS);
/** Reads an interval: seconds as in anvil or, from 1,000 on, milliseconds as in Hardhat's method of the same name. */
const readInterval = (value: unknown, name: string): number => {
  const interval = readMillis(value, name);
  return interval < SECOND_MS ? interval * SECOND_MS : interval;
};

function setSecondsBetweenBlocks(node: NodeContext, seconds: number): void {
  node.secondsBetweenBlocks = seconds;
}

/** Sets the interval of mining; 0 stops it. */
function setMiningInterval({ exchange }: NodeContext, intervalMs: number): void {
  const mode = intervalMs === 0 ? "manual" : "auto";
  exchange.submit({ kind: "setMining", mode, intervalMs: intervalMs || SECOND_MS });
}

const modeOf = ({ state }: NodeContext) => miningOf(state.chain, state.config);

const setAutomine = control([param("enabled", readBoolean)], (node, isOn) => {
  const { mode, intervalMs } = modeOf(node);
  if (isOn) node.exchange.submit({ kind: "setMining", mode: "instant", intervalMs });
  else if (mode === "instant") node.exchange.submit({ kind: "setMining", mode: "manual", intervalMs });
});

/** Drops pending transactions of wallets, latest first, so that none waits for the nonce of a dropped one. */
function dropAll(node: NodeContext, isDropped: (transaction: Transaction) => boolean): void {
  const numbers = [...unminedTransactions(node.state)]
    .filter((transaction) => transaction.content?.kind === "call" && isDropped(transaction))
    .map(({ number }) => number);
  for (const transaction of numbers.reverse()) node.exchange.submit({ kind: "dropTransaction", transaction });
}

function drop({ exchange, state }: NodeContext, transaction: Transaction | undefined): string | null {
  if (transaction?.status !== "PENDING") return null;
  if (transaction.content?.kind !== "call") {
    throw invalidParams(
      "the exchange's own transactions cannot be dropped: POST /sim/chain/faults with the kind ghost loses one",
    );
  }
  const hash = transactionHash(state, transaction);
  exchange.submit({ kind: "dropTransaction", transaction: transaction.number });
  return hash;
}

function reorganize({ exchange, state }: NodeContext, depth: number): void {
  const head = headOf(state.chain);
  if (depth > head) {
    throw invalidParams(
      `Reorg depth must not exceed current chain height: current height ${head}, depth ${depth}`,
    );
  }
  if (depth === 0 || exchange.submit({ kind: "reorganizeChain", depth }).ok) return;
  throw invalidParams(
    "Reorg depth must not include final blocks: those with two more blocks above them, and all blocks with instant settlement",
  );
}

const PAIRS = optionalParam("transactions", (value) => {
  if (Array.isArray(value) && value.length === 0) return;
  throw invalidParams(
    "transactions of new blocks are not modelled: those of the replaced blocks are pending again",
  );
});
const FORKING = optionalParam("options", (value, name) => {
  const { forking } = readObject(value, name);
  const { jsonRpcUrl, blockNumber } = optional(forking, `${name}.forking`, readObject) ?? {};
  if ((jsonRpcUrl ?? null) === null && (blockNumber ?? null) === null) return;
  throw invalidParams("forking is not modelled: the chain is the exchange's own");
});

function metadataOf({ state, version }: NodeContext): object {
  const head = headBlock(state.chain);
  return {
    clientVersion: `clobsim/v${version}`,
    clientSemver: version,
    clientCommitSha: null,
    chainId: CHAIN_ID,
    instanceId: blockHash(state, blockAt(state.chain, 0) ?? head),
    latestBlockNumber: head.height,
    latestBlockHash: blockHash(state, head),
    forkedNetwork: null,
    snapshots: {},
  };
}

const setGasLimit = control([param("gas limit", readCount)], ({ exchange }, gasLimit) => {
  exchange.submit({ kind: "setBlockTerms", miner: null, gasLimit });
  return true;
});

/** The methods that configure mining, drop transactions, reorganize and reset the chain. */
export const steeringMethods: Methods = {
  evm_setAutomine: setAutomine,
  evm_setBlockGasLimit: setGasLimit,
  evm_setIntervalMining: control([param("interval", readInterval)], setMiningInterval),
  anvil_setBlockTimestampInterval: control([param("seconds", readSeconds)], setSecondsBetweenBlocks),
  // Hardhat's clients send milliseconds.
  hardhat_setBlockTimestampInterval: control([param("milliseconds", readMillis)], (node, ms) =>
    setSecondsBetweenBlocks(node, Math.floor(ms / SECOND_MS)),
  ),
  ...aliased({
    setAutomine,
    setIntervalMining: control([param("interval", readSeconds)], (node, seconds) =>
      setMiningInterval(node, seconds * SECOND_MS),
    ),
    getAutomine: control([], (node) => modeOf(node).mode === "instant"),
    getIntervalMining: control([], (node) => {
      const { mode, intervalMs } = modeOf(node);
      return mode === "auto" ? intervalMs / SECOND_MS : null;
    }),
    setNextBlockBaseFeePerGas: control([param("base fee", readCount)], ({ exchange }, baseFee) => {
      exchange.submit({ kind: "setNextBaseFee", baseFee });
    }),
    setCoinbase: control([ADDRESS], ({ exchange }, miner) => {
      exchange.submit({ kind: "setBlockTerms", miner, gasLimit: null });
    }),
    setBlockGasLimit: setGasLimit,
    setMinGasPrice: control([param("price", readQuantity)], () => {
      throw invalidParams("anvil_setMinGasPrice is not supported when EIP-1559 is active");
    }),
    removeBlockTimestampInterval: control([], (node) => {
      const wasSet = node.secondsBetweenBlocks !== null;
      node.secondsBetweenBlocks = null;
      return wasSet;
    }),
    setNonce: control([ADDRESS, param("nonce", readCount)], ({ exchange }, address, nonce) => {
      exchange.submit({ kind: "setNonce", address, nonce });
    }),
    dropTransaction: control([TRANSACTION], drop),
    dropAllTransactions: control([], (node) => dropAll(node, () => true)),
    removePoolTransactions: control([ADDRESS], (node, address) =>
      dropAll(node, (transaction) => senderOf(transaction) === address),
    ),
    reorg: control([param("depth", readCount), PAIRS], reorganize),
    reset: control([FORKING], ({ reset }) => reset()),
    metadata: control([], metadataOf),
    // The node logs nothing in either case.
    setLoggingEnabled: control([param("enabled", readBoolean)], () => null),
  }),
};
