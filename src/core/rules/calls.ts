import type { Account } from "../account.ts";
import { type Building, type Chain, emptyWallet, recordOverwritten } from "../chain/chain.ts";
import { USDC } from "../chain/settlement.ts";
import {
  CallContent,
  type CallEffect,
  callGas,
  type HoldReason,
  intrinsicGas,
  logsOfCall,
  type Move,
  type Transaction,
} from "../chain/transaction.ts";
import type { CommandOf } from "../commands.ts";
import type { DomainEvent, EventOf } from "../events.ts";
import { marketOfToken, tokenOf } from "../market.ts";
import { accepted, type Decision, refused, type TransactionRefusal } from "../refusals.ts";
import { findAccount, type State } from "../state.ts";
import type { Address } from "../terms.ts";
import { type Millis, size } from "../units.ts";
import { type CallOutcome, holdingOnChain, outcomeOfCall, type Transfer } from "./contract-calls.ts";
import { addMoves, backingOf, changeSupply, grantMintEvents, issuanceLeft } from "./ledger.ts";
import { changePermissions, walletIn } from "./permissions.ts";
import type { RuleSet } from "./rule-set.ts";
import {
  addContent,
  addToBlock,
  beginExecution,
  endUnmined,
  exceptionOf,
  scheduleBlock,
  settleMoves,
  undoInLedger,
} from "./transactions.ts";
import { Unwinding } from "./unwind.ts";

/** Minimum fee of a replacement transaction, in percent of the first. */
const REPLACEMENT_PERCENT = 110;

/** Accepts a wallet's transaction if a node would. It is pending and has no effect until a block executes it. */
function sendTransaction({ chain }: State, command: CommandOf<"sendTransaction">, at: Millis): Decision {
  const nonce = command.nonce ?? nextNonce(chain, command.from);
  const content = CallContent.copy({ ...command, nonce, kind: "call", at });
  const refusal = refusalOf(chain, content);
  if (refusal !== null) return refused(refusal);
  const replaces = chain.wallets.get(content.from)?.pending.get(nonce) ?? 0;
  return accepted([{ kind: "transactionSent", transaction: chain.transactions.next, content, replaces }]);
}

/** Returns the nonce of an address's next transaction, after its pending ones up to the first gap. */
export function nextNonce({ wallets }: Chain, address: string): number {
  const { mined, pending } = wallets.get(address) ?? emptyWallet(address);
  let nonce = mined;
  while (pending.has(nonce)) nonce += 1;
  return nonce;
}

function refusalOf(chain: Chain, content: CallContent): TransactionRefusal | null {
  const { from, nonce, gas, hash, maxFeePerGas, maxPriorityFeePerGas, input, value } = content;
  const minGas = intrinsicGas(input);
  if (gas < minGas) return { code: "INTRINSIC_GAS_TOO_LOW", gas, needed: minGas };
  if (maxPriorityFeePerGas > maxFeePerGas)
    return { code: "TIP_ABOVE_FEE_CAP", maxFeePerGas, tip: maxPriorityFeePerGas };
  const { mined, native, pending } = chain.wallets.get(from) ?? emptyWallet(from);
  if (nonce < mined) return { code: "NONCE_TOO_LOW", nonce, next: mined };
  if (hash !== null && chain.signed.has(hash)) return { code: "TRANSACTION_ALREADY_KNOWN", hash };
  const before = pending.get(nonce);
  if (before !== undefined) {
    const underpriced = underpricedBy(chain.transactions.get(before).content as CallContent, content);
    if (underpriced !== null) return underpriced;
  }
  const needed = BigInt(gas) * BigInt(maxFeePerGas) + BigInt(value);
  return needed > native
    ? { code: "INSUFFICIENT_GAS_MONEY", needed: String(needed), available: String(native) }
    : null;
}

/** Returns why a transaction cannot replace another; null if its fees are high enough. */
function underpricedBy(before: CallContent, after: CallContent): TransactionRefusal | null {
  const minReplacementFee = (fee: number): number => Math.ceil((fee / 100) * REPLACEMENT_PERCENT);
  const needed = minReplacementFee(before.maxFeePerGas);
  const isEnough =
    after.maxFeePerGas >= needed &&
    after.maxPriorityFeePerGas >= minReplacementFee(before.maxPriorityFeePerGas);
  return isEnough ? null : { code: "REPLACEMENT_UNDERPRICED", offered: after.maxFeePerGas, needed };
}

/** Executes, reverts or defers a wallet's call. Calls of a wallet execute in order of nonce. */
export function executeCall(
  state: State,
  building: Building,
  { number: transaction, exception }: Transaction,
  content: CallContent,
  rules: RuleSet,
): DomainEvent[] {
  const hold = deferralOf(state, building, content);
  if (hold !== null) {
    return [{ kind: "transactionHeld", transaction, hold, notBefore: building.height + 1, fault: 0 }];
  }
  const gasPrice = Math.min(content.maxFeePerGas, building.baseFee + content.maxPriorityFeePerGas);
  const gas = callGas(content.call, content.input);
  const before = exception?.effect ?? null;
  const outcome: CallOutcome =
    gas > content.gas
      ? { ok: false, reason: "out of gas" }
      : outcomeOfCall(state, { from: content.from, value: BigInt(content.value) }, content.call);
  if (outcome.ok && before === null) {
    const done = prepareEffect(state, outcome, rules);
    if (done !== null) {
      const { events, effect } = done;
      return [...events, { kind: "callExecuted", transaction, gas, gasPrice, effect, isRepeated: false }];
    }
  }
  if (outcome.ok && before !== null && isCovered(state, before)) {
    return [{ kind: "callExecuted", transaction, gas, gasPrice, effect: before, isRepeated: true }];
  }
  return [
    ...(before === null ? [] : undoEvents(state, before, rules)),
    {
      kind: "callReverted",
      transaction,
      gas: Math.min(gas, content.gas),
      gasPrice,
      reason: outcome.ok ? "clobsim: the exchange has issued all that it can" : outcome.reason,
    },
  ];
}

/** Returns why a call is not executed in this block; null if it is. */
function deferralOf({ chain }: State, { baseFee }: Building, content: CallContent): HoldReason | null {
  const { mined, native } = chain.wallets.get(content.from) ?? emptyWallet(content.from);
  if (content.nonce !== mined) return "NONCE_GAP";
  if (content.maxFeePerGas < baseFee) return "UNDERPRICED";
  const maxCost = BigInt(content.gas) * BigInt(content.maxFeePerGas) + BigInt(content.value);
  return native < maxCost ? "NO_GAS_MONEY" : null;
}

/** Returns the effect of a call and the events before it; null if it needs more USDC than may be issued. */
function prepareEffect(
  state: State,
  outcome: CallOutcome & { ok: true },
  rules: RuleSet,
): { readonly events: readonly DomainEvent[]; readonly effect: CallEffect } | null {
  const opened = openAccountEvents(state, outcome.moves);
  const numbers = new Map(opened.map(({ address, account }) => [address, account]));
  const moves = outcome.moves.map(({ address, token, amount }): Move => {
    const account = state.accountByAddress.get(address) ?? numbers.get(address);
    if (account === undefined) throw new Error(`${address} has no account`);
    return { account, token, amount };
  });
  const grants = grantsFor(state, outcome.moves, rules);
  if (grants === null) return null;
  const unwinding = new Unwinding(state, rules);
  for (const { account, market, size } of grants) {
    unwinding.move([
      { account, token: tokenOf(market, "YES"), amount: size },
      { account, token: tokenOf(market, "NO"), amount: size },
    ]);
  }
  unwinding.move(moves);
  return {
    events: [...opened, ...grants, ...unwinding.events()],
    effect: { moves, supply: outcome.supply },
  };
}

/** Returns events that open accounts for addresses without one. */
function openAccountEvents(state: State, moves: readonly Transfer[]): EventOf<"accountOpened">[] {
  const unknown = new Set<Address>();
  for (const { address } of moves) if (findAccount(state, address) === undefined) unknown.add(address);
  return [...unknown].map((address, index) => ({
    kind: "accountOpened",
    account: state.accounts.next + index,
    address,
  }));
}

/** Returns the grants minted because shares leave or reach a wallet; null if too little USDC may be issued. */
function grantsFor(
  state: State,
  moves: readonly Transfer[],
  { receivingTouches }: RuleSet,
): EventOf<"grantMinted">[] | null {
  const touched = new Map<Account, Set<number>>();
  for (const { address, token, amount } of moves) {
    const account = findAccount(state, address);
    if (token === USDC || account === undefined || (amount > 0 && !receivingTouches)) continue;
    const markets = touched.get(account) ?? new Set();
    touched.set(account, markets.add(marketOfToken(token)));
  }
  const minted: EventOf<"grantMinted">[] = [];
  for (const [account, markets] of touched) {
    const first = state.chain.transactions.next + minted.length;
    minted.push(...grantMintEvents({ number: account.number, known: account }, markets, size(0), first));
  }
  return backingOf(minted) > issuanceLeft(state) ? null : minted;
}

/** Whether all parties still have on chain what a call debited when first executed. */
const isCovered = (state: State, { moves }: CallEffect): boolean =>
  moves.every(({ account, token, amount }) => {
    const { address } = state.accounts.get(account);
    return amount >= 0 || -amount <= holdingOnChain(state, address, token);
  });

/** Returns the events that follow from undoing an executed call. */
function undoEvents(state: State, { moves }: CallEffect, rules: RuleSet): DomainEvent[] {
  const unwinding = new Unwinding(state, rules);
  unwinding.takeBack(moves);
  return unwinding.events();
}

/** Pays for a call in a block: uses its nonce and deducts its gas. */
function payForCall(
  chain: Chain,
  transaction: Transaction,
  { from, nonce }: CallContent,
  gas: number,
  gasPrice: number,
): void {
  const wallet = walletIn(chain, from);
  const exception = exceptionOf(transaction);
  exception.gasUsed = gas;
  exception.gasPrice = gasPrice;
  wallet.native -= BigInt(gas) * BigInt(gasPrice);
  wallet.mined = nonce + 1;
  wallet.pending.delete(nonce);
}

/** Called when a reorganization removes a call from its block; refunds gas and native currency and frees its nonce. */
export function undoCall(chain: Chain, transaction: Transaction, content: CallContent): void {
  const { from, to, nonce, value } = content;
  const wallet = walletIn(chain, from);
  const { gasUsed, gasPrice } = exceptionOf(transaction);
  wallet.native += BigInt(gasUsed) * BigInt(gasPrice);
  if (transaction.status === "MINED") moveNative(chain, to, from, BigInt(value));
  wallet.mined = Math.min(wallet.mined, nonce);
  wallet.pending.set(nonce, transaction.number);
}

/** Mixes a call into the chain's digest. */
function mixCall(chain: Chain, content: CallContent, gas: number, gasPrice: number): void {
  const { from, to, nonce, value, input } = content;
  for (const text of [from, to, value, input]) chain.digest.mixText(text);
  for (const amount of [nonce, gas, gasPrice]) chain.digest.mixWide(amount);
}

function moveNative(chain: Chain, from: Address, to: Address, wei: bigint): void {
  if (wei === 0n) return;
  walletIn(chain, from).native -= wei;
  walletIn(chain, to).native += wei;
}

function callExecuted(state: State, event: EventOf<"callExecuted">): void {
  const { building, transaction, content } = calledIn(state.chain, event.transaction);
  const exception = exceptionOf(transaction);
  transaction.status = "MINED";
  const { effect } = event;
  exception.effect = effect;
  if (event.isRepeated) settleMoves(state, transaction, 1);
  else {
    addMoves(state, effect.moves, 1);
    if (effect.supply !== null) {
      const market = state.markets.get(effect.supply.market);
      changeSupply(market.onChain, effect.supply);
      changeSupply(market.supply, effect.supply);
    }
  }
  payForCall(state.chain, transaction, content, event.gas, event.gasPrice);
  moveNative(state.chain, content.from, content.to, BigInt(content.value));
  changePermissions(state, state.chain, transaction);
  mixCall(state.chain, content, event.gas, event.gasPrice);
  addToBlock(state.chain, building, transaction, logsOfCall(content.call, effect), event.gas);
}

/** Reverts a call: it costs gas and has no effect; an effect already in the ledger is undone. */
function callReverted(state: State, event: EventOf<"callReverted">, at: Millis): void {
  const { building, transaction, content } = calledIn(state.chain, event.transaction);
  const exception = exceptionOf(transaction);
  if (exception.effect !== null) undoInLedger(state, transaction);
  exception.effect = null;
  exception.reason = event.reason;
  exception.endedAt = at;
  transaction.status = "REVERTED";
  payForCall(state.chain, transaction, content, event.gas, event.gasPrice);
  mixCall(state.chain, content, event.gas, event.gasPrice);
  addToBlock(state.chain, building, transaction, 0, event.gas);
}

/** Undoes a call that a reorganization left without funds; the next block executes it again. */
function takeCallBack(state: State, event: EventOf<"callTakenBack">): void {
  const transaction = state.chain.transactions.get(event.transaction);
  undoInLedger(state, transaction);
  exceptionOf(transaction).effect = null;
}

function calledIn(chain: Chain, number: number) {
  const { building, transaction } = beginExecution(chain, number);
  const { content } = transaction;
  if (content?.kind !== "call") throw new Error(`transaction ${number} is not a call`);
  return { building, transaction, content };
}

/** Adds a wallet's transaction, which may replace another one. */
function addCall(
  state: State,
  { transaction: number, content, replaces }: EventOf<"transactionSent">,
  at: Millis,
): void {
  const { chain } = state;
  addContent(state, number, content);
  chain.pendingCalls += 1;
  if (content.hash !== null) chain.signed.set(content.hash, number);
  walletIn(chain, content.from).pending.set(content.nonce, number);
  if (replaces === 0) return;
  endUnmined(chain, chain.transactions.get(replaces), "REPLACED", at);
}

// Commands with which a test controls wallets, as on a development node.

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

export const callDeciders = { sendTransaction, setNativeBalance, setNonce, dropTransaction };

export const callAppliers = {
  transactionSent: addCall,
  callExecuted,
  callReverted,
  callTakenBack: takeCallBack,
  nativeBalanceSet: writeNativeBalance,
  nonceSet: writeNonce,
  transactionDropped: writeDropped,
};
