import { Buffer } from "node:buffer";

const FIRST = 1 << 16;
const DIGITS = new Uint8Array(Buffer.from("0123456789abcdef", "latin1"));
const ZERO = 48;
/** No number of a line has more digits. */
const ROOM = 64;
/** No view is kept of more bytes. */
const MOST_VIEWS = 1_024;
const INT_MAX = 2_147_483_647;

/** Text as the bytes of a line. */
export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "utf8"));

/**
 * Lines that wait to be written, put together from bytes: what a line costs decides what keeping a journal costs, and
 * text that is first made as a string costs three times as much.
 */
export class LineBuffer {
  #bytes = new Uint8Array(FIRST);
  #view = viewOf(this.#bytes);
  /** Views of the first bytes by their number: to make one costs more than to write what is in it. */
  #views: (Uint8Array | undefined)[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What has been put; good until more is. */
  get bytes(): Uint8Array {
    const length = this.#length;
    if (length >= MOST_VIEWS) return this.#bytes.subarray(0, length);
    let view = this.#views[length];
    if (view === undefined) {
      view = this.#bytes.subarray(0, length);
      this.#views[length] = view;
    }
    return view;
  }

  /** Forgets all beyond a length. */
  cut(length: number): void {
    this.#length = length;
  }

  put(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  putText(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += this.#view.write(text, this.#length, "utf8");
  }

  /** An integer from 0. */
  putInteger(value: number): void {
    this.#reserve(0);
    let digits = 1;
    for (let bound = 10; value >= bound; bound *= 10) digits += 1;
    let place = this.#length + digits;
    this.#length = place;
    let rest = value;
    while (rest > INT_MAX) {
      const quotient = Math.floor(rest / 10);
      place -= 1;
      this.#bytes[place] = ZERO + (rest - quotient * 10);
      rest = quotient;
    }
    do {
      const quotient = (rest / 10) | 0;
      place -= 1;
      this.#bytes[place] = ZERO + (rest - quotient * 10);
      rest = quotient;
    } while (rest > 0);
  }

  /** 32 bits as 8 hex digits. */
  putHex(value: number): void {
    this.#reserve(0);
    for (let shift = 28; shift >= 0; shift -= 4) {
      this.#bytes[this.#length] = DIGITS[(value >>> shift) & 15] as number;
      this.#length += 1;
    }
  }

  #reserve(length: number): void {
    const needed = this.#length + length + ROOM;
    if (needed <= this.#bytes.length) return;
    const bytes = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
    this.#views = [];
    this.#view = viewOf(bytes);
  }
}

const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
