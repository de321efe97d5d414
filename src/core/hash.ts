import { sha256 } from "@noble/hashes/sha2";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";

const EMPTY = sha256.create();
/** What is hashed with, overwritten whole before each hash: a new one each time costs as much as hashing a line. */
const HASHER = sha256.create();

/** SHA-256 of the UTF-8 text, 64 lower-case hex digits. */
export const sha256Hex = (text: string): string => hexOf(EMPTY._cloneInto(HASHER).update(text).digest());

const DIGITS = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/** Bytes as one text: of one that is put together from 32, whoever looks into it puts the parts together first. */
function hexOf(bytes: Uint8Array): string {
  const codes: number[] = [];
  for (const byte of bytes) codes.push(DIGITS[byte >> 4] as number, DIGITS[byte & 15] as number);
  return String.fromCharCode(...codes);
}

/** Keccak-256 of bytes given in hex, without `0x`: 64 lower-case hex digits. */
export const keccak256Hex = (hex: string): string => bytesToHex(keccak_256(hexToBytes(hex)));

const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca6b;
const STEP = 0x52dce729;
/** As many words as must follow until each of the four has met the last. */
const ROUNDS = Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7);
const TWO_32 = 4_294_967_296;

/** What a digest stands at: four signed 32-bit words. */
export type DigestWords = readonly [a: number, b: number, c: number, d: number];

/**
 * Names a sequence of integers in 128 bits, one multiplication or two each: after Austin Appleby's MurmurHash3
 * (x86, 128 bits), a word at a time. Equal sequences give equal digests, others do not unless somebody looks for one:
 * it is no cryptographic hash. What is shown of it goes through SHA-256 when somebody asks.
 */
export class Digest {
  readonly #words: Int32Array;

  constructor(words: DigestWords) {
    this.#words = Int32Array.from(words, (word) => word | 0);
  }

  /** Where it stands. */
  get words(): DigestWords {
    const words = this.#words;
    return [words[0] as number, words[1] as number, words[2] as number, words[3] as number];
  }

  /** Takes in an integer below 2^32, or the lower half of a larger one. */
  mix(value: number): void {
    const words = this.#words;
    const next = mixed(value, words[0] as number, words[1] as number);
    words[0] = words[1] as number;
    words[1] = words[2] as number;
    words[2] = words[3] as number;
    words[3] = next;
  }

  /** The same for the words from a place up to another. */
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

  /** Lets every word know of what came last, which one alone knows until others follow. */
  spread(): void {
    this.mixWords(ROUNDS, 0, ROUNDS.length);
  }

  /** Takes in a text, its length first. */
  mixText(text: string): void {
    this.mix(text.length);
    for (let at = 0; at < text.length; at += 1) this.mix(text.charCodeAt(at));
  }

  /** Takes in an integer of any size, both halves. */
  mixWide(value: number): void {
    this.mix(value);
    this.mix(Math.floor(value / TWO_32));
  }
}

/** What a word leaves that meets the first and the second of a digest. */
function mixed(value: number, first: number, second: number): number {
  let word = Math.imul(value, FIRST);
  word = (word << 15) | (word >>> 17);
  word = first ^ Math.imul(word, SECOND);
  word = (((word << 13) | (word >>> 19)) + second) | 0;
  return (Math.imul(word, 5) + STEP) | 0;
}
