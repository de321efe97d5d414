import { MONEY_PLACES, PRICE_PLACES, SIZE_PLACES, textOf } from "../api/decimals.ts";
import { numberOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf } from "../core/market.ts";
import { FAUCET, FEES, type State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";

export const priceText = (units: number): string => textOf(units, PRICE_PLACES);
export const sizeText = (units: number): string => textOf(units, SIZE_PLACES);
export const moneyText = (units: number): string => `${textOf(units, MONEY_PLACES)} USDC`;

const SHOWN_DIGITS = 10;

/** The beginning of an address, which is enough to name it. */
export const addressText = (address: Address): string => address.slice(0, SHOWN_DIGITS);

/** Who an account is. */
export function accountText(state: State, number: number): string {
  if (number === FAUCET) return "the faucet";
  if (number === FEES) return "the fees";
  const account = state.accounts.find(number);
  return account === undefined ? `account ${number}` : addressText(account.address);
}

/** The slug of a market, whole: it is what the API and `clobsim inspect --market` take. */
export const marketText = (state: State, number: number): string =>
  state.markets.find(number)?.slug ?? `market ${number}`;

/** `YES in will-it-rain`. */
export const tokenText = (state: State, token: number): string =>
  `${outcomeOf(token)} in ${marketText(state, marketOfToken(token))}`;

/** The same of a token's id, known or not. */
export function tokenIdText(state: State, id: string): string {
  const token = state.tokenById.get(id);
  return token === undefined ? `unknown token ${id.slice(0, SHOWN_DIGITS)}` : tokenText(state, token);
}

/** An order by its number, which the end of its id is. */
export function orderIdText(state: State, id: string): string {
  const number = numberOf(state.idPrefixes.order, id);
  return number === 0 ? `unknown order ${id.slice(0, SHOWN_DIGITS)}` : orderText(number);
}

export const orderText = (number: number): string => `order ${number}`;

/** `1 block`, `2 blocks`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
