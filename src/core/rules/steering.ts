import { blockTermsOf, emptyWallet, recordOverwritten } from "../chain/chain.ts";
import type { CommandOf } from "../commands.ts";
import type { EventOf } from "../events.ts";
import { accepted, type Decision } from "../refusals.ts";
import type { State } from "../state.ts";
import type { Millis } from "../units.ts";
import { walletIn } from "./permissions.ts";
import type { RuleSet } from "./rule-set.ts";
import { endUnmined, exceptionOf, scheduleBlock, undoInLedger } from "./transactions.ts";
import { Unwinding } from "./unwind.ts";

// Commands with which a test controls the chain, as on a development node.

const setNativeBalance = (_state: State, { address, wei }: CommandOf<"setNativeBalance">): Decision =>
  accepted([{ kind: "nativeBalanceSet", address, wei }]);

function writeNativeBalance({ chain }: State, { address, wei }: EventOf<"nativeBalanceSet">): void {
  const wallet = walletIn(chain, address);
  recordOverwritten(chain, wallet);
  wallet.native = BigInt(wei);
}

/** Sets the nonce of an address's next transaction; drops its pending transactions with a lower nonce. */
function setNonce(
  state: State,
  { address, nonce }: CommandOf<"setNonce">,
  _at: Millis,
  rules: RuleSet,
): Decision {
  const { pending } = state.chain.wallets.get(address) ?? emptyWallet(address);
  const below = [...pending].filter(([own]) => own < nonce).map(([, number]) => number);
  return accepted([...dropEvents(state, below, rules), { kind: "nonceSet", address, nonce }]);
}

/** Writes the nonce; schedules a block if a pending transaction waited for it. */
function writeNonce({ chain, config }: State, { address, nonce }: EventOf<"nonceSet">, at: Millis): void {
  const wallet = walletIn(chain, address);
  recordOverwritten(chain, wallet);
  wallet.mined = nonce;
  if (wallet.pending.has(nonce)) scheduleBlock(chain, config, at);
}

/** Removes a wallet's pending transaction from the pool; succeeds without a change if there is none. */
function dropTransaction(
  state: State,
  { transaction: number }: CommandOf<"dropTransaction">,
  _at: Millis,
  rules: RuleSet,
): Decision {
  const transaction = state.chain.transactions.find(number);
  const isDroppable = transaction?.status === "PENDING" && transaction.content?.kind === "call";
  return accepted(isDroppable ? dropEvents(state, [number], rules) : []);
}

/** Returns the events that drop transactions, including the undoing of those still in the ledger after a reorganization. */
function dropEvents(state: State, numbers: readonly number[], rules: RuleSet) {
  const unwinding = new Unwinding(state, rules);
  for (const number of numbers) unwinding.drop(state.chain.transactions.get(number));
  return unwinding.events();
}

/** Drops a wallet's transaction as if it had never been sent. */
function writeDropped(
  state: State,
  { transaction: number }: EventOf<"transactionDropped">,
  at: Millis,
): void {
  const { chain } = state;
  const transaction = chain.transactions.get(number);
  const { content } = transaction;
  if (content?.kind !== "call") throw new Error(`transaction ${number} is not a call`);
  const exception = exceptionOf(transaction);
  if (exception.effect !== null) undoInLedger(state, transaction);
  exception.effect = null;
  endUnmined(chain, transaction, "DROPPED", at);
  walletIn(chain, content.from).pending.delete(content.nonce);
  if (content.hash !== null) chain.signed.delete(content.hash);
}

const setMining = (_state: State, { mode, intervalMs }: CommandOf<"setMining">): Decision =>
  accepted([{ kind: "miningSet", mode, intervalMs }]);

/** Writes the mining mode; schedules a block if transactions are pending or the mode is `auto`. */
function writeMining({ chain, config }: State, { mode, intervalMs }: EventOf<"miningSet">, at: Millis): void {
  chain.mining = { mode, intervalMs };
  chain.nextBlockAt = null;
  if (chain.pending > 0 || mode === "auto") scheduleBlock(chain, config, at);
}

/** Sets header fields from the next block on. */
function setBlockTerms({ chain }: State, { miner, gasLimit }: CommandOf<"setBlockTerms">): Decision {
  const now = blockTermsOf(chain, chain.blocks.next);
  const terms = { miner: miner ?? now.miner, gasLimit: gasLimit ?? now.gasLimit };
  return accepted([{ kind: "blockTermsSet", blocks: chain.blocks.size, ...terms }]);
}

const MAX_BLOCK_TERMS = 1_000;

/** Writes header fields; keeps the latest `MAX_BLOCK_TERMS` changes. */
function writeBlockTerms({ chain }: State, { kind: _, ...terms }: EventOf<"blockTermsSet">): void {
  const before = chain.blockTerms.filter(({ blocks }) => blocks !== terms.blocks);
  chain.blockTerms = [...before.slice(1 - MAX_BLOCK_TERMS), terms];
}

const setNextBaseFee = (_state: State, { baseFee }: CommandOf<"setNextBaseFee">): Decision =>
  accepted([{ kind: "nextBaseFeeSet", baseFee }]);

function writeNextBaseFee({ chain }: State, { baseFee }: EventOf<"nextBaseFeeSet">): void {
  chain.nextBaseFee = baseFee;
}

export const steeringDeciders = {
  setNativeBalance,
  setNonce,
  dropTransaction,
  setMining,
  setBlockTerms,
  setNextBaseFee,
};

export const steeringAppliers = {
  nativeBalanceSet: writeNativeBalance,
  nonceSet: writeNonce,
  transactionDropped: writeDropped,
  miningSet: writeMining,
  blockTermsSet: writeBlockTerms,
  nextBaseFeeSet: writeNextBaseFee,
};
