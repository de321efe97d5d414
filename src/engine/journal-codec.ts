import { Buffer } from "node:buffer";
import { ByteCursor, type FixedText, fixedText, HEX_DIGITS } from "../core/byte-cursor.ts";
import type { Command } from "../core/commands.ts";
import { DocumentError } from "../core/document-error.ts";
import type { DomainEvent } from "../core/events.ts";
import type { OrderType, Side } from "../core/terms.ts";
import { MAX_MILLIS, type Millis } from "../core/units.ts";
import { crc32 } from "./hashes.ts";
import {
  CancelLine,
  type ControlKind,
  type ControlRecords,
  checkedLine,
  type Line,
  OrderLine,
} from "./journal-line.ts";

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

  clear(): void {
    this.#length = 0;
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

// The constant text between the values of a line, for both writer and reader. All lines have this form:
// {"n":1,"p":"00000000","s":0,"t":0,"k":"...","d":{...},"r":"00000000","c":"00000000"}

const NUMBER = fixedText('{"n":');
const PREVIOUS = fixedText(',"p":"');
const SYNCED = fixedText('","s":');
const TIME = fixedText(',"t":');
const KIND = fixedText(',"k":"');
const DATA = fixedText('","d":');
const EVENTS_HASH = fixedText(',"r":"');
const CHECK = fixedText('","c":"');

const END = fixedText('"}\n');

// The most frequent lines: `order` and `cancel`.

const ORDER = fixedText(',"k":"order","d":');
const ACCOUNT = fixedText('{"account":');
const TOKEN = fixedText(',"token":');
const PRICE_OF: Readonly<Record<Side, FixedText>> = {
  BUY: fixedText(',"side":"BUY","price":'),
  SELL: fixedText(',"side":"SELL","price":'),
};
const SIZE = fixedText(',"size":');
/** The order type, with what stands between it and the next value. */
const ORDER_TYPE: Readonly<Record<OrderType, FixedText>> = {
  GTC: fixedText(',"orderType":"GTC"},"r":"'),
  GTD: fixedText(',"orderType":"GTD","expiration":'),
  FOK: fixedText(',"orderType":"FOK"},"r":"'),
  FAK: fixedText(',"orderType":"FAK"},"r":"'),
};
const CANCEL = fixedText(',"k":"cancel","d":');
const CANCELED = fixedText('{"order":');
/** After a number that ends the data. */
const DATA_END = fixedText('},"r":"');

/** Encodes lines, each with its number and chained to the line before. */
export class LineWriter {
  readonly buffer = new LineBuffer();
  /** Number and check of the latest line. */
  #number: number;
  #check: number;
  /** Start of the latest line in the buffer. */
  #start = 0;

  constructor(number = 0, check = 0) {
    this.#number = number;
    this.#check = check;
  }

  get number(): number {
    return this.#number;
  }

  /** The `c` of the latest line, 32 bits. */
  get check(): number {
    return this.#check;
  }

  /** Encodes any command in full. */
  command({ kind, ...data }: Command, at: Millis, synced: number, eventsHash: number): void {
    this.#writeJson(kind, data, at, synced, eventsHash);
  }

  control<Kind extends ControlKind>(kind: Kind, data: ControlRecords[Kind], at: Millis, synced: number) {
    this.#writeJson(kind, data, at, synced, 0);
  }

  #writeJson(kind: string, data: object, at: Millis, synced: number, eventsHash: number): void {
    const { buffer } = this;
    const text = JSON.stringify(data);
    this.#begin(at, synced);
    buffer.put(KIND);
    buffer.putText(kind);
    buffer.put(DATA);
    buffer.putText(text);
    buffer.put(EVENTS_HASH);
    this.#end(eventsHash);
  }

  // Orders and cancels are the most frequent lines. They are encoded as bytes, with account, token and order by number,
  // because the cost of a line depends on its length.

  /** Encodes the command that placed an order. */
  order(placed: DomainEvent<"orderPlaced">, at: Millis, synced: number, eventsHash: number): void {
    const { buffer } = this;
    this.#begin(at, synced);
    buffer.put(ORDER);
    buffer.put(ACCOUNT);
    buffer.putInteger(placed.account);
    buffer.put(TOKEN);
    buffer.putInteger(placed.token);
    buffer.put(PRICE_OF[placed.side]);
    buffer.putInteger(placed.price);
    buffer.put(SIZE);
    buffer.putInteger(placed.size);
    buffer.put(ORDER_TYPE[placed.orderType]);
    if (placed.expiration !== null) {
      buffer.putInteger(placed.expiration);
      buffer.put(DATA_END);
    }
    this.#end(eventsHash);
  }

  /** Encodes the command that canceled an order. */
  cancel(order: number, at: Millis, synced: number, eventsHash: number): void {
    const { buffer } = this;
    this.#begin(at, synced);
    buffer.put(CANCEL);
    buffer.put(CANCELED);
    buffer.putInteger(order);
    buffer.put(DATA_END);
    this.#end(eventsHash);
  }

  #begin(at: Millis, synced: number): void {
    const { buffer } = this;
    buffer.reserve();
    this.#start = buffer.length;
    this.#number += 1;
    buffer.put(NUMBER);
    buffer.putInteger(this.#number);
    buffer.put(PREVIOUS);
    buffer.putHex(this.#check);
    buffer.put(SYNCED);
    buffer.putInteger(synced);
    buffer.put(TIME);
    buffer.putInteger(at);
  }

  #end(eventsHash: number): void {
    const { buffer } = this;
    buffer.putHex(eventsHash);
    buffer.put(CHECK);
    this.#check = buffer.checkFrom(this.#start);
    buffer.putHex(this.#check);
    buffer.put(END);
  }
}

const BRACE_OPEN = 123;
const BRACE_CLOSE = 125;
const QUOTE = 34;
/** Digits of the check, quote and brace. */
const TAIL_LENGTH = HEX_DIGITS + 2;

/** Decodes lines from bytes; `order` and `cancel` lines without `JSON.parse`. */
export class LineReader {
  readonly #bytes: Uint8Array;
  readonly #cursor: ByteCursor;
  #problem: string | null = null;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#cursor = new ByteCursor(bytes);
  }

  /** What is wrong with the content of the latest line for which `read` returned null, if its checks are correct. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Decodes the line from `start` up to its line feed; null if it is incomplete or changed, or its content is invalid. */
  read(start: number, feed: number): Line | null {
    this.#problem = null;
    const bytes = this.#bytes;
    const cursor = this.#cursor;
    const end = feed - TAIL_LENGTH;
    const check = end - CHECK.length;
    if (check < start || bytes[start] !== BRACE_OPEN) return null;
    if (bytes[feed - 2] !== QUOTE || bytes[feed - 1] !== BRACE_CLOSE) return null;
    cursor.begin(check, end + HEX_DIGITS);
    cursor.skip(CHECK);
    const c = cursor.hex();
    if (cursor.hasFailed || crc32(cursor.view, start, end) !== c) return null;
    cursor.begin(start, end);
    return readOrderOrCancel(cursor, c) ?? this.#parseJson(start, feed, c);
  }

  #parseJson(start: number, feed: number, c: number): Line | null {
    const { buffer, byteOffset } = this.#bytes;
    try {
      // Invalid JSON, or too long for a string: no line.
      const text = Buffer.from(buffer, byteOffset + start, feed - start).toString("utf8");
      return checkedLine(JSON.parse(text), c);
    } catch (error) {
      this.#problem = error instanceof DocumentError ? error.message : null;
      return null;
    }
  }
}

/** Decodes one line, without its line feed; null as `LineReader.read`. */
export const parseLine = (bytes: Uint8Array): Line | null => new LineReader(bytes).read(0, bytes.length);

/**
 * Decodes an `order` or `cancel` line; null for any other, and for one that is formatted differently or has a number
 * out of range.
 */
function readOrderOrCancel(cursor: ByteCursor, c: number): Line | null {
  cursor.skip(NUMBER);
  const n = cursor.integer();
  cursor.skip(PREVIOUS);
  const p = cursor.hex();
  cursor.skip(SYNCED);
  const s = cursor.integer();
  cursor.skip(TIME);
  const t = cursor.integer() as Millis;
  const isOrder = cursor.takes(ORDER);
  if (!isOrder) cursor.skip(CANCEL);
  const d = isOrder ? OrderLine.read(cursor) : CancelLine.read(cursor);
  cursor.skip(EVENTS_HASH);
  const r = cursor.hex();
  cursor.skip(CHECK);
  return cursor.hasFailed || n < 2 || t > MAX_MILLIS
    ? null
    : { n, p, s, t, k: isOrder ? "order" : "cancel", d, r, c };
}
