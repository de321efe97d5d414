import { crc32 as crc32OfText } from "node:zlib";
import { mixEvents, type WordSink } from "../core/event-words.ts";
import type { DomainEvent } from "../core/events.ts";

/** Number of hex digits of 32 bits. */
export const HEX_DIGITS = 8;

const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Formats 32 bits as 8 lower-case hex digits. */
export const hex8 = (value: number): string =>
  `${HEX_OF_BYTE[value >>> 24]}${HEX_OF_BYTE[(value >>> 16) & 255]}${HEX_OF_BYTE[(value >>> 8) & 255]}${HEX_OF_BYTE[value & 255]}`;

/** CRC-32 as in zlib and PNG: reflected polynomial, all ones before and inverted after (RFC 1952 section 8). */
const POLYNOMIAL = 0xedb8_8320;
const STRIDE = 16;

/**
 * "Slicing" (Kounavis and Berry, A Systematic Approach to Building High Performance Software-based CRC Generators,
 * 2005): entry `256 * n + byte` is the CRC of a byte followed by n zero bytes. So the 16 bytes of a stride are looked
 * up in parallel.
 */
const TABLE = slicingTable();

function slicingTable(): Int32Array {
  const table = new Int32Array(STRIDE * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let left = byte;
    for (let bit = 0; bit < 8; bit += 1) left = left & 1 ? (left >>> 1) ^ POLYNOMIAL : left >>> 1;
    table[byte] = left;
  }
  for (let at = 256; at < table.length; at += 1) {
    const left = table[at - 256] as number;
    table[at] = (left >>> 8) ^ (table[left & 255] as number);
  }
  return table;
}

/** CRC of a byte followed by `zeros` zero bytes. */
const after = (zeros: number, byte: number): number => TABLE[(zeros << 8) + (byte & 255)] as number;

/** CRC of the four bytes of a word, lowest byte first, followed by `zeros` zero bytes. */
const afterWord = (zeros: number, word: number): number =>
  after(zeros + 3, word) ^
  after(zeros + 2, word >>> 8) ^
  after(zeros + 1, word >>> 16) ^
  after(zeros, word >>> 24);

/**
 * CRC-32 of a byte range, 32 bits unsigned. For a journal line it takes half as long as `zlib.crc32`, whose call
 * overhead alone is that large.
 */
export function crc32(bytes: DataView, from: number, to: number): number {
  let left = -1;
  let at = from;
  for (; at + STRIDE <= to; at += STRIDE) {
    left =
      afterWord(12, left ^ bytes.getInt32(at, true)) ^
      afterWord(8, bytes.getInt32(at + 4, true)) ^
      afterWord(4, bytes.getInt32(at + 8, true)) ^
      afterWord(0, bytes.getInt32(at + 12, true));
  }
  for (; at + 4 <= to; at += 4) left = afterWord(0, left ^ bytes.getInt32(at, true));
  for (; at < to; at += 1) left = (left >>> 8) ^ after(0, left ^ bytes.getUint8(at));
  return ~left >>> 0;
}

const SEED = 0x2545f491;

/** 32-bit hash: two rounds per word of the finalizer of MurmurHash3 (Austin Appleby, public domain). */
class ShortHash implements WordSink {
  value = SEED;

  mixWords(words: Int32Array, from: number, to: number): void {
    let { value } = this;
    for (let at = from; at < to; at += 1) value = mixed(value, words[at] as number);
    this.value = value;
  }

  mixText(text: string): void {
    this.value = mixed(this.value, crc32OfText(text));
  }
}

function mixed(value: number, word: number): number {
  const folded = Math.imul(value ^ word, 0x85eb_ca6b);
  return Math.imul(folded ^ (folded >>> 13), 0xc2b2_ae35) ^ (folded >>> 16);
}

const hash = new ShortHash();

/** 32-bit hash of the events of a command. */
export function eventHash(events: readonly DomainEvent[]): number {
  hash.value = SEED;
  mixEvents(hash, events);
  return hash.value >>> 0;
}
