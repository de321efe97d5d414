import type { CancelData, Line, OrderData } from "./journal-line.ts";

const ZERO = 48;
/** No integer of a line has more digits. */
const MOST_DIGITS = 16;
const NOT_COMMON = null;

/**
 * Reads the lines that there are millions of, orders placed and canceled, without a parser of JSON, which takes three
 * times as long. Null for any other line, and for one that is written in the least other way.
 * @param text a whole line whose check is right.
 */
export function parseCommon(text: string): Line | null {
  if (text.includes("\\")) return NOT_COMMON;
  const cursor = new Cursor(text);
  const n = cursor.after('{"n":').integer();
  const p = cursor.after(',"p":"').characters(8);
  const s = cursor.after('","s":').integer();
  const t = cursor.after(',"t":').integer() as Line["t"];
  const k = cursor.after(',"k":"').text();
  const d = k === "order" ? order(cursor) : k === "cancel" ? cancel(cursor) : NOT_COMMON;
  if (d === NOT_COMMON) return null;
  const r = cursor.after('},"r":"').characters(8);
  const c = cursor.after('","c":"').characters(8);
  return cursor.after('"}').isAtEnd ? { n, p, s, t, k, d, r, c } : null;
}

function order(cursor: Cursor): OrderData | null {
  const account = cursor.after(',"d":{"account":').integer();
  const token = cursor.after(',"token":').integer();
  const side = cursor.after(',"side":"').text() as OrderData["side"];
  const price = cursor.after(',"price":').integer() as OrderData["price"];
  const size = cursor.after(',"size":').integer() as OrderData["size"];
  const orderType = cursor.after(',"orderType":"').text() as OrderData["orderType"];
  const data = { account, token, side, price, size, orderType };
  if (orderType !== "GTD") return cursor.isLost ? null : data;
  const expiration = cursor.after(',"expiration":').integer() as NonNullable<OrderData["expiration"]>;
  return cursor.isLost ? null : { ...data, expiration };
}

function cancel(cursor: Cursor): CancelData | null {
  const number = cursor.after(',"d":{"order":').integer();
  return cursor.isLost ? null : { order: number };
}

/** Reads a text from left to right; lost for good where it is not as expected. */
class Cursor {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isLost(): boolean {
    return this.#at < 0;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  after(expected: string): this {
    if (this.#at >= 0) this.#at = this.#text.startsWith(expected, this.#at) ? this.#at + expected.length : -1;
    return this;
  }

  /** So many characters. */
  characters(count: number): string {
    return this.#take(this.#at + count, 0);
  }

  /** What stands before the next quote; in this text no quote is escaped. */
  text(): string {
    return this.#take(this.#text.indexOf('"', this.#at), 1);
  }

  integer(): number {
    const start = this.#at;
    if (start < 0) return 0;
    let value = 0;
    let at = start;
    for (; at - start <= MOST_DIGITS; at += 1) {
      const digit = this.#text.charCodeAt(at) - ZERO;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
    }
    this.#at = at > start && Number.isSafeInteger(value) ? at : -1;
    return value;
  }

  #take(end: number, beyond: number): string {
    const start = this.#at;
    const isThere = start >= 0 && end >= start && end <= this.#text.length;
    this.#at = isThere ? end + beyond : -1;
    return isThere ? this.#text.slice(start, end) : "";
  }
}
