import { createECDH } from "node:crypto";
import { sha256 } from "@noble/hashes/sha2";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";

/** Order of the group of secp256k1 (SEC 2, section 2.4.1); a private key is a number from 1 to one below it. */
const GROUP_ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
const ZERO = "0".repeat(64);

/** 32 bytes in lower-case hex. Anybody can compute it: it must never hold anything of value on a real chain. */
export function devPrivateKey(seed: string, index: number): `0x${string}` {
  return firstKey((attempt) => `clobsim/dev-account/${index}/${attempt}/${seed}`);
}

/** The private key of whoever goes by a name in a scenario, whatever its seed: alice has one wallet everywhere. */
export function namedPrivateKey(name: string): `0x${string}` {
  return firstKey((attempt) => `clobsim/wallet/${attempt}/${name}`);
}

function firstKey(text: (attempt: number) => string): `0x${string}` {
  for (let attempt = 0; ; attempt += 1) {
    const key = bytesToHex(sha256(text(attempt)));
    if (key > ZERO && key < GROUP_ORDER) return `0x${key}`;
  }
}

/** Lower case: the last 20 bytes of the Keccak-256 of the public key. @throws Error when the key is none of secp256k1. */
export function devAddress(privateKey: `0x${string}`): `0x${string}` {
  const pair = createECDH("secp256k1");
  pair.setPrivateKey(hexToBytes(privateKey.slice(2)));
  const point = pair.getPublicKey().subarray(1);
  return `0x${bytesToHex(keccak_256(point).subarray(12))}`;
}

/** The address of a trader of the opening history: a hash, so that nobody holds its key. */
export function traderAddress(seed: string, index: number): `0x${string}` {
  return `0x${bytesToHex(sha256(`clobsim/trader/${index}/${seed}`).subarray(12))}`;
}
