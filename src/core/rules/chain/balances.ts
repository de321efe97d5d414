import type { Balance } from "../../account.ts";
import { USDC } from "../../chain/moves.ts";
import type { Move } from "../../chain/transaction.ts";
import { marketOfToken, outcomeOf } from "../../market.ts";
import type { State } from "../../state.ts";
import { holdingIn, sharesIn } from "../ledger.ts";
import type { Sign } from "./pending.ts";

/** An account's balance of USDC or of a token, made on first use; only `apply` may call it. */
export function balanceIn(state: State, account: number, token: number): Balance<number> {
  const record = state.accounts.get(account);
  if (token === USDC) return record.collateral;
  return sharesIn(holdingIn(record, marketOfToken(token)), outcomeOf(token));
}

/** Writes moves into the ledger, or takes them out. What they leave is judged when all of a command is written. */
export function addMoves(state: State, moves: readonly Move[], sign: Sign): void {
  for (const { account, token, amount } of moves) balanceIn(state, account, token).balance += sign * amount;
}

/** Notes that moves in the ledger are on their way to the chain, or have come there. */
export function addPendingMoves(state: State, moves: readonly Move[], sign: Sign): void {
  for (const { account, token, amount } of moves) {
    const balance = balanceIn(state, account, token);
    if (amount > 0) balance.incoming += sign * amount;
    else balance.outgoing -= sign * amount;
  }
}
