import { blockTermsOf, type Chain } from "../core/chain/chain.ts";
import { ZERO_ADDRESS } from "../core/chain/contracts.ts";
import type { Address } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";

/** A number as JSON-RPC writes quantities: `0x0`, `0x1f`. */
export const quantity = (value: number | bigint): `0x${string}` => `0x${value.toString(16)}`;

/** The 32 bytes of a number as 64 hex digits. */
export function numberWord(value: number | bigint): string {
  const digits = value.toString(16);
  return ZEROS.slice(digits.length) + digits;
}

const ZEROS = "0".repeat(64);
const PADDING = "0".repeat(24);

/** An address in lower case as 32 bytes. */
export const addressWord = (address: string): string => PADDING + address.slice(2);

/** Hex digits with the type that viem asks for; the text must begin with `0x`. */
export const asHex = (text: string): `0x${string}` => text as `0x${string}`;

/** What a block may hold as long as nothing asks for more: no block is ever full. */
const GAS_LIMIT = 30_000_000;

/** How much gas the block of a serial may have, and who is said to have mined it; of the next one unless it is told. */
export function limitsOf(chain: Chain, serial = chain.blocks.next): { gasLimit: number; miner: Address } {
  const { miner, gasLimit } = blockTermsOf(chain, serial);
  return { miner: miner ?? ZERO_ADDRESS, gasLimit: gasLimit ?? GAS_LIMIT };
}

/** What a unit of gas of blobs costs, wei: the least there is, for there are none. */
export const BLOB_BASE_FEE = "0x1";
/** What miners are offered above the base fee unless somebody says otherwise: 1 gwei. */
export const TIP = 1_000_000_000;

export const secondsOf = (at: Millis): number => Math.floor(at / 1000);

const DIGITS = 512;
const NOTHING = `0x${"0".repeat(DIGITS)}`;
const ANYTHING = `0x${"f".repeat(DIGITS)}`;

/** The bloom filter of so many logs. It may say yes to what is not there: with any log, this one says yes to everything. */
export const bloomOf = (logs: number): string => (logs === 0 ? NOTHING : ANYTHING);
