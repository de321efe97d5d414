import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import type { Address } from "../core/terms.ts";

/** Cache of checksummed addresses by lower-case form, because a checksum takes longer than the rest of a small reply. */
export type Checksums = Map<Address, `0x${string}`>;

const MAX_CHECKSUMS = 10_000;

/** Returns the checksummed form of an address, from the cache if one is given. */
export function checksumIn(known: Checksums | undefined, address: Address): `0x${string}` {
  if (known === undefined) return checksummed(address);
  let text = known.get(address);
  if (text === undefined) {
    text = checksummed(address);
    if (known.size >= MAX_CHECKSUMS) known.clear();
    known.set(address, text);
  }
  return text;
}

/** Returns the checksummed, mixed-case form of an address (EIP-55). */
export function checksummed(address: Address): `0x${string}` {
  const digits = address.slice(2);
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)));
  let mixed = "";
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charAt(index);
    mixed += Number.parseInt(hash.charAt(index), 16) >= 8 ? digit.toUpperCase() : digit;
  }
  return `0x${mixed}`;
}
