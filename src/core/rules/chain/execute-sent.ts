import type { Account } from "../../account.ts";
import { type Building, emptyWallet } from "../../chain/chain.ts";
import { callGas } from "../../chain/gas.ts";
import { USDC } from "../../chain/moves.ts";
import type { CallContent, CallEffect, HoldReason, Move, Transaction } from "../../chain/transaction.ts";
import type { Address } from "../../commands.ts";
import type { AccountOpened, DomainEvent, GrantMinted } from "../../events.ts";
import { marketOfToken, tokenOf } from "../../market.ts";
import { findAccount, type State } from "../../state.ts";
import { size } from "../../units.ts";
import { backingOf, issuanceLeft, mintingGrants } from "../ledger.ts";
import type { RuleSet } from "../rule-set.ts";
import { type CallOutcome, holdingOnChain, outcomeOfCall, type Transfer } from "./execute-call.ts";
import { Unwinding } from "./unwind.ts";

/** Carries out what a wallet has sent, in the order of its nonces, when it pays what the block asks. */
export function executeCall(
  state: State,
  building: Building,
  { number: transaction, oddity }: Transaction,
  content: CallContent,
  rules: RuleSet,
): DomainEvent[] {
  const hold = whatHolds(state, building, content);
  if (hold !== null) {
    return [{ kind: "transactionHeld", transaction, hold, notBefore: building.height + 1, fault: 0 }];
  }
  const gasPrice = Math.min(content.maxFeePerGas, building.baseFee + content.maxPriorityFeePerGas);
  const gas = callGas(content.call, content.input);
  const before = oddity?.effect ?? null;
  const outcome: CallOutcome =
    gas > content.gas
      ? { ok: false, reason: "out of gas" }
      : outcomeOfCall(state, { from: content.from, value: BigInt(content.value) }, content.call);
  if (outcome.ok && before === null) {
    const done = carryOut(state, outcome, rules);
    if (done !== null) {
      const { events, effect } = done;
      return [...events, { kind: "callExecuted", transaction, gas, gasPrice, effect, isRepeated: false }];
    }
  }
  if (outcome.ok && before !== null && isCovered(state, before)) {
    return [{ kind: "callExecuted", transaction, gas, gasPrice, effect: before, isRepeated: true }];
  }
  return [
    ...(before === null ? [] : takingBack(state, before)),
    {
      kind: "callReverted",
      transaction,
      gas: Math.min(gas, content.gas),
      gasPrice,
      reason: outcome.ok ? "clobsim: the exchange has issued all that it can" : outcome.reason,
    },
  ];
}

/** Why a call is not carried out in this block, or null. */
function whatHolds({ chain }: State, { baseFee }: Building, content: CallContent): HoldReason | null {
  const { mined, native } = chain.wallets.get(content.from) ?? emptyWallet();
  if (content.nonce !== mined) return "NONCE_GAP";
  if (content.maxFeePerGas < baseFee) return "UNDERPRICED";
  const most = BigInt(content.gas) * BigInt(content.maxFeePerGas) + BigInt(content.value);
  return native < most ? "NO_GAS_MONEY" : null;
}

/** What comes before a call takes effect, and that effect; null when it needs more than may be issued. */
function carryOut(
  state: State,
  outcome: CallOutcome & { ok: true },
  rules: RuleSet,
): { readonly events: readonly DomainEvent[]; readonly effect: CallEffect } | null {
  const opened = openings(state, outcome.moves);
  const numbers = new Map(opened.map(({ address, account }) => [address, account]));
  const moves = outcome.moves.map(({ address, token, amount }): Move => {
    const account = state.accountByAddress.get(address) ?? numbers.get(address);
    if (account === undefined) throw new Error(`${address} has no account`);
    return { account, token, amount };
  });
  const grants = grantsFor(state, outcome.moves, rules);
  if (grants === null) return null;
  const unwinding = new Unwinding(state);
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

/** The accounts of addresses that something comes to for the first time. */
function openings(state: State, moves: readonly Transfer[]): AccountOpened[] {
  const strangers = new Set<Address>();
  for (const { address } of moves) if (findAccount(state, address) === undefined) strangers.add(address);
  return [...strangers].map((address, index) => ({
    kind: "accountOpened",
    account: state.accounts.next + index,
    address,
  }));
}

/** The grants that are minted because shares leave a wallet or come to it; null when too little may be issued. */
function grantsFor(
  state: State,
  moves: readonly Transfer[],
  { receivingTouches }: RuleSet,
): GrantMinted[] | null {
  const touched = new Map<Account, Set<number>>();
  for (const { address, token, amount } of moves) {
    const account = findAccount(state, address);
    if (token === USDC || account === undefined || (amount > 0 && !receivingTouches)) continue;
    const markets = touched.get(account) ?? new Set();
    touched.set(account, markets.add(marketOfToken(token)));
  }
  const minted: GrantMinted[] = [];
  for (const [account, markets] of touched) {
    const first = state.chain.transactions.next + minted.length;
    minted.push(...mintingGrants({ number: account.number, known: account }, markets, size(0), first));
  }
  return backingOf(minted) > issuanceLeft(state) ? null : minted;
}

/** Whether everybody still has on the chain what a call took when it was first carried out. */
const isCovered = (state: State, { moves }: CallEffect): boolean =>
  moves.every(({ account, token, amount }) => {
    const { address } = state.accounts.get(account);
    return amount >= 0 || -amount <= holdingOnChain(state, address, token);
  });

/** What must go when the ledger takes a call back that it had carried out. */
function takingBack(state: State, { moves }: CallEffect): DomainEvent[] {
  const unwinding = new Unwinding(state);
  unwinding.takeBack(moves);
  return unwinding.events();
}
