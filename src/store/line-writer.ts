import type { Command } from "../core/commands.ts";
import type { Millis } from "../core/units.ts";
import type { NoteKind, Notes } from "./journal-line.ts";
import { bytesOf, LineBuffer } from "./line-buffer.ts";

const NUMBER = bytesOf('{"n":');
const PREVIOUS = bytesOf(',"p":"');
const SYNCED = bytesOf('","s":');
const TIME = bytesOf(',"t":');
const KIND = bytesOf(',"k":"');
const DATA = bytesOf('","d":');
const CAUSED = bytesOf(',"r":"');
const CHECK = bytesOf('","c":"');
const END = bytesOf('"}\n');

const PLACE_ORDER = bytesOf(',"k":"placeOrder","d":{"address":');
const TOKEN = bytesOf(',"tokenId":');
const BUY = bytesOf(',"side":"BUY","price":');
const SELL = bytesOf(',"side":"SELL","price":');
const SIZE = bytesOf(',"size":');
const ORDER_TYPE = bytesOf(',"orderType":"');
const ORDER_TYPES = { GTC: bytesOf("GTC"), GTD: bytesOf("GTD"), FOK: bytesOf("FOK"), FAK: bytesOf("FAK") };
const EXPIRATION = bytesOf('","expiration":');
const NULL = bytesOf("null");
const CANCEL_ORDER = bytesOf(',"k":"cancelOrder","d":{"address":');
const ORDER_ID = bytesOf(',"orderId":');
const BRACE = bytesOf("}");
/** How many texts are kept as bytes. */
const MOST_KEPT = 65_536;

/** Puts lines together, each with its number and chained to the one before. */
export class LineWriter {
  readonly buffer = new LineBuffer();
  readonly #kept = new Map<string, Uint8Array>();
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

  command(command: Command, at: Millis, synced: number, caused: number): void {
    const start = this.#begin(at, synced);
    if (command.kind === "placeOrder") this.#placeOrder(command);
    else if (command.kind === "cancelOrder") this.#cancelOrder(command);
    else {
      const { kind, ...data } = command;
      this.#plain(kind, data);
    }
    this.#end(start, caused);
  }

  note<Kind extends NoteKind>(kind: Kind, data: Notes[Kind], at: Millis, synced: number): void {
    const start = this.#begin(at, synced);
    this.#plain(kind, data);
    this.#end(start, 0);
  }

  #begin(at: Millis, synced: number): number {
    const { buffer } = this;
    const start = buffer.length;
    this.#number += 1;
    buffer.put(NUMBER);
    buffer.putInteger(this.#number);
    buffer.put(PREVIOUS);
    buffer.putHex(this.#check);
    buffer.put(SYNCED);
    buffer.putInteger(synced);
    buffer.put(TIME);
    buffer.putInteger(at);
    return start;
  }

  #end(start: number, caused: number): void {
    const { buffer } = this;
    buffer.put(CAUSED);
    buffer.putHex(caused);
    buffer.put(CHECK);
    this.#check = buffer.crcFrom(start);
    buffer.putHex(this.#check);
    buffer.put(END);
  }

  #plain(kind: string, data: object): void {
    const { buffer } = this;
    buffer.put(KIND);
    buffer.putText(kind);
    buffer.put(DATA);
    buffer.putText(JSON.stringify(data));
  }

  // What there are millions of is put together from bytes; the text is that of JSON.stringify.

  #placeOrder(order: Extract<Command, { kind: "placeOrder" }>): void {
    const { buffer } = this;
    buffer.put(PLACE_ORDER);
    buffer.put(this.#json(order.address));
    buffer.put(TOKEN);
    buffer.put(this.#json(order.tokenId));
    buffer.put(order.side === "BUY" ? BUY : SELL);
    buffer.putInteger(order.price);
    buffer.put(SIZE);
    buffer.putInteger(order.size);
    buffer.put(ORDER_TYPE);
    buffer.put(ORDER_TYPES[order.orderType]);
    buffer.put(EXPIRATION);
    if (order.expiration === null) buffer.put(NULL);
    else buffer.putInteger(order.expiration);
    buffer.put(BRACE);
  }

  #cancelOrder(cancel: Extract<Command, { kind: "cancelOrder" }>): void {
    const { buffer } = this;
    buffer.put(CANCEL_ORDER);
    buffer.put(this.#json(cancel.address));
    buffer.put(ORDER_ID);
    buffer.putText(JSON.stringify(cancel.orderId));
    buffer.put(BRACE);
  }

  /** A text that comes again and again, as JSON. */
  #json(text: string): Uint8Array {
    let bytes = this.#kept.get(text);
    if (bytes === undefined) {
      if (this.#kept.size === MOST_KEPT) this.#kept.clear();
      bytes = bytesOf(JSON.stringify(text));
      this.#kept.set(text, bytes);
    }
    return bytes;
  }
}
