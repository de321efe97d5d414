import { Buffer } from "node:buffer";
import type { FixedText } from "../core/byte-cursor.ts";
import { crc32 } from "./checksum.ts";

const INITIAL_BYTES = 1 << 16;
/** Upper bound of the bytes of a line without its texts. */
const ROOM = 512;

/** The ASCII bytes of two digits, by their value. */
const DECIMALS = pairsOf(10);
const HEX = pairsOf(16);
const ZERO = 48;
const BILLION = 1_000_000_000;
const BILLION_DIGITS = 9;

function pairsOf(base: number): Int16Array {
  const digit = (value: number): number => value.toString(base).charCodeAt(0);
  return Int16Array.from({ length: base * base }, (_, pair) => {
    const [first, second] = [digit(Math.floor(pair / base)), digit(pair % base)];
    return first | (second << 8);
  });
}

/**
 * Buffers encoded lines. The cost of a line decides the cost of the journal, and encoding it by way of a string costs
 * three times as much.
 */
export class LineBuffer {
  #bytes = Buffer.alloc(INITIAL_BYTES);
  #view = viewOf(this.#bytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The buffered bytes; valid until the next write. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Truncates the buffer. */
  cut(length: number): void {
    this.#length = length;
  }

  /** Reserves room for a line without its texts, which reserve their own, and for `more` bytes. */
  reserve(more = 0): void {
    const needed = this.#length + more + ROOM;
    if (needed <= this.#bytes.length) return;
    const bytes = Buffer.alloc(Math.max(needed, this.#bytes.length * 2));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  putText(text: string): void {
    this.reserve(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length, "utf8");
  }

  /** Writes ASCII text without reserving room. */
  putAscii(text: string): void {
    this.#length += this.#bytes.write(text, this.#length, "latin1");
  }

  put({ words, length }: FixedText): void {
    const view = this.#view;
    let at = this.#length;
    for (let index = 0; index < words.length; index += 1, at += 4) {
      view.setInt32(at, words[index] as number, true);
    }
    this.#length += length;
  }

  /** Writes an integer from 0 on. */
  putInteger(value: number): void {
    if (value < BILLION) this.#putDigits(value, digitsOf(value));
    else {
      const billions = Math.floor(value / BILLION);
      this.putInteger(billions);
      this.#putDigits(value - billions * BILLION, BILLION_DIGITS);
    }
  }

  /** Writes an integer below a billion with this many digits, zeros first. */
  #putDigits(value: number, digits: number): void {
    const view = this.#view;
    const start = this.#length;
    let at = start + digits;
    this.#length = at;
    let rest = value | 0;
    while (at - start >= 2) {
      const hundreds = (rest / 100) | 0;
      at -= 2;
      view.setInt16(at, DECIMALS[rest - hundreds * 100] as number, true);
      rest = hundreds;
    }
    if (at > start) view.setInt8(start, ZERO + rest);
  }

  /** Writes 32 bits as 8 hex digits. */
  putHex(value: number): void {
    const view = this.#view;
    const at = this.#length;
    view.setInt16(at, HEX[value >>> 24] as number, true);
    view.setInt16(at + 2, HEX[(value >>> 16) & 255] as number, true);
    view.setInt16(at + 4, HEX[(value >>> 8) & 255] as number, true);
    view.setInt16(at + 6, HEX[value & 255] as number, true);
    this.#length = at + 8;
  }

  /** Returns the CRC-32 of the bytes from `start` on. */
  checkFrom(start: number): number {
    return crc32(this.#view, start, this.#length);
  }
}

/** Number of decimal digits of an integer below a billion. */
function digitsOf(value: number): number {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1_000 ? 3 : 4;
  if (value < 1_000_000) return value < 100_000 ? 5 : 6;
  return value < 10_000_000 ? 7 : value < 100_000_000 ? 8 : 9;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Buffer): DataView =>
  new DataView(buffer, byteOffset, byteLength);
