import { addressText, orderText, SHOWN_DIGITS } from "./format.ts";
import { numberOf } from "./ids.ts";
import { marketOfToken, outcomeOf } from "./market.ts";
import { FAUCET, FEES, type State } from "./state.ts";

export function accountText(state: State, number: number): string {
  if (number === FAUCET) return "the faucet";
  if (number === FEES) return "the fees";
  const account = state.accounts.find(number);
  return account === undefined ? `account ${number}` : addressText(account.address);
}

/** Returns the slug of a market, not abbreviated, because the API and `clobsim inspect --market` take it. */
export const marketText = (state: State, number: number): string =>
  state.markets.find(number)?.slug ?? `market ${number}`;

/** `YES in will-it-rain`. */
const tokenText = (state: State, token: number): string =>
  `${outcomeOf(token)} in ${marketText(state, marketOfToken(token))}`;

/** Returns the same for a token's id, which may be unknown. */
export function tokenIdText(state: State, id: string): string {
  const token = state.tokenById.get(id);
  return token === undefined ? `unknown token ${id.slice(0, SHOWN_DIGITS)}` : tokenText(state, token);
}

/** Describes an order by its number, which its id contains. */
export function orderIdText(state: State, id: string): string {
  const number = numberOf(state.idPrefixes.order, id);
  return number === 0 ? `unknown order ${id.slice(0, SHOWN_DIGITS)}` : orderText(number);
}
