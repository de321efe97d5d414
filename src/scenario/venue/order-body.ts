import { toIso } from "../../core/time.ts";
import { type Millis, millis } from "../../core/units.ts";
import type { Expiry, OrderWords } from "../language/scenario.ts";

const PLAIN_NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** The body of POST /clob/order that the words of an order line make, right or wrong. */
export function orderBodyOf(words: OrderWords, tokenId: string, now: Millis): Record<string, unknown> {
  const decimal = (text: string): number | string => (PLAIN_NUMBER.test(text) ? Number(text) : text);
  return {
    tokenId,
    side: words.side,
    price: decimal(words.price),
    size: decimal(words.size),
    orderType: words.type,
    ...(words.expiry === null ? {} : { expiration: expirationText(words.expiry, now) }),
  };
}

/** The moment an order placed now expires. */
export const expirationOf = (
  expiry: { readonly after: number } | { readonly at: Millis },
  now: Millis,
): Millis => ("after" in expiry ? millis(now + expiry.after) : expiry.at);

const expirationText = (expiry: Expiry, now: Millis): string =>
  "text" in expiry ? expiry.text : toIso(expirationOf(expiry, now));
