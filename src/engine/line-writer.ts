import type { Command } from "../core/commands.ts";
import type { EventOf } from "../core/events.ts";
import type { Millis } from "../core/units.ts";
import type { NoteKind, Notes } from "./journal-line.ts";
import { LineBuffer } from "./line-buffer.ts";
import * as format from "./line-format.ts";

/** Puts lines together, each with its number and chained to the one before. */
export class LineWriter {
  /** The lines that have been put together. */
  readonly buffer = new LineBuffer();
  /** The number of the latest line, and its check. */
  #number: number;
  #check: number;
  /** Where the latest line begins. */
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

  /** Any command, as it is. */
  command({ kind, ...data }: Command, at: Millis, synced: number, caused: number): void {
    this.#plain(kind, data, at, synced, caused);
  }

  note<Kind extends NoteKind>(kind: Kind, data: Notes[Kind], at: Millis, synced: number): void {
    this.#plain(kind, data, at, synced, 0);
  }

  #plain(kind: string, data: object, at: Millis, synced: number, caused: number): void {
    const { buffer } = this;
    const text = JSON.stringify(data);
    this.#begin(at, synced);
    buffer.put(format.KIND);
    buffer.putText(kind);
    buffer.put(format.DATA);
    buffer.putText(text);
    buffer.put(format.CAUSED);
    this.#end(caused);
  }

  // What there are millions of is put together from bytes, and names account, token and order by their numbers: what a
  // line costs follows from its length.

  /** The command that has placed an order. */
  order(placed: EventOf<"orderPlaced">, at: Millis, synced: number, caused: number): void {
    const { buffer } = this;
    this.#begin(at, synced);
    buffer.put(format.ORDER);
    buffer.putInteger(placed.account);
    buffer.put(format.TOKEN);
    buffer.putInteger(placed.token);
    buffer.put(format.PRICE_OF[placed.side]);
    buffer.putInteger(placed.price);
    buffer.put(format.SIZE);
    buffer.putInteger(placed.size);
    buffer.put(format.CAUSED_BY[placed.orderType]);
    if (placed.expiration !== null) {
      buffer.putInteger(placed.expiration);
      buffer.put(format.CAUSED_AT_ONCE);
    }
    this.#end(caused);
  }

  /** The command that has canceled an order. */
  cancel(order: number, at: Millis, synced: number, caused: number): void {
    const { buffer } = this;
    this.#begin(at, synced);
    buffer.put(format.CANCEL);
    buffer.putInteger(order);
    buffer.put(format.CAUSED_AT_ONCE);
    this.#end(caused);
  }

  #begin(at: Millis, synced: number): void {
    const { buffer } = this;
    buffer.reserve();
    this.#start = buffer.length;
    this.#number += 1;
    buffer.put(format.NUMBER);
    buffer.putInteger(this.#number);
    buffer.put(format.PREVIOUS);
    buffer.putHex(this.#check);
    buffer.put(format.SYNCED);
    buffer.putInteger(synced);
    buffer.put(format.TIME);
    buffer.putInteger(at);
  }

  #end(caused: number): void {
    const { buffer } = this;
    buffer.putHex(caused);
    buffer.put(format.CHECK);
    this.#check = buffer.checkFrom(this.#start);
    buffer.putHex(this.#check);
    buffer.put(format.END);
  }
}
