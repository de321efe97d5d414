import { createHash } from "node:crypto";
import { crc32 as crc32OfText } from "node:zlib";
import { type DomainEvent, mixEvents, type WordSink } from "../core/events.ts";
import { Digest, hex8 } from "../core/hash.ts";
import type { State } from "../core/state.ts";
import { canonicalLines } from "../core/state-document.ts";
import type { Millis } from "../core/units.ts";

/** CRC-32 as in zlib and PNG: reflected polynomial, all ones before and inverted after (RFC 1952 section 8). */
const POLYNOMIAL = 0xedb8_8320;

/**
 * "Slicing" (Kounavis and Berry, A Systematic Approach to Building High Performance Software-based CRC Generators,
 * 2005): entry `256 * n + byte` is the CRC of a byte followed by n zero bytes. So the 16 bytes of a stride are looked
 * up in parallel.
 */
const TABLE = slicingTable();

function slicingTable(): Int32Array {
  const table = new Int32Array(16 * 256);
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

/** CRC of the four bytes of a word, lowest byte first, followed by `zeros` zero bytes. */
const afterWord = (table: Int32Array, zeros: number, word: number): number =>
  (table[((zeros + 3) << 8) + (word & 255)] as number) ^
  (table[((zeros + 2) << 8) + ((word >>> 8) & 255)] as number) ^
  (table[((zeros + 1) << 8) + ((word >>> 16) & 255)] as number) ^
  (table[(zeros << 8) + (word >>> 24)] as number);

/**
 * CRC-32 of a byte range, 32 bits unsigned. For a journal line it takes half as long as `zlib.crc32`, whose call
 * overhead alone is that large.
 */
export function crc32(bytes: DataView, from: number, to: number): number {
  // A local variable, because V8 reads and checks a module's variable at each access.
  const table = TABLE;
  let left = -1;
  let at = from;
  for (; at + 16 <= to; at += 16) {
    left =
      afterWord(table, 12, left ^ bytes.getInt32(at, true)) ^
      afterWord(table, 8, bytes.getInt32(at + 4, true)) ^
      afterWord(table, 4, bytes.getInt32(at + 8, true)) ^
      afterWord(table, 0, bytes.getInt32(at + 12, true));
  }
  for (; at + 4 <= to; at += 4) left = afterWord(table, 0, left ^ bytes.getInt32(at, true));
  for (; at < to; at += 1) left = (left >>> 8) ^ (table[(left ^ bytes.getUint8(at)) & 255] as number);
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

/** Approximate number of characters hashed at a time. */
const PIECE_LENGTH = 65_536;

/** SHA-256 of the canonical state, computed from all of its content: 64 hex digits. */
export function contentHash(state: State): string {
  const hash = createHash("sha256");
  let piece = "";
  for (const line of canonicalLines(state)) {
    piece += `${line}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    hash.update(piece);
    piece = "";
  }
  return hash.update(piece).digest("hex");
}

/**
 * 128-bit digest of a history: the text of the world or the content hash of the state at its beginning, then time and
 * events of every accepted command. Its cost per command does not depend on the size of the state.
 */
export class HistoryDigest {
  #digest: Digest;

  /** Continues from the first 32 hex digits of `text`. */
  constructor(text: string) {
    this.#digest = Digest.of(text);
  }

  /** Starts the digest of a history that begins with a state. */
  static of(state: State): HistoryDigest {
    return new HistoryDigest(contentHash(state));
  }

  /** Starts the digest of a history whose beginning `text` identifies. */
  static ofText(text: string): HistoryDigest {
    return new HistoryDigest(createHash("sha256").update(text).digest("hex"));
  }

  mix(at: Millis, events: readonly DomainEvent[]): void {
    this.#digest.mixWide(at);
    mixEvents(this.#digest, events);
    this.#digest.mix(events.length);
  }

  /** 32 hex digits, from which another digest can continue. */
  get text(): string {
    return this.#digest.words.map(hex8).join("");
  }

  /** 32 bits of the digest. All four words are combined, because the latest command does not affect each of them. */
  get short(): number {
    const [a, b, c, d] = this.#digest.words;
    return (a ^ b ^ c ^ d) >>> 0;
  }

  /** The state hash: `v2:` and 64 hex digits. Version 1 was the content hash. */
  get hash(): string {
    return `v2:${createHash("sha256").update(this.text).digest("hex")}`;
  }
}
