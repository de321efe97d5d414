import { sha256 } from "@noble/hashes/sha2";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";

const EMPTY = sha256.create();
/** Reused hasher, reset before each hash, because creating one costs as much as hashing a line. */
const HASHER = sha256.create();

/** Returns the SHA-256 of the UTF-8 text, 64 lower-case hex digits. */
export const sha256Hex = (text: string): string => hexOf(EMPTY._cloneInto(HASHER).update(text).digest());

const DIGITS = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/** Encodes bytes in one call, because V8 has to flatten a string concatenated from parts when it is read. */
function hexOf(bytes: Uint8Array): string {
  const codes: number[] = [];
  for (const byte of bytes) codes.push(DIGITS[byte >> 4] as number, DIGITS[byte & 15] as number);
  return String.fromCharCode(...codes);
}

/** Returns the Keccak-256 of bytes given in hex without `0x`, 64 lower-case hex digits. */
export const keccak256Hex = (hex: string): string => bytesToHex(keccak_256(hexToBytes(hex)));

const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Formats 32 bits as 8 lower-case hex digits. */
export const hex8 = (value: number): string =>
  `${HEX_OF_BYTE[value >>> 24]}${HEX_OF_BYTE[(value >>> 16) & 255]}${HEX_OF_BYTE[(value >>> 8) & 255]}${HEX_OF_BYTE[value & 255]}`;

/** Words mixed in by `spread`. */
const ROUNDS = Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7);
const TWO_32 = 4_294_967_296;

/** State of a digest: four signed 32-bit words. */
export type DigestWords = readonly [a: number, b: number, c: number, d: number];

/**
 * 128-bit hash of a sequence of integers, after Austin Appleby's MurmurHash3 (x86, 128 bits), a word at a time. It is not
 * a cryptographic hash: collisions occur only if constructed. Published hashes pass it through SHA-256.
 */
export class Digest {
  readonly #words: Int32Array;

  constructor(words: readonly number[]) {
    this.#words = new Int32Array(words);
  }

  /** Continues from the first 32 hex digits of a text. */
  static of(text: string): Digest {
    return new Digest([0, 8, 16, 24].map((at) => Number.parseInt(text.slice(at, at + 8), 16)));
  }

  get words(): DigestWords {
    const words = this.#words;
    return [words[0] as number, words[1] as number, words[2] as number, words[3] as number];
  }

  /** Mixes in an integer below 2^32, or the lower half of a larger one. */
  mix(value: number): void {
    const words = this.#words;
    const next = mixed(value, words[0] as number, words[1] as number);
    words[0] = words[1] as number;
    words[1] = words[2] as number;
    words[2] = words[3] as number;
    words[3] = next;
  }

  /** Mixes in words; `to` is exclusive. */
  mixWords(words: Int32Array, from: number, to: number): void {
    const own = this.#words;
    let [a, b, c, d] = [own[0] as number, own[1] as number, own[2] as number, own[3] as number];
    for (let at = from; at < to; at += 1) {
      const next = mixed(words[at] as number, a, b);
      a = b;
      b = c;
      c = d;
      d = next;
    }
    own[0] = a;
    own[1] = b;
    own[2] = c;
    own[3] = d;
  }

  /** Spreads the latest value, which only one word depends on so far, over all four words. */
  spread(): void {
    this.mixWords(ROUNDS, 0, ROUNDS.length);
  }

  mixText(text: string): void {
    this.mix(text.length);
    for (let at = 0; at < text.length; at += 1) this.mix(text.charCodeAt(at));
  }

  /** Mixes in both halves of an integer below 2^53. */
  mixWide(value: number): void {
    this.mix(value);
    this.mix(Math.floor(value / TWO_32));
  }
}

/**
 * Mixes a value with the first and second word of a digest. Its constants are literals, because the bundler turns named ones
 * into variables, which V8 reads and converts from doubles for each value; `second | 0` keeps it from adding doubles.
 */
function mixed(value: number, first: number, second: number): number {
  let word = Math.imul(value, 0x9e37_79b1);
  word = (word << 15) | (word >>> 17);
  word = first ^ Math.imul(word, 0x85eb_ca6b);
  word = (((word << 13) | (word >>> 19)) + (second | 0)) | 0;
  return (Math.imul(word, 5) + 0x52dc_e729) | 0;
}
