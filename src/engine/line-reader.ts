import { Buffer } from "node:buffer";
import { ByteCursor } from "../core/bytes/byte-cursor.ts";
import type { OrderType, Side } from "../core/terms.ts";
import { FULL_PRICE, MAX_MILLIS, MAX_SIZE, type Millis, type Price, type Size } from "../core/units.ts";
import { crc32 } from "./crc32.ts";
import { fromHex8, HEX_DIGITS } from "./hex8.ts";
import type { CancelData, Line, OrderData } from "./journal-line.ts";
import * as format from "./line-format.ts";
import { type LineText, shapeFault } from "./line-shape.ts";

const BRACE_OPEN = 123;
const BRACE_CLOSE = 125;
const QUOTE = 34;
/** The digits of the check, a quote and a brace. */
const TAIL_LENGTH = HEX_DIGITS + 2;
/** The most frequent first. */
const ORDER_TYPES: readonly OrderType[] = ["GTC", "FAK", "FOK", "GTD"];

/** Reads lines from bytes; what there are millions of without a parser of JSON. */
export class LineReader {
  readonly #bytes: Uint8Array;
  readonly #cursor: ByteCursor;
  #fault: string | null = null;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#cursor = new ByteCursor(bytes);
  }

  /** What is wrong with the content of the line that `read` answered null for last, when its checks are right. */
  get fault(): string | null {
    return this.#fault;
  }

  /**
   * The line from a place up to the line feed that ends it; null when it is not a whole line as it was written, or not
   * what a line may hold.
   */
  read(start: number, feed: number): Line | null {
    this.#fault = null;
    const bytes = this.#bytes;
    const cursor = this.#cursor;
    const end = feed - TAIL_LENGTH;
    const check = end - format.CHECK.length;
    if (check < start || bytes[start] !== BRACE_OPEN) return null;
    if (bytes[feed - 2] !== QUOTE || bytes[feed - 1] !== BRACE_CLOSE) return null;
    cursor.begin(check, end + HEX_DIGITS);
    cursor.skip(format.CHECK);
    const c = cursor.hex();
    if (cursor.isLost || crc32(cursor.view, start, end) !== c) return null;
    cursor.begin(start, end);
    return common(cursor, c) ?? this.#any(start, feed, c);
  }

  #any(start: number, feed: number, c: number): Line | null {
    const line = this.#parsed(start, feed);
    if (line === null) return null;
    this.#fault = shapeFault(line);
    const [p, r] = [fromHex8(line.p), fromHex8(line.r)];
    return this.#fault !== null || p === null || r === null ? null : { ...line, p, r, c };
  }

  /** What stands between braces as JSON; null when it is none, or longer than any text. */
  #parsed(start: number, feed: number): LineText | null {
    try {
      const { buffer, byteOffset } = this.#bytes;
      return JSON.parse(Buffer.from(buffer, byteOffset + start, feed - start).toString("utf8"));
    } catch {
      return null;
    }
  }
}

/** One line, without the line feed that ends it; null as `LineReader.read` answers it. */
export const parseLine = (bytes: Uint8Array): Line | null => new LineReader(bytes).read(0, bytes.length);

/**
 * A line `order` or `cancel`; null for any other, and for one that is written in the least other way, or has a number
 * that is none of an order.
 */
function common(cursor: ByteCursor, c: number): Line | null {
  cursor.skip(format.NUMBER);
  const n = cursor.integer();
  cursor.skip(format.PREVIOUS);
  const p = cursor.hex();
  cursor.skip(format.SYNCED);
  const s = cursor.integer();
  cursor.skip(format.TIME);
  const t = cursor.integer() as Millis;
  const isOrder = cursor.takes(format.ORDER);
  const d = isOrder ? order(cursor) : cancel(cursor);
  const r = cursor.hex();
  cursor.skip(format.CHECK);
  return cursor.isLost || n < 2 || t > MAX_MILLIS
    ? null
    : { n, p, s, t, k: isOrder ? "order" : "cancel", d, r, c };
}

function order(cursor: ByteCursor): OrderData {
  const account = cursor.integer();
  cursor.skip(format.TOKEN);
  const token = cursor.integer();
  const side: Side = cursor.takes(format.PRICE_OF.BUY) ? "BUY" : "SELL";
  if (side === "SELL") cursor.skip(format.PRICE_OF.SELL);
  const price = cursor.integer() as Price;
  cursor.skip(format.SIZE);
  const size = cursor.integer() as Size;
  const isInRange = price >= 1 && price < FULL_PRICE && size >= 1 && size <= MAX_SIZE;
  if (!isInRange || account < 1 || token < 2) cursor.lose();
  const orderType = orderTypeAt(cursor);
  const data = { account, token, side, price, size, orderType };
  if (orderType !== "GTD") return data;
  const expiration = cursor.integer() as Millis;
  if (expiration > MAX_MILLIS) cursor.lose();
  cursor.skip(format.CAUSED_AT_ONCE);
  return { ...data, expiration };
}

function orderTypeAt(cursor: ByteCursor): OrderType {
  for (const type of ORDER_TYPES) if (cursor.takes(format.CAUSED_BY[type])) return type;
  cursor.lose();
  return "GTC";
}

function cancel(cursor: ByteCursor): CancelData {
  cursor.skip(format.CANCEL);
  const order = cursor.integer();
  if (order < 1) cursor.lose();
  cursor.skip(format.CAUSED_AT_ONCE);
  return { order };
}
