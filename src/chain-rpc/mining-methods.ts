import { blockAt, CHAIN_ID, headBlock, headOf, miningOf } from "../core/chain/chain.ts";
import { blockHash, transactionHash } from "../core/chain/chain-hashes.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import { MAX_BLOCKS } from "../core/commands.ts";
import type { Steps } from "../core/steps.ts";
import { MAX_MILLIS, type Millis, millis } from "../core/units.ts";
import { ADDRESS, TRANSACTION } from "./chain-methods.ts";
import { aliased, control, type Methods, type NodeContext, optionalParam, param } from "./context.ts";
import { invalidParams, quantity, secondsOf } from "./json-rpc.ts";
import * as read from "./parameters.ts";
import { senderOf, unminedTransactions } from "./transactions.ts";

const SECOND_MS = 1_000;
const LAST_SECOND = Math.floor(MAX_MILLIS / SECOND_MS);
const MAX_INTERVAL_S = 86_400;

const readBlocks = read.countUpTo(MAX_BLOCKS);
const readSeconds = read.countUpTo(LAST_SECOND);
const readIntervalSeconds = read.countUpTo(MAX_INTERVAL_S);
const readMillis = read.countUpTo(MAX_INTERVAL_S * SECOND_MS);
/** Reads an interval: seconds as in anvil or, from 1,000 on, milliseconds as in Hardhat's method of the same name. */
const readInterval = (value: unknown, name: string): number => {
  const interval = readMillis(value, name);
  return interval < SECOND_MS ? interval * SECOND_MS : interval;
};

const BLOCKS = optionalParam("blocks", readBlocks);
const INTERVAL = optionalParam("interval", readSeconds);

/** Mines blocks with an interval in seconds; 0 means the interval set for all blocks. */
async function mine(node: NodeContext, count: number, seconds: number): Promise<void> {
  const interval = seconds || (node.secondsBetweenBlocks ?? 0);
  if (interval === 0) mineBlocks(node, count);
  else await node.clock.change(node.slices, () => mineAtInterval(node, count, interval));
}

function* mineAtInterval(node: NodeContext, count: number, seconds: number): Steps<void> {
  const { clock } = node;
  for (let block = 0; block < count; block += 1) {
    if (!(yield* clock.moveInSteps(clock.setting, later(node, seconds)))) return;
    mineBlocks(node, 1);
    yield;
  }
}

/** Reads nothing, a timestamp, or an object with `blocks` and `timestamp`. */
const MINING = optionalParam("options", (options, name) => {
  if (typeof options !== "object") return { blocks: undefined, timestamp: readSeconds(options, "timestamp") };
  const { blocks, timestamp } = read.object(options, name);
  return {
    blocks: read.optional(blocks, `${name}.blocks`, readBlocks),
    timestamp: read.optional(timestamp, `${name}.timestamp`, readSeconds),
  };
});

function mineBlocks({ exchange }: NodeContext, count: number): void {
  if (count > 0) exchange.submit({ kind: "mineBlocks", count });
}

const moveClock = ({ clock, slices }: NodeContext, to: () => Millis): Promise<boolean> =>
  clock.change(slices, () => clock.moveInSteps(clock.setting, to()));

function later({ exchange }: NodeContext, seconds: number): Millis {
  const at = exchange.now + seconds * SECOND_MS;
  if (at <= MAX_MILLIS) return millis(at);
  throw invalidParams(`Timestamp error: the clock ends at ${LAST_SECOND}`);
}

/** Returns the start of a second, or the current time if it is in that second. @throws RpcError if the second is over. */
function atSecond({ exchange, state }: NodeContext, second: number): Millis {
  const now = secondsOf(exchange.now);
  if (second === now) return exchange.now;
  if (second > now) return millis(second * SECOND_MS);
  const isBehindHead = second < secondsOf(headBlock(state.chain).at);
  throw invalidParams(
    `Timestamp error: ${second} is lower than ${isBehindHead ? "previous block's timestamp" : `the clock's ${now}, which never runs backwards`}`,
  );
}

/** Sets the interval of mining; 0 stops it. */
function setMiningInterval({ exchange }: NodeContext, intervalMs: number): void {
  const mode = intervalMs === 0 ? "manual" : "auto";
  exchange.submit({ kind: "setMining", mode, intervalMs: intervalMs || SECOND_MS });
}

const modeOf = ({ state }: NodeContext) => miningOf(state.chain, state.config);

const setAutomine = control([param("enabled", read.boolean)], (node, isOn) => {
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

const PAIRS = optionalParam("transactions", (value) => {
  if (Array.isArray(value) && value.length === 0) return;
  throw invalidParams(
    "transactions of new blocks are not modelled: those of the replaced blocks are pending again",
  );
});
const FORKING = optionalParam("options", (value, name) => {
  const { forking } = read.object(value, name);
  const { jsonRpcUrl, blockNumber } = read.optional(forking, `${name}.forking`, read.object) ?? {};
  if ((jsonRpcUrl ?? null) === null && (blockNumber ?? null) === null) return;
  throw invalidParams("forking is not modelled: the chain is the exchange's own");
});

const setGasLimit = control([param("gas limit", read.count)], ({ exchange }, gasLimit) => {
  exchange.submit({ kind: "setBlockTerms", miner: null, gasLimit });
  return true;
});

/**
 * The methods that mine, advance the clock, configure mining, drop transactions, restore snapshots, reorganize and reset the
 * chain. Everything due before a new time happens.
 */
export const miningMethods: Methods = {
  evm_mine: control([MINING], async (node, mining) => {
    const { blocks = 1, timestamp } = mining ?? {};
    if (timestamp === undefined) await mine(node, blocks, 0);
    else {
      await moveClock(node, () => atSecond(node, timestamp));
      mineBlocks(node, blocks);
    }
    return "0x0";
  }),
  evm_increaseTime: control([param("seconds", readSeconds)], async (node, seconds) => {
    await moveClock(node, () => later(node, seconds));
    node.secondsAdded += seconds;
    return node.secondsAdded;
  }),
  evm_setNextBlockTimestamp: control([param("timestamp", readSeconds)], async (node, second) => {
    await moveClock(node, () => atSecond(node, second));
  }),
  evm_snapshot: control([], (node) => {
    const { exchange, clock, secondsAdded, snapshots, snapshotsTaken: number } = node;
    snapshots.set(number, { exchange: exchange.snapshot(), clock: clock.setting, secondsAdded });
    node.snapshotsTaken += 1n;
    return quantity(number);
  }),
  // Reverting to a snapshot deletes it and all later ones.
  evm_revert: control([param("snapshot", read.quantity)], (node, number) => {
    const { exchange, clock, snapshots } = node;
    const snapshot = snapshots.get(number);
    if (snapshot === undefined) return false;
    for (const other of snapshots.keys()) if (other >= number) snapshots.delete(other);
    exchange.restore(snapshot.exchange);
    clock.applySetting(snapshot.clock);
    node.secondsAdded = snapshot.secondsAdded;
    return true;
  }),
  evm_setAutomine: setAutomine,
  evm_setBlockGasLimit: setGasLimit,
  evm_setIntervalMining: control([param("interval", readInterval)], setMiningInterval),
  anvil_setBlockTimestampInterval: control([param("seconds", readIntervalSeconds)], (node, seconds) => {
    node.secondsBetweenBlocks = seconds;
  }),
  // Hardhat's clients send milliseconds.
  hardhat_setBlockTimestampInterval: control([param("milliseconds", readMillis)], (node, ms) => {
    node.secondsBetweenBlocks = Math.floor(ms / SECOND_MS);
  }),
  ...aliased({
    mine: control([BLOCKS, INTERVAL], async (node, count = 1, seconds = 0) => {
      await mine(node, count, seconds);
    }),
    setAutomine,
    setIntervalMining: control([param("interval", readIntervalSeconds)], (node, seconds) =>
      setMiningInterval(node, seconds * SECOND_MS),
    ),
    getAutomine: control([], (node) => modeOf(node).mode === "instant"),
    getIntervalMining: control([], (node) => {
      const { mode, intervalMs } = modeOf(node);
      return mode === "auto" ? intervalMs / SECOND_MS : null;
    }),
    setNextBlockBaseFeePerGas: control([param("base fee", read.count)], ({ exchange }, baseFee) => {
      exchange.submit({ kind: "setNextBaseFee", baseFee });
    }),
    setCoinbase: control([ADDRESS], ({ exchange }, miner) => {
      exchange.submit({ kind: "setBlockTerms", miner, gasLimit: null });
    }),
    setBlockGasLimit: setGasLimit,
    setMinGasPrice: control([param("price", read.quantity)], () => {
      throw invalidParams("anvil_setMinGasPrice is not supported when EIP-1559 is active");
    }),
    removeBlockTimestampInterval: control([], (node) => {
      const wasSet = node.secondsBetweenBlocks !== null;
      node.secondsBetweenBlocks = null;
      return wasSet;
    }),
    setNonce: control([ADDRESS, param("nonce", read.count)], ({ exchange }, address, nonce) => {
      exchange.submit({ kind: "setNonce", address, nonce });
    }),
    dropTransaction: control([TRANSACTION], ({ exchange, state }, transaction) => {
      if (transaction?.status !== "PENDING") return null;
      if (transaction.content?.kind !== "call") {
        throw invalidParams(
          "the exchange's own transactions cannot be dropped: POST /sim/chain/faults with the kind ghost loses one",
        );
      }
      const hash = transactionHash(state, transaction);
      exchange.submit({ kind: "dropTransaction", transaction: transaction.number });
      return hash;
    }),
    dropAllTransactions: control([], (node) => dropAll(node, () => true)),
    removePoolTransactions: control([ADDRESS], (node, address) =>
      dropAll(node, (transaction) => senderOf(transaction) === address),
    ),
    reorg: control([param("depth", read.count), PAIRS], ({ exchange, state }, depth) => {
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
    }),
    reset: control([FORKING], ({ reset }) => reset()),
    metadata: control([], ({ state, version, snapshots }) => {
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
        snapshots: Object.fromEntries(
          [...snapshots].map(([number, { exchange }]) => {
            const latest = headBlock(exchange.state.chain);
            return [quantity(number), [latest.height, blockHash(exchange.state, latest)]];
          }),
        ),
      };
    }),
    // The node logs nothing in either case.
    setLoggingEnabled: control([param("enabled", read.boolean)], () => null),
  }),
};
