import { createECDH } from "node:crypto";
import { sha256 } from "@noble/hashes/sha2";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";

/** Order n of the group of secp256k1 (SEC 2, section 2.4.1); private keys are from 1 to n - 1. */
const GROUP_ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
const ZERO = "0".repeat(64);

/** Returns 32 bytes in lower-case hex. The key is public: never use it for value on a real chain. */
export function devPrivateKey(seed: string, index: number): `0x${string}` {
  return firstKey((attempt) => `clobsim/dev-account/${index}/${attempt}/${seed}`);
}

/** Returns the private key of a named account of scenarios, the same for every seed. */
export function namedPrivateKey(name: string): `0x${string}` {
  return firstKey((attempt) => `clobsim/wallet/${attempt}/${name}`);
}

function firstKey(text: (attempt: number) => string): `0x${string}` {
  for (let attempt = 0; ; attempt += 1) {
    const key = bytesToHex(sha256(text(attempt)));
    if (isPrivateKey(key)) return `0x${key}`;
  }
}

/** Whether 64 lower-case hex digits are a private key of secp256k1. */
export const isPrivateKey = (hex: string): boolean => hex > ZERO && hex < GROUP_ORDER;

/** Returns the last 20 bytes of the Keccak-256 of the public key, in lower-case hex. @throws Error if the key is invalid. */
export function devAddress(privateKey: `0x${string}`): `0x${string}` {
  const pair = createECDH("secp256k1");
  pair.setPrivateKey(hexToBytes(privateKey.slice(2)));
  const point = pair.getPublicKey().subarray(1);
  return `0x${bytesToHex(keccak_256(point).subarray(12))}`;
}

/** Returns the address of a trader of a world: a hash, so that its key is unknown. */
export function traderAddress(seed: string, index: number): `0x${string}` {
  return `0x${bytesToHex(sha256(`clobsim/trader/${index}/${seed}`).subarray(12))}`;
}
