import {
  type Block,
  type Building,
  baseFeeOf,
  blockTermsOf,
  type Chain,
  canSettleInBatch,
  confirmationsOf,
  DEFAULT_BASE_FEE,
  digestFields,
  headOf,
  minedAt,
  miningOf,
  unminedOf,
} from "../chain/chain.ts";
import { movesOf } from "../chain/settlement.ts";
import { awaitsBlock, type Transaction } from "../chain/transaction.ts";
import type { DomainEvent } from "../events.ts";
import type { Digest } from "../hash.ts";
import { accepted, refused } from "../refusals.ts";
import type { ExchangeConfig, State } from "../state.ts";
import { type Millis, millis } from "../units.ts";
import { undoCall } from "./calls.ts";
import { hasPermissions, restorePermissions } from "./contract-calls.ts";
import { settleAllPending, settlesInstantly } from "./ledger.ts";
import type { Appliers, Deciders } from "./rule-set.ts";
import {
  addOwnToBlock,
  ensureException,
  isAnyUnderpriced,
  scheduleBlock,
  settleMoves,
} from "./transactions.ts";
import { Unwinding } from "./unwind.ts";

/**
 * Adds the block that settles the transactions of a command, if the mode is `instant` and they can be settled in a batch;
 * else the schedule mines it. `last` is the number of the command's last transaction.
 */
export function addInstantBlock(state: State, last: number, events: DomainEvent[]): void {
  if (settlesInstantly(state)) events.push(minedEvent(state.chain, last, 0));
}

const minedEvent = (chain: Chain, lastTransaction: number, empty: number): DomainEvent => ({
  kind: "blocksMined",
  height: headOf(chain) + 1,
  lastTransaction,
  empty,
});

const beginBlock = (chain: Chain, height: number, baseFee: number, at: Millis): Building => ({
  height,
  at,
  baseFee,
  cursor: 0,
  first: chain.mined.size,
  logs: 0,
  gas: 0,
  isFilled: false,
});

function seal(chain: Chain, building: Building): void {
  const { height } = building;
  const serial = addBlock(chain, building, chain.heights.get(chain.heights.size));
  chain.heights.addAs(height + 1, serial);
  if (building.isFilled) chain.lastFilled = height;
  if (chain.asked > 0) chain.asked -= 1;
  if (chain.pendingBalances.length > 0) chain.pendingBalances = [];
}

export function mixBlock(digest: Digest, { height, at, baseFee }: Pick<Block, "height" | "at" | "baseFee">) {
  digest.mix(height);
  digest.mixWide(at);
  digest.mix(baseFee);
  digest.spread();
}

/** Adds a block on top of another and returns its serial. */
function addBlock(chain: Chain, building: Building, parent: number): number {
  const { height, at, baseFee, first, logs, gas } = building;
  const { digest } = chain;
  mixBlock(digest, building);
  const serial = chain.blocks.next;
  const count = chain.mined.size - first;
  const digests = digestFields(digest);
  return chain.blocks.add({ serial, height, parent, at, baseFee, first, count, logs, gas, ...digests });
}

/**
 * Sets when the next block is due after one has been mined. In `auto` mode one is due while a transaction awaits
 * confirmation or may still be mined, and always if the mode was set by command.
 */
function scheduleAfterBlock(chain: Chain, config: ExchangeConfig, at: Millis): void {
  const { mode, intervalMs } = miningOf(chain, config);
  const isAwaited =
    mode === "auto" &&
    (chain.mining !== null ||
      (chain.lastFilled !== null && headOf(chain) < chain.lastFilled + confirmationsOf(config.settlement)) ||
      chain.deferred.some((number) => canBecomeMinable(chain.transactions.get(number))));
  chain.nextBlockAt = isAwaited ? millis(at + intervalMs) : null;
}

const canBecomeMinable = ({ status, exception }: Transaction): boolean => {
  if (status !== "PENDING") return false;
  const hold = exception?.hold ?? null;
  return hold !== "UNDERPRICED" && hold !== "NONCE_GAP" && hold !== "NO_GAS_MONEY";
};

/** Removes a transaction from its block. A settlement that was reverted there has failed permanently. */
function returnToPending(state: State, transaction: Transaction): void {
  const { content } = transaction;
  if (content === null && transaction.status === "REVERTED") {
    transaction.status = "FAILED";
  } else {
    if (content === null || content.kind === "call") settleMoves(state, transaction, -1);
    if (content?.kind === "call") undoCall(state.chain, transaction, content);
    transaction.status = "PENDING";
    if (awaitsBlock(transaction)) {
      state.chain.pending += 1;
      const exception = ensureException(transaction);
      exception.hold = "REORGANIZED";
      exception.notBefore = 0;
    }
  }
  transaction.block = 0;
  transaction.place = 0;
  transaction.logsBefore = 0;
  transaction.gasBefore = 0;
}

/**
 * Returns the calls whose nonce another one has when blocks are replaced, because a wallet's nonce was lowered: the call
 * that was mined first keeps it.
 */
function withoutNonce(chain: Chain, replaced: readonly Transaction[]): Transaction[] {
  const taken = new Set<string>();
  return [...replaced, ...unminedOf(chain)].filter(({ content }) => {
    if (content?.kind !== "call") return false;
    const nonce = `${content.from} ${content.nonce}`;
    return taken.size === taken.add(nonce).size;
  });
}

const MAX_BLOCK_TERMS = 1_000;

export const blockDeciders = {
  /** Requests blocks, which the schedule then mines at this moment, in any mining mode. */
  mineBlocks: (_state, command) => accepted([{ kind: "blocksAsked", count: command.count }]),
  /** Mines the due block in a batch if possible; else opens it, to be assembled transaction by transaction. */
  produceBlock(state) {
    const { chain } = state;
    return accepted([
      canSettleInBatch(chain)
        ? minedEvent(chain, chain.transactions.size, Math.max(0, chain.asked - 1))
        : { kind: "blockOpened", height: headOf(chain) + 1, baseFee: baseFeeOf(chain) },
    ]);
  },
  sealBlock({ chain }) {
    if (chain.building === null) throw new Error("no block is being assembled");
    return accepted([{ kind: "blockSealed", height: chain.building.height }]);
  },
  /**
   * Replaces the latest blocks; refused if one of them is final. If only settled funds can be spent, orders that relied on
   * funds of these blocks are canceled.
   */
  reorganizeChain(state, { depth }, rules) {
    const { chain, config } = state;
    const most = Math.min(confirmationsOf(config.settlement), headOf(chain));
    if (depth > most) return refused({ code: "REORGANIZATION_TOO_DEEP", depth, most });
    const first = headOf(chain) - depth + 1;
    const replaced = Array.from({ length: depth }, (_, index) => minedAt(chain, first + index)).flat();
    const returned = replaced.filter((each) => each.status === "MINED" && awaitsBlock(each));
    const unwinding = new Unwinding(state, rules, returned);
    for (const transaction of returned) unwinding.addIncoming(movesOf(state, transaction));
    if (rules.takenNonceUndoesCall) for (const call of withoutNonce(chain, replaced)) unwinding.drop(call);
    const restoresPermissions = rules.reorganizationRestartsCalls && hasPermissions(chain);
    const usesBaseFee = rules.reorganizationUsesBaseFee && chain.nextBaseFee !== null;
    return accepted(
      unwinding.events({
        kind: "chainReorganized",
        depth,
        ...(restoresPermissions && { restoresPermissions }),
        ...(usesBaseFee && { usesBaseFee }),
      }),
    );
  },
  setMining: (_state, { mode, intervalMs }) => accepted([{ kind: "miningSet", mode, intervalMs }]),
  setBlockTerms({ chain }, { miner, gasLimit }) {
    const now = blockTermsOf(chain, chain.blocks.next);
    const terms = { miner: miner ?? now.miner, gasLimit: gasLimit ?? now.gasLimit };
    return accepted([{ kind: "blockTermsSet", blocks: chain.blocks.size, ...terms }]);
  },
  setNextBaseFee({ chain }, { baseFee }, rules) {
    const schedulesBlock = rules.baseFeeSchedulesBlock && isAnyUnderpriced(chain, baseFee);
    return accepted([{ kind: "nextBaseFeeSet", baseFee, ...(schedulesBlock && { schedulesBlock }) }]);
  },
} satisfies Partial<Deciders>;

export const blockAppliers = {
  blocksAsked({ chain }, { count }) {
    chain.asked += count;
  },
  blocksMined(state, { height, lastTransaction, empty }, at) {
    const { chain, config } = state;
    settleAllPending(state);
    const building = beginBlock(chain, height, DEFAULT_BASE_FEE, at);
    for (let number = chain.firstUnprocessed; number <= lastTransaction; number += 1) {
      const transaction = chain.transactions.get(number);
      if (transaction.status === "PENDING") addOwnToBlock(state, building, transaction);
    }
    chain.firstUnprocessed = lastTransaction + 1;
    seal(chain, building);
    for (let count = 1; count <= empty; count += 1) {
      seal(chain, beginBlock(chain, height + count, DEFAULT_BASE_FEE, at));
    }
    scheduleAfterBlock(chain, config, at);
  },
  blockOpened({ chain }, { height, baseFee }, at) {
    chain.building = beginBlock(chain, height, baseFee, at);
  },
  blockSealed({ chain, config }, { height }, at) {
    const { building } = chain;
    if (building?.height !== height) throw new Error(`block ${height} is not the one being assembled`);
    chain.building = null;
    chain.deferred = chain.deferred.filter((number) => chain.transactions.get(number).status === "PENDING");
    seal(chain, building);
    scheduleAfterBlock(chain, config, at);
    if (chain.nextBaseFee === null) return;
    chain.nextBaseFee = null;
    if (isAnyUnderpriced(chain)) scheduleBlock(chain, config, at);
  },
  /**
   * Replaces the latest blocks with empty ones. Their transactions are pending again, in the same order, and stay in the
   * ledger; the next block mines them unless they have become invalid.
   */
  chainReorganized(state, { depth, restoresPermissions = false, usesBaseFee = false }, at) {
    const { chain, config } = state;
    const head = headOf(chain);
    const stays = head - depth;
    const returned: number[] = [];
    for (let height = head; height > stays; height -= 1) {
      for (const transaction of minedAt(chain, height).reverse()) {
        returnToPending(state, transaction);
        returned.push(transaction.number);
      }
    }
    if (restoresPermissions) restorePermissions(state, stays);
    const pending = returned.filter((number) => chain.transactions.get(number).status === "PENDING");
    chain.deferred = [...chain.deferred, ...pending].sort((a, b) => a - b);
    chain.reorganizations += 1;
    chain.digest.mix(chain.reorganizations);
    for (let height = stays + 1; height <= head; height += 1) {
      const building = beginBlock(chain, height, baseFeeOf(chain), at);
      chain.heights.replace(height + 1, addBlock(chain, building, chain.heights.get(height)));
      if (usesBaseFee) chain.nextBaseFee = null;
    }
    if (chain.lastFilled !== null) chain.lastFilled = Math.min(chain.lastFilled, stays);
    if (pending.length > 0 || (usesBaseFee && isAnyUnderpriced(chain))) scheduleBlock(chain, config, at);
  },
  /** Writes the mining mode; schedules a block if transactions are pending or the mode is `auto`. */
  miningSet({ chain, config }, { mode, intervalMs }, at) {
    chain.mining = { mode, intervalMs };
    chain.nextBlockAt = null;
    if (chain.pending > 0 || mode === "auto") scheduleBlock(chain, config, at);
  },
  /** Writes header fields; keeps the latest `MAX_BLOCK_TERMS` changes. */
  blockTermsSet({ chain }, { kind: _, ...terms }) {
    const before = chain.blockTerms.filter(({ blocks }) => blocks !== terms.blocks);
    chain.blockTerms = [...before.slice(1 - MAX_BLOCK_TERMS), terms];
  },
  nextBaseFeeSet({ chain, config }, { baseFee, schedulesBlock = false }, at) {
    chain.nextBaseFee = baseFee;
    if (schedulesBlock) scheduleBlock(chain, config, at);
  },
} satisfies Partial<Appliers>;
