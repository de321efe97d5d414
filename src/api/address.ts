import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import type { Address } from "../core/terms.ts";

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** The lower-case form by which the core knows an address, or null when the text is no address. */
export const readAddress = (text: string): Address | null => (ADDRESS.test(text) ? text.toLowerCase() : null);

/** The mixed-case form of an address that carries its checksum (EIP-55). */
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
