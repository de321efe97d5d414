import { keccak256Hex, sha256Hex } from "../hash.ts";
import type { Address, Outcome } from "../terms.ts";

/**
 * Contract addresses on the settlement chain: the last 20 bytes of the Keccak-256 of their names. They do not depend on
 * the seed, so that a client's configuration stays valid with another seed.
 */
export const CONTRACTS = {
  /** ERC-20 token with 6 decimals, the currency of all payments. */
  collateral: "0xaa4da43dba6b6fddb724bb5779199fae5683de91",
  /** ERC-1155 tokens of all outcomes. */
  conditionalTokens: "0x9b9ffc1efc7805e46ab6daab97c650e080751017",
  /** Settles matched trades. */
  exchange: "0x71e8d610ad6c5565deb7dac163bed078e6a7aae8",
} as const satisfies Record<string, Address>;

/** Reports the winning outcome; not a contract, and no private key exists. */
export const ORACLE: Address = "0x18bd3b0be392d94d7916f8b3e352cd10eaf6b45a";
/** Sender of settlements and deposits; no private key exists. */
export const OPERATOR: Address = "0xf8b7571bced06ae2d95a4ae2eda18b400803bb5e";
export const ZERO_ADDRESS: Address = "0x0000000000000000000000000000000000000000";

/** Units of the ERC-1155 tokens in one size unit: a share has six decimals on the chain, as the collateral has. */
export const TOKEN_UNITS = 10_000;

/** 32 zero bytes. */
export const ZERO_WORD = `0x${"0".repeat(64)}` as const;

/** Parent collection of every position: none. */
export const NO_PARENT = ZERO_WORD;

/** Allowance that spending does not reduce. */
export const UNLIMITED = (1n << 256n) - 1n;

/** Prime of the field of alt_bn128 (EIP-196); 3 modulo 4. */
const P =
  21_888_242_871_839_275_222_246_405_745_257_275_088_696_311_157_297_823_662_689_037_894_645_226_208_583n;
const CURVE_B = 3n;
const TOP_BIT = 1n << 255n;
const PARITY_BIT = 1n << 254n;
const SLOTS = 2;
/** Index set of each token: one bit per outcome. */
export const INDEX_SETS: Readonly<Record<Outcome, number>> = { YES: 1, NO: 2 };

/** Returns the question id of a market: 32 bytes, a function of (seed, market number). */
export const questionIdOf = (seed: string, market: number): string =>
  `0x${sha256Hex(`clobsim question\n${market}\n${seed}`)}`;

export const conditionIdOf = (seed: string, market: number): string =>
  conditionId(ORACLE, questionIdOf(seed, market), SLOTS);

/** Cache, because token ids are computed again whenever a journal is replayed or a state is read. */
const tokenIdCache = new Map<string, string>();
const MAX_CACHED = 4_096;

/** Returns the id of an outcome's token, a 256-bit number in decimal. */
export function tokenIdOf(condition: string, outcome: Outcome): string {
  const key = condition + outcome;
  let id = tokenIdCache.get(key);
  if (id === undefined) {
    id = positionId(CONTRACTS.collateral, collectionId(condition, INDEX_SETS[outcome])).toString();
    if (tokenIdCache.size < MAX_CACHED) tokenIdCache.set(key, id);
  }
  return id;
}

// Formulas of Gnosis' Conditional Tokens Framework, contract CTHelpers.

/** keccak256(oracle . questionId . outcomeSlotCount). */
export const conditionId = (oracle: string, question: string, slots: number): string =>
  `0x${keccak256Hex(oracle.slice(2) + question.slice(2) + numberWord(slots))}`;

/** keccak256(collateral . collectionId), as a number. */
export const positionId = (collateral: string, collection: string): bigint =>
  BigInt(`0x${keccak256Hex(collateral.slice(2) + collection.slice(2))}`);

/**
 * Returns the id of a set of outcomes of a condition without a parent collection: the first compressed point of alt_bn128
 * after a hash of condition and index set; the top bit of the hash is the parity of y. The value of y is not needed, only
 * that it exists.
 */
export function collectionId(condition: string, indexSet: number): string {
  const hash = BigInt(`0x${keccak256Hex(condition.slice(2) + numberWord(indexSet))}`);
  let x = hash % P;
  do x = (x + 1n) % P;
  while (!isSquare((((x * x) % P) * x + CURVE_B) % P));
  return `0x${numberWord(hash >= TOP_BIT ? x | PARITY_BIT : x)}`;
}

/** Most zeros after which the lowest 32 bits of a number still tell three bits of its odd part. */
const MAX_ZEROS = 29;

/** Whether a number has a square root modulo P: the Jacobi symbol (Cohen, algorithm 1.4.10), 1 or 0. */
function isSquare(value: bigint): boolean {
  let [a, n, lowN] = [value, P, Number(P & 7n)];
  let isPositive = true;
  while (a !== 0n) {
    const word = Number(BigInt.asIntN(32, a));
    const marked = word | (1 << MAX_ZEROS);
    const zeros = 31 - Math.clz32(marked & -marked);
    const low = (word >>> zeros) & 7;
    if ((zeros & 1) === 1 && (lowN === 3 || lowN === 5)) isPositive = !isPositive;
    a >>= BigInt(zeros);
    if ((low & 1) === 0) continue;
    if ((low & lowN & 3) === 3) isPositive = !isPositive;
    [a, n, lowN] = [n % a, a, low];
  }
  return isPositive;
}

const ZEROS = "0".repeat(64);

/** Encodes a number as 32 bytes, in 64 hex digits. */
export function numberWord(value: number | bigint): string {
  const digits = value.toString(16);
  return ZEROS.slice(digits.length) + digits;
}
