import { outcomeOf } from "../../core/market.ts";
import { priceText, sizeText } from "../run/words.ts";
import type { WatchedOrder } from "./watched-book.ts";

/** A rule that does not hold, with what was expected and what was found. */
export interface BrokenRule {
  readonly name: string;
  readonly text: string;
}

/** What an account is called. */
export type NameOf = (account: number) => string;

/** `order 812 of alice (BUY 30 YES @ 0.55)`. */
export function orderText(order: WatchedOrder, nameOf: NameOf): string {
  const { number, account, side, size, token, price } = order;
  return `order ${number} of ${nameOf(account)} (${side} ${sizeText(size)} ${outcomeOf(token)} @ ${priceText(price)})`;
}
