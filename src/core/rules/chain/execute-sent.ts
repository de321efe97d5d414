import { type Building, emptyWallet } from "../../chain/chain.ts";
import { callGas } from "../../chain/gas.ts";
import { USDC } from "../../chain/moves.ts";
import type { CallContent, CallEffect, HoldReason, Move, Transaction } from "../../chain/transaction.ts";
import type { Address } from "../../commands.ts";
import type { AccountOpened, DomainEvent, GrantMinted } from "../../events.ts";
import { marketOfToken, tokenOf } from "../../market.ts";
import { findAccount, type State } from "../../state.ts";
import { FULL_PRICE, notional } from "../../units.ts";
import { grantDue, issuanceLeft } from "../ledger.ts";
import { type CallOutcome, holdingOnChain, outcomeOfCall, type Transfer } from "./execute-call.ts";
import { Unwinding } from "./unwind.ts";

/** Carries out what a wallet has sent, in the order of its nonces, when it pays what the block asks. */
export function executeCall(
  state: State,
  building: Building,
  { number: transaction, oddity }: Transaction,
  content: CallContent,
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
    const done = carryOut(state, outcome);
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
): { readonly events: readonly DomainEvent[]; readonly effect: CallEffect } | null {
  const opened = openings(state, outcome.moves);
  const numbers = new Map(opened.map(({ address, account }) => [address, account]));
  const moves = outcome.moves.map(({ address, token, amount }): Move => {
    const account = state.accountByAddress.get(address) ?? numbers.get(address);
    if (account === undefined) throw new Error(`${address} has no account`);
    return { account, token, amount };
  });
  const grants = grantsFor(state, outcome.moves);
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

/** The grants that are minted because their shares leave the wallet; null when too little may be issued. */
function grantsFor(state: State, moves: readonly Transfer[]): GrantMinted[] | null {
  const grants: GrantMinted[] = [];
  let asked = 0;
  for (const { address, token, amount } of moves) {
    const account = findAccount(state, address);
    if (amount > 0 || token === USDC || account === undefined) continue;
    const market = marketOfToken(token);
    const size = grantDue(account, market);
    const isNoted = grants.some((grant) => grant.account === account.number && grant.market === market);
    if (size === 0 || isNoted) continue;
    asked += notional(FULL_PRICE, size);
    const transaction = state.chain.transactions.next + grants.length;
    grants.push({ kind: "grantMinted", account: account.number, market, size, transaction });
  }
  return asked > issuanceLeft(state) ? null : grants;
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
