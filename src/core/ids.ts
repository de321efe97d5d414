import { sha256Hex } from "./hash.ts";

/** Kinds of records with a UUID; each kind has its own counter. */
export type IdKind = "event" | "market" | "order" | "trade";

/** Formats 32 or more hex digits as a UUID of RFC 9562 version 8 (custom). */
export function uuidOf(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const COUNTER_DIGITS = 12;

/**
 * Returns the first four groups of every UUID of one kind, a function of the seed. The last group is the counter, so that
 * the number of an id is found without a table.
 */
export const idPrefix = (seed: string, kind: IdKind): string =>
  uuidOf(sha256Hex(`clobsim id\n${kind}\n${seed}`)).slice(0, -COUNTER_DIGITS);

export const idOf = (prefix: string, n: number): string =>
  prefix + n.toString(16).padStart(COUNTER_DIGITS, "0");

/** Returns the number in a UUID of this kind, in either case; 0 if the text is not such an id. */
export function numberOf(prefix: string, id: string): number {
  if (id.length !== prefix.length + COUNTER_DIGITS) return 0;
  // V8 compiles `startsWith` into a loop over the characters of both, which takes five times as long.
  if (id.indexOf(prefix) !== 0 && id.toLowerCase().indexOf(prefix) !== 0) return 0;
  let number = 0;
  for (let at = prefix.length; at < id.length; at += 1) {
    const digit = hexDigit(id.charCodeAt(at));
    if (digit < 0) return 0;
    number = number * 16 + digit;
  }
  return number;
}

/** Returns the value of a hex digit by its character code; -1 if it is not one. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  // 32 is the bit that makes a letter small.
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** Returns the address of an account without a private key (faucet, fees), a function of (seed, name). */
export const houseAddress = (seed: string, name: string): string =>
  `0x${sha256Hex(`clobsim house\n${name}\n${seed}`).slice(24)}`;
