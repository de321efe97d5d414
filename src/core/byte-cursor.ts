/** ASCII text as little-endian words of four bytes: comparing or writing a word costs as much as a byte. */
export interface FixedText {
  readonly length: number;
  /** The last word is padded with zeros. */
  readonly words: Int32Array;
  /** The last four bytes as a word; 0 if the text is shorter. */
  readonly last: number;
}

/** @param text ASCII only. */
export function fixedText(text: string): FixedText {
  const { length } = text;
  const view = new DataView(new ArrayBuffer(Math.ceil(length / 4) * 4));
  for (let at = 0; at < length; at += 1) view.setUint8(at, text.charCodeAt(at));
  const words = new Int32Array(view.byteLength / 4);
  for (let index = 0; index < words.length; index += 1) words[index] = view.getInt32(index * 4, true);
  return { length, words, last: length < 4 ? 0 : view.getInt32(length - 4, true) };
}

const ZERO = 48;
/** Digits of the largest safe integer. */
const MAX_DIGITS = 16;
/** Number of hex digits of 32 bits. */
export const HEX_DIGITS = 8;

/** Value of a byte as a lower-case hex digit; -1 if it is not one. */
const NIBBLES = Int8Array.from({ length: 256 }, (_, byte) =>
  "0123456789abcdef".indexOf(String.fromCharCode(byte)),
);

/**
 * Reads canonical JSON from bytes, left to right, in a third of the time of `JSON.parse`. Unexpected bytes set
 * `hasFailed` until the next `begin`; values read after a failure are invalid.
 */
export class ByteCursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  #at = 0;
  #end = 0;
  #hasFailed = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end;
  }

  /** Sets the byte range to read; `end` is exclusive. */
  begin(at: number, end: number): void {
    this.#at = at;
    this.#end = end;
    this.#hasFailed = false;
  }

  fail(): void {
    this.#hasFailed = true;
  }

  skip(text: FixedText): void {
    if (!this.takes(text)) this.#hasFailed = true;
  }

  /** Skips a text of four bytes or more if it is next; returns whether it is. */
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

  skipByte(byte: number): void {
    if (!this.takesByte(byte)) this.#hasFailed = true;
  }

  /** Skips a byte if it is next; returns whether it is. */
  takesByte(byte: number): boolean {
    const isHere = this.#at < this.#end && this.bytes[this.#at] === byte;
    if (isHere) this.#at += 1;
    return isHere;
  }

  /** Reads an unsigned safe integer in canonical JSON. */
  integer(): number {
    const { bytes } = this;
    const start = this.#at;
    const limit = Math.min(this.#end, start + MAX_DIGITS);
    let value = 0;
    let at = start;
    for (; at < limit; at += 1) {
      const digit = (bytes[at] as number) - ZERO;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
    }
    const isPadded = bytes[start] === ZERO && at > start + 1;
    if (at === start || isPadded || !Number.isSafeInteger(value)) this.#hasFailed = true;
    this.#at = at;
    return value;
  }

  /** Reads 8 lower-case hex digits as an unsigned number. */
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
    if (bad < 0) this.#hasFailed = true;
    this.#at = next;
    return value >>> 0;
  }
}
