import { blockTermsOf, emptyWallet, noteOverwritten } from "../chain/chain.ts";
import type { CommandOf } from "../commands.ts";
import type { EventOf } from "../events.ts";
import { accepted, type Decision } from "../refusals.ts";
import type { State } from "../state.ts";
import type { Millis } from "../units.ts";
import { walletIn } from "./permissions.ts";
import type { RuleSet } from "./rule-set.ts";
import { awaitBlock, exceptionOf, leavePool, takeOut } from "./transactions.ts";
import { Unwinding } from "./unwind.ts";

// What whoever tests with the chain may do to it, as on a development node.

/** Gives an address so much of the native currency. */
const setNativeBalance = (_state: State, { address, wei }: CommandOf<"setNativeBalance">): Decision =>
  accepted([{ kind: "nativeBalanceSet", address, wei }]);

/** An address has so much of the native currency from now on. */
function writeNativeBalance({ chain }: State, { address, wei }: EventOf<"nativeBalanceSet">): void {
  const wallet = walletIn(chain, address);
  noteOverwritten(chain, wallet);
  wallet.native = BigInt(wei);
}

/** Decides the nonce of an address's next transaction; what it has pending below is dropped. */
function setNonce(
  state: State,
  { address, nonce }: CommandOf<"setNonce">,
  _at: Millis,
  rules: RuleSet,
): Decision {
  const { pending } = state.chain.wallets.get(address) ?? emptyWallet(address);
  const below = [...pending].filter(([own]) => own < nonce).map(([, number]) => number);
  return accepted([...dropping(state, below, rules), { kind: "nonceSet", address, nonce }]);
}

/** The next transaction of an address has this nonce from now on; one that has waited for it may come to a block. */
function writeNonce({ chain, config }: State, { address, nonce }: EventOf<"nonceSet">, at: Millis): void {
  const wallet = walletIn(chain, address);
  noteOverwritten(chain, wallet);
  wallet.mined = nonce;
  if (wallet.pending.has(nonce)) awaitBlock(chain, config, at);
}

/** Takes a wallet's pending transaction out of the pool; to drop none is a success that changes nothing. */
function dropTransaction(
  state: State,
  { transaction: number }: CommandOf<"dropTransaction">,
  _at: Millis,
  rules: RuleSet,
): Decision {
  const transaction = state.chain.transactions.find(number);
  const isDroppable = transaction?.status === "PENDING" && transaction.content?.kind === "call";
  return accepted(isDroppable ? dropping(state, [number], rules) : []);
}

/** What goes with transactions that are dropped: one that a reorganization has put back is in the ledger. */
function dropping(state: State, numbers: readonly number[], rules: RuleSet) {
  const unwinding = new Unwinding(state, rules);
  for (const number of numbers) unwinding.drop(state.chain.transactions.get(number));
  return unwinding.events();
}

/** A wallet's transaction is dropped: nobody has ever sent it. */
function writeDropped(
  state: State,
  { transaction: number }: EventOf<"transactionDropped">,
  at: Millis,
): void {
  const { chain } = state;
  const transaction = chain.transactions.get(number);
  const { content } = transaction;
  if (content?.kind !== "call") throw new Error(`transaction ${number} is no call`);
  const exception = exceptionOf(transaction);
  if (exception.effect !== null) takeOut(state, transaction);
  exception.effect = null;
  leavePool(chain, transaction);
  transaction.status = "DROPPED";
  exception.hold = null;
  exception.endedAt = at;
  walletIn(chain, content.from).pending.delete(content.nonce);
  if (content.hash !== null) chain.signed.delete(content.hash);
}

/** Decides when blocks are mined from now on. */
const setMining = (_state: State, { mode, intervalMs }: CommandOf<"setMining">): Decision =>
  accepted([{ kind: "miningSet", mode, intervalMs }]);

/** Blocks are mined otherwise from now on: at an interval, or when somebody waits for one. */
function writeMining({ chain, config }: State, { mode, intervalMs }: EventOf<"miningSet">, at: Millis): void {
  chain.mining = { mode, intervalMs };
  chain.nextBlockAt = null;
  if (chain.pending > 0 || mode === "auto") awaitBlock(chain, config, at);
}

/** Decides what blocks say of themselves from the next one on. */
function setBlockTerms({ chain }: State, { miner, gasLimit }: CommandOf<"setBlockTerms">): Decision {
  const now = blockTermsOf(chain, chain.blocks.next);
  const terms = { miner: miner ?? now.miner, gasLimit: gasLimit ?? now.gasLimit };
  return accepted([{ kind: "blockTermsSet", blocks: chain.blocks.size, ...terms }]);
}

const MAX_BLOCK_TERMS = 1_000;

/** Blocks say this of themselves from the next one on; the latest thousand changes are known. */
function writeBlockTerms({ chain }: State, { kind: _, ...terms }: EventOf<"blockTermsSet">): void {
  const before = chain.blockTerms.filter(({ blocks }) => blocks !== terms.blocks);
  chain.blockTerms = [...before.slice(1 - MAX_BLOCK_TERMS), terms];
}

/** Decides what a unit of gas costs in the next block. */
const setNextBaseFee = (_state: State, { baseFee }: CommandOf<"setNextBaseFee">): Decision =>
  accepted([{ kind: "nextBaseFeeSet", baseFee }]);

/** A unit of gas costs so much in the next block. */
function writeNextBaseFee({ chain }: State, { baseFee }: EventOf<"nextBaseFeeSet">): void {
  chain.nextBaseFee = baseFee;
}

/** What decides each command of whoever tests. */
export const steeringRules = {
  setNativeBalance,
  setNonce,
  dropTransaction,
  setMining,
  setBlockTerms,
  setNextBaseFee,
};

/** What writes each of its events. */
export const steeringWrites = {
  nativeBalanceSet: writeNativeBalance,
  nonceSet: writeNonce,
  transactionDropped: writeDropped,
  miningSet: writeMining,
  blockTermsSet: writeBlockTerms,
  nextBaseFeeSet: writeNextBaseFee,
};
