import { Buffer } from "node:buffer";
import type { OrderType, Side } from "../core/commands.ts";
import type { Millis, Price, Size } from "../core/units.ts";
import { crc32 } from "./crc32.ts";
import type { FixedText } from "./fixed-text.ts";
import { fromHex8, HEX_DIGITS } from "./hex8.ts";
import type { CancelData, Line, OrderData } from "./journal-line.ts";
import * as format from "./line-format.ts";

const BRACE_OPEN = 123;
const BRACE_CLOSE = 125;
const ZERO = 48;
/** No integer of a line has more digits. */
const MOST_DIGITS = 16;
const QUOTE = 34;
/** The digits of the check, a quote and a brace. */
const TAIL_LENGTH = HEX_DIGITS + 2;

/** The value of a byte as a digit of hex, as lines have it: in lower case. -1 when it is none. */
const NIBBLES = Int8Array.from({ length: 256 }, (_, byte) =>
  "0123456789abcdef".indexOf(String.fromCharCode(byte)),
);

/** Reads lines from bytes. What there are millions of is read byte by byte, in a third of the time of a parser of JSON. */
export class LineReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** The next byte of a line, and where its check begins; lost for good where it is not as expected. */
  #at = 0;
  #end = 0;
  #isLost = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The line from a place up to the line feed that ends it; null when it is not a whole line as it was written. */
  read(start: number, feed: number): Line | null {
    const bytes = this.#bytes;
    const end = feed - TAIL_LENGTH;
    const check = end - format.CHECK.length;
    if (check < start || bytes[start] !== BRACE_OPEN) return null;
    if (bytes[feed - 2] !== QUOTE || bytes[feed - 1] !== BRACE_CLOSE) return null;
    this.#at = check;
    this.#end = end + HEX_DIGITS;
    this.#isLost = false;
    this.#skip(format.CHECK);
    const c = this.#hex();
    if (this.#isLost || crc32(this.#view, start, end) !== c) return null;
    this.#at = start;
    this.#end = end;
    return this.#common(c) ?? this.#any(start, feed, c);
  }

  /** A line `order` or `cancel`; null for any other, and for one that is written in the least other way. */
  #common(c: number): Line | null {
    this.#skip(format.NUMBER);
    const n = this.#integer();
    this.#skip(format.PREVIOUS);
    const p = this.#hex();
    this.#skip(format.SYNCED);
    const s = this.#integer();
    this.#skip(format.TIME);
    const t = this.#integer() as Millis;
    const isOrder = this.#takes(format.ORDER);
    const d = isOrder ? this.#order() : this.#cancel();
    const r = this.#hex();
    this.#skip(format.CHECK);
    return this.#isLost ? null : { n, p, s, t, k: isOrder ? "order" : "cancel", d, r, c };
  }

  #order(): OrderData {
    const account = this.#integer();
    this.#skip(format.TOKEN);
    const token = this.#integer();
    const side: Side = this.#takes(format.PRICE_OF.BUY) ? "BUY" : "SELL";
    if (side === "SELL") this.#skip(format.PRICE_OF.SELL);
    const price = this.#integer() as Price;
    this.#skip(format.SIZE);
    const size = this.#integer() as Size;
    const orderType = this.#orderType();
    const data = { account, token, side, price, size, orderType };
    if (orderType !== "GTD") return data;
    const expiration = this.#integer() as Millis;
    this.#skip(format.CAUSED_AT_ONCE);
    return { ...data, expiration };
  }

  #orderType(): OrderType {
    for (const type of ORDER_TYPES) if (this.#takes(format.CAUSED_BY[type])) return type;
    this.#isLost = true;
    return "GTC";
  }

  #cancel(): CancelData {
    this.#skip(format.CANCEL);
    const order = this.#integer();
    this.#skip(format.CAUSED_AT_ONCE);
    return { order };
  }

  #any(start: number, feed: number, c: number): Line | null {
    try {
      const text = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, feed - start).toString(
        "utf8",
      );
      const { p, r, ...line } = JSON.parse(text) as Line & Record<"p" | "r", unknown>;
      const [before, caused] = [fromHex8(p), fromHex8(r)];
      return before === null || caused === null ? null : { ...line, p: before, r: caused, c };
    } catch {
      return null;
    }
  }

  #skip(text: FixedText): void {
    if (!this.#takes(text)) this.#isLost = true;
  }

  /** Goes past a text if it stands here. */
  #takes({ words, length, last }: FixedText): boolean {
    const view = this.#view;
    const start = this.#at;
    const next = start + length;
    if (next > this.#end || view.getInt32(next - 4, true) !== last) return false;
    for (let word = 0; word < length >> 2; word += 1) {
      if (view.getInt32(start + 4 * word, true) !== words[word]) return false;
    }
    this.#at = next;
    return true;
  }

  /** The number of 8 hex digits. */
  #hex(): number {
    const bytes = this.#bytes;
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

  #integer(): number {
    const bytes = this.#bytes;
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
}

/** The most frequent first. */
const ORDER_TYPES: readonly OrderType[] = ["GTC", "FAK", "FOK", "GTD"];

/** One line, without the line feed that ends it; null when it is not a whole line as it was written. */
export const parseLine = (bytes: Uint8Array): Line | null => new LineReader(bytes).read(0, bytes.length);
