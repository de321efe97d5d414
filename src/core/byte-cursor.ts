/** ASCII text as words of four bytes, the first byte lowest: a word is written or compared at the cost of a byte. */
export interface FixedText {
  readonly length: number;
  /** The last word is filled up with zeros. */
  readonly words: Int32Array;
  /** The last four bytes, where there are four. */
  readonly last: number;
}

/** @param text of ASCII. */
export function fixedText(text: string): FixedText {
  const { length } = text;
  const view = new DataView(new ArrayBuffer(Math.ceil(length / 4) * 4));
  for (let at = 0; at < length; at += 1) view.setUint8(at, text.charCodeAt(at));
  const words = new Int32Array(view.byteLength / 4);
  for (let index = 0; index < words.length; index += 1) words[index] = view.getInt32(index * 4, true);
  return { length, words, last: length < 4 ? 0 : view.getInt32(length - 4, true) };
}

const ZERO = 48;
/** No integer that is exact as a number has more digits. */
const MAX_DIGITS = 16;
const HEX_DIGITS = 8;

/** The value of a byte as a digit of hex in lower case; -1 when it is none. */
const NIBBLES = Int8Array.from({ length: 256 }, (_, byte) =>
  "0123456789abcdef".indexOf(String.fromCharCode(byte)),
);

/**
 * Reads canonical JSON from bytes, left to right, in a third of the time of `JSON.parse`. Where the bytes are not as
 * expected, `hasFailed` is set and stays set until the next `begin`; what was read since then means nothing.
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

  /** Begins to read at a place; nothing from `end` on is looked at. */
  begin(at: number, end: number): void {
    this.#at = at;
    this.#end = end;
    this.#hasFailed = false;
  }

  fail(): void {
    this.#hasFailed = true;
  }

  /** Goes past a text that must stand here. */
  skip(text: FixedText): void {
    if (!this.takes(text)) this.#hasFailed = true;
  }

  /** Goes past a text of four bytes or more if it stands here. */
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

  /** Goes past a byte that must stand here. */
  skipByte(byte: number): void {
    if (!this.takesByte(byte)) this.#hasFailed = true;
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
    const most = Math.min(this.#end, start + MAX_DIGITS);
    let value = 0;
    let at = start;
    for (; at < most; at += 1) {
      const digit = (bytes[at] as number) - ZERO;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
    }
    const isPadded = bytes[start] === ZERO && at > start + 1;
    if (at === start || isPadded || !Number.isSafeInteger(value)) this.#hasFailed = true;
    this.#at = at;
    return value;
  }

  /** The same, both bounds included. */
  integerIn(low: number, high: number): number {
    const value = this.integer();
    if (value < low || value > high) this.#hasFailed = true;
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
    if (bad < 0) this.#hasFailed = true;
    this.#at = next;
    return value >>> 0;
  }
}
