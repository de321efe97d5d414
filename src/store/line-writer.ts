import { crc32 } from "node:zlib";
import type { Command, OrderType, Side } from "../core/commands.ts";
import type { OrderPlaced } from "../core/events.ts";
import type { Millis } from "../core/units.ts";
import type { NoteKind, Notes } from "./journal-line.ts";
import { bytesOf, LineBuffer } from "./line-buffer.ts";

const NUMBER = bytesOf('{"n":');
const PREVIOUS = bytesOf(',"p":"');
const KIND = bytesOf(',"k":"');
const DATA = bytesOf('","d":');
const CAUSED = bytesOf(',"r":"');
const CHECK = bytesOf('","c":"');
const END = bytesOf('"}\n');

const ORDER = bytesOf(',"k":"order","d":{"account":');
const TOKEN = bytesOf(',"token":');
const PRICES: Readonly<Record<Side, Uint8Array>> = {
  BUY: bytesOf(',"side":"BUY","price":'),
  SELL: bytesOf(',"side":"SELL","price":'),
};
const SIZE = bytesOf(',"size":');
const ENDINGS: Readonly<Record<OrderType, Uint8Array>> = {
  GTC: bytesOf(',"orderType":"GTC"}'),
  GTD: bytesOf(',"orderType":"GTD","expiration":'),
  FOK: bytesOf(',"orderType":"FOK"}'),
  FAK: bytesOf(',"orderType":"FAK"}'),
};
const CANCEL = bytesOf(',"k":"cancel","d":{"order":');
const BRACE = bytesOf("}");

/** Puts lines together, each with its number and chained to the one before. */
export class LineWriter {
  /** The lines that have been put together. */
  readonly buffer = new LineBuffer();
  readonly #line = new LineBuffer();
  /** What most lines have between their two checks: the same as the line before. */
  #middle = bytesOf("");
  #middleSynced = -1;
  #middleAt = -1;
  /** The number of the latest line, and its check. */
  #number: number;
  #check: number;

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

  /** Goes on after another line than the latest. */
  moveTo(number: number, check: number): void {
    this.#number = number;
    this.#check = check;
  }

  /** Any command, as it is. */
  command({ kind, ...data }: Command, at: Millis, synced: number, caused: number): void {
    this.#begin(at, synced);
    this.#plain(kind, data);
    this.#end(caused);
  }

  // What there are millions of is put together from bytes, and names account, token and order by their numbers: what a
  // line costs follows from its length.

  /** The command that has placed an order. */
  order(placed: OrderPlaced, at: Millis, synced: number, caused: number): void {
    const line = this.#line;
    const { account, token, side, price, size, orderType, expiration } = placed;
    this.#begin(at, synced);
    line.put(ORDER);
    line.putInteger(account);
    line.put(TOKEN);
    line.putInteger(token);
    line.put(PRICES[side]);
    line.putInteger(price);
    line.put(SIZE);
    line.putInteger(size);
    line.put(ENDINGS[orderType]);
    if (expiration !== null) {
      line.putInteger(expiration);
      line.put(BRACE);
    }
    this.#end(caused);
  }

  /** The command that has canceled an order. */
  cancel(order: number, at: Millis, synced: number, caused: number): void {
    const line = this.#line;
    this.#begin(at, synced);
    line.put(CANCEL);
    line.putInteger(order);
    line.put(BRACE);
    this.#end(caused);
  }

  note<Kind extends NoteKind>(kind: Kind, data: Notes[Kind], at: Millis, synced: number): void {
    this.#begin(at, synced);
    this.#plain(kind, data);
    this.#end(0);
  }

  #begin(at: Millis, synced: number): void {
    const line = this.#line;
    line.cut(0);
    this.#number += 1;
    line.put(NUMBER);
    line.putInteger(this.#number);
    line.put(PREVIOUS);
    line.putHex(this.#check);
    if (synced !== this.#middleSynced || at !== this.#middleAt) {
      this.#middle = bytesOf(`","s":${synced},"t":${at}`);
      this.#middleSynced = synced;
      this.#middleAt = at;
    }
    line.put(this.#middle);
  }

  #end(caused: number): void {
    const line = this.#line;
    line.put(CAUSED);
    line.putHex(caused);
    line.put(CHECK);
    this.#check = crc32(line.bytes);
    line.putHex(this.#check);
    line.put(END);
    this.buffer.put(line.bytes);
  }

  #plain(kind: string, data: object): void {
    const line = this.#line;
    line.put(KIND);
    line.putText(kind);
    line.put(DATA);
    line.putText(JSON.stringify(data));
  }
}
