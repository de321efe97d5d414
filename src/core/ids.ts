import { sha256Hex } from "./hash.ts";

/** The kinds of things that carry a UUID with a counter of their own. */
export type IdKind = "event" | "market" | "order" | "trade";

/** The UUID of 32 or more hex digits as RFC 9562 version 8 (custom) writes it: version and variant in their places. */
export function uuidOf(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const COUNTER_DIGITS = 12;

/**
 * The first four groups of every UUID of one kind (RFC 9562 version 8: custom), a function of the seed; the last
 * group is the counter, so that an id leads to its number without a table.
 */
export function idPrefix(seed: string, kind: IdKind): string {
  return uuidOf(sha256Hex(`clobsim id\n${kind}\n${seed}`)).slice(0, -COUNTER_DIGITS);
}

/** The UUID of number `n` of a kind. */
export const idOf = (prefix: string, n: number): string =>
  prefix + n.toString(16).padStart(COUNTER_DIGITS, "0");

/** The number in a UUID of this kind, in letters of either case, or 0 when the text is no such id. */
export function numberOf(prefix: string, id: string): number {
  if (id.length !== prefix.length + COUNTER_DIGITS) return 0;
  if (!id.startsWith(prefix) && !id.toLowerCase().startsWith(prefix)) return 0;
  let number = 0;
  for (let at = prefix.length; at < id.length; at += 1) {
    const digit = hexDigit(id.charCodeAt(at));
    if (digit < 0) return 0;
    number = number * 16 + digit;
  }
  return number;
}

const [ZERO, NINE, A, F, SMALL] = [48, 57, 97, 102, 32];

/** The value of a character as a digit of hex, by its code; -1 when it is none. */
function hexDigit(code: number): number {
  if (code >= ZERO && code <= NINE) return code - ZERO;
  const letter = code | SMALL;
  return letter >= A && letter <= F ? letter - A + 10 : -1;
}

/** The address of an account that no key opens (the faucet, the collector of fees), a function of (seed, name). */
export const houseAddress = (seed: string, name: string): string =>
  `0x${sha256Hex(`clobsim house\n${name}\n${seed}`).slice(24)}`;
