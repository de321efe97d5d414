import { crc32 } from "node:zlib";
import type { CancelOrder, Command, OrderType, PlaceOrder, Side } from "../core/commands.ts";
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

const SIZE = bytesOf(',"size":');
const CANCEL_ORDER = bytesOf(',"k":"cancelOrder","d":{"address":');
const ORDER_ID = bytesOf(',"orderId":');
const BRACE = bytesOf("}");
const UUID = /^[0-9a-f-]{36}$/;
/** How many texts are kept. */
const MOST_KEPT = 65_536;

/** What the orders of a wallet for a token begin with, up to the price; and what all of a type end with. */
type Heads = Readonly<Record<Side, Uint8Array>>;
const headOf = (address: string, tokenId: string, side: Side): Uint8Array =>
  bytesOf(
    `,"k":"placeOrder","d":{"address":${JSON.stringify(address)},"tokenId":${JSON.stringify(tokenId)},"side":"${side}","price":`,
  );
const endingOf = (orderType: OrderType, expiration: number | null): Uint8Array =>
  bytesOf(`,"orderType":"${orderType}","expiration":${expiration}}`);
const ENDINGS = {
  GTC: endingOf("GTC", null),
  GTD: endingOf("GTD", null),
  FOK: endingOf("FOK", null),
  FAK: endingOf("FAK", null),
};

/** Puts lines together, each with its number and chained to the one before. */
export class LineWriter {
  /** The lines that have been put together. */
  readonly buffer = new LineBuffer();
  readonly #line = new LineBuffer();
  readonly #texts = new Map<string, Uint8Array>();
  readonly #heads = new Map<string, Map<string, Heads>>();
  #headsKept = 0;
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

  command(command: Command, at: Millis, synced: number, caused: number): void {
    this.#begin(at, synced);
    if (command.kind === "placeOrder") this.#placeOrder(command);
    else if (command.kind === "cancelOrder") this.#cancelOrder(command);
    else {
      const { kind, ...data } = command;
      this.#plain(kind, data);
    }
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

  // What there are millions of is put together from bytes; the text is that of JSON.stringify.

  #placeOrder({ address, tokenId, side, price, size, orderType, expiration }: PlaceOrder): void {
    const line = this.#line;
    line.put(this.#head(address, tokenId)[side]);
    line.putInteger(price);
    line.put(SIZE);
    line.putInteger(size);
    line.put(expiration === null ? ENDINGS[orderType] : endingOf(orderType, expiration));
  }

  #head(address: string, tokenId: string): Heads {
    const kept = this.#heads.get(address)?.get(tokenId);
    if (kept !== undefined) return kept;
    if (this.#headsKept === MOST_KEPT) {
      this.#heads.clear();
      this.#headsKept = 0;
    }
    const heads = { BUY: headOf(address, tokenId, "BUY"), SELL: headOf(address, tokenId, "SELL") };
    let ofAddress = this.#heads.get(address);
    if (ofAddress === undefined) {
      ofAddress = new Map();
      this.#heads.set(address, ofAddress);
    }
    ofAddress.set(tokenId, heads);
    this.#headsKept += 1;
    return heads;
  }

  #cancelOrder(cancel: CancelOrder): void {
    const line = this.#line;
    line.put(CANCEL_ORDER);
    line.put(this.#json(cancel.address));
    line.put(ORDER_ID);
    line.putText(UUID.test(cancel.orderId) ? `"${cancel.orderId}"` : JSON.stringify(cancel.orderId));
    line.put(BRACE);
  }

  /** A text that comes again and again, as JSON. */
  #json(text: string): Uint8Array {
    let bytes = this.#texts.get(text);
    if (bytes === undefined) {
      if (this.#texts.size === MOST_KEPT) this.#texts.clear();
      bytes = bytesOf(JSON.stringify(text));
      this.#texts.set(text, bytes);
    }
    return bytes;
  }
}
