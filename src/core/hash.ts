import { sha256 } from "@noble/hashes/sha2";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";

/** SHA-256 of the UTF-8 text, 64 lower-case hex digits. */
export const sha256Hex = (text: string): string => bytesToHex(sha256(text));

/** Keccak-256 of bytes given in hex, without `0x`: 64 lower-case hex digits. */
export const keccak256Hex = (hex: string): string => bytesToHex(keccak_256(hexToBytes(hex)));

/** SHA-256 over lines of text, each followed by a line feed, without ever joining them. */
export function sha256OfLines(lines: Iterable<string>): string {
  const hash = sha256.create();
  for (const line of lines) hash.update(`${line}\n`);
  return bytesToHex(hash.digest());
}
