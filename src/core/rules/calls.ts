import type { Account } from "../account.ts";
import { type Building, type Chain, emptyWallet, recordOverwritten } from "../chain/chain.ts";
import { USDC } from "../chain/settlement.ts";
import {
  CallContent,
  type CallEffect,
  callGas,
  type HoldReason,
  intrinsicGas,
  logCountOf,
  type Move,
  type Transaction,
  type TransactionException,
} from "../chain/transaction.ts";
import type { DomainEvent } from "../events.ts";
import { marketOfToken, tokenOf } from "../market.ts";
import { accepted, refused, type TransactionRefusal } from "../refusals.ts";
import { findAccount, type State } from "../state.ts";
import type { Address } from "../terms.ts";
import { type Millis, size } from "../units.ts";
import {
  type CallResult,
  changePermissions,
  ensureWallet,
  holdingOnChain,
  resultOfCall,
  type Transfer,
} from "./contract-calls.ts";
import { addMoves, backingOf, changeSupply, grantMintEvents, issuanceLeft } from "./ledger.ts";
import type { Appliers, Deciders, RuleSet } from "./rule-set.ts";
import {
  addContent,
  addToBlock,
  beginExecution,
  endUnmined,
  ensureException,
  scheduleBlock,
  settleMoves,
  undoInLedger,
} from "./transactions.ts";
import { Unwinding } from "./unwind.ts";

/** Minimum fees of a replacement transaction, both, in percent of those of the first. */
const REPLACEMENT_PERCENT = 110;

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
  const replaced = chain.transactions.find(pending.get(nonce) ?? 0)?.content;
  if (replaced?.kind === "call") {
    for (const [fee, offered, before] of [
      ["max fee", maxFeePerGas, replaced.maxFeePerGas],
      ["max priority fee", maxPriorityFeePerGas, replaced.maxPriorityFeePerGas],
    ] as const) {
      const needed = Math.ceil((before / 100) * REPLACEMENT_PERCENT);
      if (offered < needed) return { code: "REPLACEMENT_UNDERPRICED", fee, offered, needed };
    }
  }
  const needed = BigInt(gas) * BigInt(maxFeePerGas) + BigInt(value);
  return needed > native
    ? { code: "INSUFFICIENT_GAS_MONEY", needed: String(needed), available: String(native) }
    : null;
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
  const result: CallResult =
    gas > content.gas
      ? { ok: false, reason: "out of gas" }
      : resultOfCall(state, { from: content.from, value: BigInt(content.value) }, content.call);
  if (result.ok) {
    const repeated = before !== null && isCovered(state, before) ? { events: [], effect: before } : null;
    const done = before === null ? prepareEffect(state, result, rules) : repeated;
    if (done !== null) {
      const { events, effect } = done;
      const isRepeated = before !== null;
      return [...events, { kind: "callExecuted", transaction, gas, gasPrice, effect, isRepeated }];
    }
  }
  return [
    ...(before === null ? [] : new Unwinding(state, rules).undoMoves(before.moves).events()),
    {
      kind: "callReverted",
      transaction,
      gas: Math.min(gas, content.gas),
      gasPrice,
      reason: result.ok ? "clobsim: the exchange has issued all that it can" : result.reason,
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
function prepareEffect(state: State, result: CallResult & { ok: true }, rules: RuleSet) {
  const { accountByAddress, accounts } = state;
  const addresses = new Set(result.moves.map(({ address }) => address));
  const unknown = [...addresses].filter((address) => !accountByAddress.has(address));
  const opened = unknown.map(
    (address, index) => ({ kind: "accountOpened", account: accounts.next + index, address }) as const,
  );
  const moves = result.moves.map(({ address, token, amount }): Move => {
    const account = accountByAddress.get(address) ?? accounts.next + unknown.indexOf(address);
    return { account, token, amount };
  });
  const grants = grantsFor(state, result.moves, rules);
  if (grants === null) return null;
  const unwinding = new Unwinding(state, rules);
  for (const { account, market, size } of grants) {
    unwinding.addMoves([
      { account, token: tokenOf(market, "YES"), amount: size },
      { account, token: tokenOf(market, "NO"), amount: size },
    ]);
  }
  unwinding.addMoves(moves);
  return { events: [...opened, ...grants, ...unwinding.events()], effect: { moves, supply: result.supply } };
}

/** Returns the grants minted because shares leave or reach a wallet; null if too little USDC may be issued. */
function grantsFor(state: State, moves: readonly Transfer[], { receivingMintsGrant }: RuleSet) {
  const touched = new Map<Account, Set<number>>();
  for (const { address, token, amount } of moves) {
    const account = findAccount(state, address);
    if (token === USDC || account === undefined || (amount > 0 && !receivingMintsGrant)) continue;
    const markets = touched.get(account) ?? new Set();
    touched.set(account, markets.add(marketOfToken(token)));
  }
  const minted: DomainEvent<"grantMinted">[] = [];
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

/** Adds a call to its block: it uses its nonce and pays for its gas. */
function addCallToBlock(
  chain: Chain,
  { building, transaction, content }: ReturnType<typeof beginCall>,
  { gas, gasPrice }: { readonly gas: number; readonly gasPrice: number },
  logs: number,
): void {
  const { from, to, nonce, value, input } = content;
  const wallet = ensureWallet(chain, from);
  const exception = ensureException(transaction);
  exception.gasUsed = gas;
  exception.gasPrice = gasPrice;
  wallet.native -= BigInt(gas) * BigInt(gasPrice);
  wallet.mined = nonce + 1;
  wallet.pending.delete(nonce);
  for (const text of [from, to, value, input]) chain.digest.mixText(text);
  for (const amount of [nonce, gas, gasPrice]) chain.digest.mixWide(amount);
  addToBlock(chain, building, transaction, logs, gas);
}

/** Called when a reorganization removes a call from its block; refunds gas and native currency and frees its nonce. */
export function undoCall(chain: Chain, transaction: Transaction, content: CallContent): void {
  const { from, to, nonce, value } = content;
  const wallet = ensureWallet(chain, from);
  const exception = ensureException(transaction);
  wallet.native += BigInt(exception.gasUsed) * BigInt(exception.gasPrice);
  if (transaction.status === "MINED") moveNative(chain, to, from, BigInt(value));
  wallet.mined = Math.min(wallet.mined, nonce);
  wallet.pending.set(nonce, transaction.number);
  exception.reason = null;
  exception.endedAt = null;
  chain.pendingCalls += 1;
}

function moveNative(chain: Chain, from: Address, to: Address, wei: bigint): void {
  if (wei === 0n) return;
  ensureWallet(chain, from).native -= wei;
  ensureWallet(chain, to).native += wei;
}

/** Marks a call as processed by the block being assembled; returns both, with its content. */
function beginCall(chain: Chain, number: number) {
  const { building, transaction } = beginExecution(chain, number);
  return { building, transaction, content: contentOf(transaction) };
}

function contentOf({ number, content }: Transaction): CallContent {
  if (content?.kind !== "call") throw new Error(`transaction ${number} is not a call`);
  return content;
}

/** Ends a pending call that will not be mined. It can be sent again, because its hash is no longer known. */
function endCall(chain: Chain, transaction: Transaction, status: "REPLACED" | "DROPPED", at: Millis): void {
  const { from, nonce, hash } = contentOf(transaction);
  endUnmined(chain, transaction, status, at);
  const { pending } = ensureWallet(chain, from);
  if (pending.get(nonce) === transaction.number) pending.delete(nonce);
  if (hash !== null) chain.signed.delete(hash);
}

/** Undoes the effect of a call in the ledger, if it has any; returns its exception. */
function undoEffect(state: State, transaction: Transaction): TransactionException {
  const exception = ensureException(transaction);
  if (exception.effect !== null) undoInLedger(state, transaction);
  exception.effect = null;
  return exception;
}

/** Returns the events that drop transactions, including the undoing of those still in the ledger after a reorganization. */
function dropEvents(state: State, numbers: readonly number[], rules: RuleSet) {
  const unwinding = new Unwinding(state, rules);
  for (const number of numbers) unwinding.drop(state.chain.transactions.get(number));
  return unwinding.events();
}

export const callDeciders = {
  /** Accepts a wallet's transaction if a node would. It is pending and has no effect until a block executes it. */
  sendTransaction(state, command, rules, at) {
    const { chain } = state;
    const nonce = command.nonce ?? nextNonce(chain, command.from);
    const content = CallContent.copy({ ...command, nonce, kind: "call", at });
    const refusal = refusalOf(chain, content);
    if (refusal !== null) return refused(refusal);
    const replaces = chain.wallets.get(content.from)?.pending.get(nonce) ?? 0;
    const { transactions } = chain;
    const sent = { kind: "transactionSent", transaction: transactions.next, content, replaces } as const;
    const replaced = transactions.find(replaces);
    if (!rules.takenNonceUndoesCall || !replaced?.exception?.effect) return accepted([sent]);
    return accepted([sent, ...new Unwinding(state, rules).undo(replaced).events()]);
  },
  setNativeBalance({ chain }, { address, wei }, rules) {
    const { mined, pending } = chain.wallets.get(address) ?? emptyWallet(address);
    const next = chain.transactions.find(pending.get(mined) ?? 0);
    const schedulesBlock = rules.gasMoneySchedulesBlock && next?.exception?.hold === "NO_GAS_MONEY";
    return accepted([{ kind: "nativeBalanceSet", address, wei, ...(schedulesBlock && { schedulesBlock }) }]);
  },
  /** Sets the nonce of an address's next transaction; drops its pending transactions with a lower nonce. */
  setNonce(state, { address, nonce }, rules) {
    const { pending } = state.chain.wallets.get(address) ?? emptyWallet(address);
    const below = [...pending].filter(([own]) => own < nonce).map(([, number]) => number);
    return accepted([...dropEvents(state, below, rules), { kind: "nonceSet", address, nonce }]);
  },
  /** Removes a wallet's pending transaction from the pool; succeeds without a change if there is none. */
  dropTransaction(state, { transaction: number }, rules) {
    const transaction = state.chain.transactions.find(number);
    const isDroppable = transaction?.status === "PENDING" && transaction.content?.kind === "call";
    return accepted(isDroppable ? dropEvents(state, [number], rules) : []);
  },
} satisfies Partial<Deciders>;

export const callAppliers = {
  transactionSent(state, { transaction: number, content, replaces }, at) {
    const { chain } = state;
    addContent(state, number, content);
    chain.pendingCalls += 1;
    if (content.hash !== null) chain.signed.set(content.hash, number);
    ensureWallet(chain, content.from).pending.set(content.nonce, number);
    if (replaces !== 0) endCall(chain, chain.transactions.get(replaces), "REPLACED", at);
  },
  callExecuted(state, event) {
    const execution = beginCall(state.chain, event.transaction);
    const { transaction, content } = execution;
    const { effect } = event;
    transaction.status = "MINED";
    ensureException(transaction).effect = effect;
    if (event.isRepeated) settleMoves(state, transaction, 1);
    else {
      addMoves(state, effect.moves, 1);
      if (effect.supply !== null) {
        const market = state.markets.get(effect.supply.market);
        changeSupply(market.onChain, effect.supply);
        changeSupply(market.supply, effect.supply);
      }
    }
    moveNative(state.chain, content.from, content.to, BigInt(content.value));
    changePermissions(state, state.chain, transaction);
    addCallToBlock(state.chain, execution, event, logCountOf(transaction));
  },
  callReverted(state, event, at) {
    const execution = beginCall(state.chain, event.transaction);
    const exception = undoEffect(state, execution.transaction);
    exception.reason = event.reason;
    exception.endedAt = at;
    execution.transaction.status = "REVERTED";
    addCallToBlock(state.chain, execution, event, 0);
  },
  callTakenBack(state, event) {
    undoEffect(state, state.chain.transactions.get(event.transaction));
  },
  nativeBalanceSet({ chain, config }, { address, wei, schedulesBlock = false }, at) {
    const wallet = ensureWallet(chain, address);
    recordOverwritten(chain, wallet);
    wallet.native = BigInt(wei);
    if (schedulesBlock) scheduleBlock(chain, config, at);
  },
  /** Writes the nonce; schedules a block if a pending transaction waited for it. */
  nonceSet({ chain, config }, { address, nonce }, at) {
    const wallet = ensureWallet(chain, address);
    recordOverwritten(chain, wallet);
    wallet.mined = nonce;
    if (wallet.pending.has(nonce)) scheduleBlock(chain, config, at);
  },
  transactionDropped(state, { transaction: number }, at) {
    const { chain } = state;
    const transaction = chain.transactions.get(number);
    undoEffect(state, transaction);
    endCall(chain, transaction, "DROPPED", at);
  },
} satisfies Partial<Appliers>;
