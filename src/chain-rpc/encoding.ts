import { blockTermsOf, type Chain } from "../core/chain/chain.ts";
import { ZERO_ADDRESS } from "../core/chain/contracts.ts";
import type { Address } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";

/** Encodes a number as a JSON-RPC quantity: `0x0`, `0x1f`. */
export const quantity = (value: number | bigint): `0x${string}` => `0x${value.toString(16)}`;

/** Encodes a number as 32 bytes, in 64 hex digits. */
export function numberWord(value: number | bigint): string {
  const digits = value.toString(16);
  return ZEROS.slice(digits.length) + digits;
}

const ZEROS = "0".repeat(64);
const ADDRESS_PADDING = "0".repeat(24);

/** Encodes an address in lower case as 32 bytes, in 64 hex digits. */
export const addressWord = (address: string): string => ADDRESS_PADDING + address.slice(2);

/** Casts a text that begins with `0x` to viem's type. */
export const asHex = (text: string): `0x${string}` => text as `0x${string}`;

/** Default gas limit of a block. No block is ever full. */
const GAS_LIMIT = 30_000_000;

/** Returns gas limit and miner of the block with a serial; by default of the next block. */
export function limitsOf(chain: Chain, serial = chain.blocks.next): { gasLimit: number; miner: Address } {
  const { miner, gasLimit } = blockTermsOf(chain, serial);
  return { miner: miner ?? ZERO_ADDRESS, gasLimit: gasLimit ?? GAS_LIMIT };
}

/** Price of blob gas, wei: the minimum, because there are no blobs. */
export const BLOB_BASE_FEE = "0x1";
/** Default priority fee, wei: 1 gwei. */
export const TIP = 1_000_000_000;

export const secondsOf = (at: Millis): number => Math.floor(at / 1000);

const BLOOM_DIGITS = 512;
const EMPTY_BLOOM = `0x${"0".repeat(BLOOM_DIGITS)}`;
const FULL_BLOOM = `0x${"f".repeat(BLOOM_DIGITS)}`;

/** Returns a bloom filter for a number of logs. It matches everything if there is any log, which a bloom filter may do. */
export const bloomOf = (logs: number): string => (logs === 0 ? EMPTY_BLOOM : FULL_BLOOM);
