import { Buffer } from "node:buffer";
import { ByteCursor } from "../core/bytes/byte-cursor.ts";
import type { OrderType, Side } from "../core/commands.ts";
import type { Millis, Price, Size } from "../core/units.ts";
import { crc32 } from "./crc32.ts";
import { fromHex8, HEX_DIGITS } from "./hex8.ts";
import type { CancelData, Line, OrderData } from "./journal-line.ts";
import * as format from "./line-format.ts";

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

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#cursor = new ByteCursor(bytes);
  }

  /** The line from a place up to the line feed that ends it; null when it is not a whole line as it was written. */
  read(start: number, feed: number): Line | null {
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
    try {
      const { buffer, byteOffset } = this.#bytes;
      const text = Buffer.from(buffer, byteOffset + start, feed - start).toString("utf8");
      const { p, r, ...line } = JSON.parse(text) as Line & Record<"p" | "r", unknown>;
      const [before, caused] = [fromHex8(p), fromHex8(r)];
      return before === null || caused === null ? null : { ...line, p: before, r: caused, c };
    } catch {
      return null;
    }
  }
}

/** One line, without the line feed that ends it; null when it is not a whole line as it was written. */
export const parseLine = (bytes: Uint8Array): Line | null => new LineReader(bytes).read(0, bytes.length);

/** A line `order` or `cancel`; null for any other, and for one that is written in the least other way. */
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
  return cursor.isLost ? null : { n, p, s, t, k: isOrder ? "order" : "cancel", d, r, c };
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
  const orderType = orderTypeAt(cursor);
  const data = { account, token, side, price, size, orderType };
  if (orderType !== "GTD") return data;
  const expiration = cursor.integer() as Millis;
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
  cursor.skip(format.CAUSED_AT_ONCE);
  return { order };
}
