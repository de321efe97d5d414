import type { FixedText } from "./fixed-text.ts";

const ZERO = 48;
/** No integer that is exact as a number has more digits. */
const MOST_DIGITS = 16;
const HEX_DIGITS = 8;

/** The value of a byte as a digit of hex in lower case; -1 when it is none. */
const NIBBLES = Int8Array.from({ length: 256 }, (_, byte) =>
  "0123456789abcdef".indexOf(String.fromCharCode(byte)),
);

/**
 * Reads bytes from left to right; lost for good where they are not as expected. What there are millions of is read so, in
 * a third of the time of a parser of JSON.
 */
export class ByteCursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  #at = 0;
  #end = 0;
  #isLost = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Whether something was not as expected since the last `begin`. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end;
  }

  /** Begins to read at a place; nothing from `end` on is looked at. */
  begin(at: number, end: number): void {
    this.#at = at;
    this.#end = end;
    this.#isLost = false;
  }

  lose(): void {
    this.#isLost = true;
  }

  skip(text: FixedText): void {
    if (!this.takes(text)) this.#isLost = true;
  }

  /** Goes past a text if it stands here; it has four bytes or more. */
  takes({ words, length, last }: FixedText): boolean {
    const { view } = this;
    const start = this.#at;
    const next = start + length;
    if (next > this.#end || view.getInt32(next - 4, true) !== last) return false;
    for (let word = 0; word < length >> 2; word += 1) {
      if (view.getInt32(start + 4 * word, true) !== words[word]) return false;
    }
    this.#at = next;
    return true;
  }

  /** Goes past a byte if it stands here. */
  takesByte(byte: number): boolean {
    const isHere = this.#at < this.#end && this.bytes[this.#at] === byte;
    if (isHere) this.#at += 1;
    return isHere;
  }

  /** An integer from 0 as JSON writes it, exact as a number. */
  integer(): number {
    const { bytes } = this;
    const start = this.#at;
    const most = Math.min(this.#end, start + MOST_DIGITS);
    let value = 0;
    let at = start;
    for (; at < most; at += 1) {
      const digit = (bytes[at] as number) - ZERO;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
    }
    const isPadded = bytes[start] === ZERO && at > start + 1;
    if (at === start || isPadded || !Number.isSafeInteger(value)) this.#isLost = true;
    this.#at = at;
    return value;
  }

  /** The number of 8 digits of hex. */
  hex(): number {
    const { bytes } = this;
    const start = this.#at;
    const next = start + HEX_DIGITS;
    let value = 0;
    let bad = next > this.#end ? -1 : 0;
    for (let at = start; at < next; at += 1) {
      const nibble = NIBBLES[bytes[at] as number] as number;
      value = (value << 4) | nibble;
      bad |= nibble;
    }
    if (bad < 0) this.#isLost = true;
    this.#at = next;
    return value >>> 0;
  }
}
