import { Buffer } from "node:buffer";
import type { EntryKind, StreamRequest } from "../api/event-stream.ts";
import { type FixedText, fixedText } from "../core/byte-cursor.ts";
import type { CommandOf } from "../core/commands.ts";
import { hex8 } from "../core/hash.ts";
import { ORDER_TYPES, type OrderType } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";
import type { Exchange } from "../engine/exchange.ts";
import { eventHash } from "../engine/hashes.ts";
import { type Accepted, type RefusedEntry, withRefused } from "../engine/journal.ts";
import { LineBuffer } from "../engine/journal-codec.ts";
import { fitsOrderLine } from "../engine/journal-line.ts";
import type { RequestInfo } from "./messages.ts";

/** Bytes held for readers that are slow or reconnect. */
const MAX_BUFFERED = 8 * 1024 * 1024;
/** Bytes of new entries that become a chunk together, approximately. */
const CHUNK = 16 * 1024;

interface Chunk {
  readonly bytes: Buffer;
  /** Position of its first byte. */
  readonly start: number;
}

/**
 * Buffer of the latest entries of a live feed. Each entry begins with its id line and ends with an empty line. A position
 * counts all bytes before it, discarded ones included, so that it is all the state that a reader needs. Entries are held
 * as bytes, because as strings their garbage collection would cost more than all other work on them.
 */
export class LatestEntries {
  /** Buffer into which the next entry is written; `added` must be called when it is complete. */
  readonly next = new LineBuffer();
  #chunks: Chunk[] = [];
  #end = 0;
  /** Id line of the entry before the oldest one. */
  #before: string;

  constructor(before: string) {
    this.#before = before;
  }

  /** Position of the oldest entry. */
  get first(): number {
    return this.#chunks[0]?.start ?? this.#end;
  }

  /** Position of the next entry. */
  get end(): number {
    this.#move();
    return this.#end;
  }

  /** Id line of the latest entry, or the line given to `clear` or the constructor if there is none. */
  get latest(): string {
    this.#move();
    const chunk = this.#chunks.at(-1);
    return chunk === undefined ? this.#before : lastIdIn(chunk);
  }

  added(): void {
    if (this.next.length >= CHUNK) this.#move();
  }

  #move(): void {
    const { length, bytes } = this.next;
    if (length === 0) return;
    // Not from a pool, because a small chunk would hold all of the pool.
    const copy = Buffer.allocUnsafeSlow(length);
    copy.set(bytes);
    this.#chunks.push({ bytes: copy, start: this.#end });
    this.#end += length;
    this.next.clear();
    while (this.#chunks.length > 1 && this.#end - this.first > MAX_BUFFERED) {
      this.#before = lastIdIn(this.#chunks.shift() as Chunk);
    }
  }

  /** Discards all entries. No earlier position can be read any more. */
  clear(before: string): void {
    this.#chunks = [];
    this.next.clear();
    this.#end += 1;
    this.#before = before;
  }

  /** Returns the position after the latest entry whose id line has one of these prefixes; null if none has. */
  positionAfter(idPrefixes: readonly string[]): number | null {
    this.#move();
    for (const { bytes, start } of this.#chunks.toReversed()) {
      for (const prefix of idPrefixes) {
        const found = bytes.lastIndexOf(`\n${prefix}`);
        const isFirst = found < 0 && bytes.toString("latin1", 0, prefix.length) === prefix;
        if (found >= 0 || isFirst) return start + bytes.indexOf("\n\n", found + 1) + 2;
      }
    }
    return idPrefixes.some((prefix) => this.#before.startsWith(prefix)) ? this.first : null;
  }

  /** Returns bytes from one position up to another, or up to the end of the chunk if that is earlier. */
  read(from: number, to: number): Uint8Array {
    const { bytes, start } = this.#chunks.findLast((chunk) => chunk.start <= from) as Chunk;
    return bytes.subarray(from - start, to - start);
  }
}

/** Returns the id line of the latest entry of a chunk. */
function lastIdIn({ bytes }: Chunk): string {
  const start = bytes.lastIndexOf("\nid: ") + 1;
  return bytes.toString("latin1", start, bytes.indexOf("\n", start) + 1);
}

// Entries of the live feed in the format of `GET /sim/stream`.

const MAX_PATH = 200;
/** Suffix of the ids of entries that are replayed from the start of the session. */
const HISTORY_SUFFIX = "-start";

/** Returns the id line of the latest command of a replayed exchange. */
export const idLineOf = ({ sequence, shortHash }: Exchange): string =>
  `id: ${sequence}-${hex8(shortHash)}${HISTORY_SUFFIX}\n`;

/** Replays a session on `exchange` and writes an entry for each of its commands and refusals. Yields each id line. */
export function* putHistory(
  buffer: LineBuffer,
  exchange: Exchange,
  entries: readonly Accepted[],
  refused: readonly RefusedEntry[],
): Generator<string> {
  let count = 0;
  for (const each of withRefused(entries, refused)) {
    if ("request" in each) {
      count += 1;
      const id = `${each.sequence}.${count}-${hex8(exchange.shortHash)}${HISTORY_SUFFIX}`;
      putEntry(buffer, id, "refused", each.at, JSON.stringify(each.request));
      yield `id: ${id}\n`;
    } else {
      count = 0;
      const decision = exchange.replay(each);
      putCommand(buffer, each, exchange.shortHash, true, eventHash(decision.ok ? decision.events : []));
      yield idLineOf(exchange);
    }
  }
}

// Command entries are written from prepared bytes, because there is one for every order.

const ID = fixedText("id: ");
const DASH = fixedText("-");
const HISTORY_SUFFIX_TEXT = fixedText(HISTORY_SUFFIX);
const COMMAND = fixedText('\nevent: command\ndata: {"s":');
const TIME = fixedText(',"t":');
const KIND = fixedText(',"k":"');
const DATA = fixedText('","d":');
const ORDER = fixedText(',"k":"placeOrder","d":{"address":"');
const TOKEN = fixedText('","tokenId":"');
const SIDE = { BUY: fixedText('","side":"BUY","price":'), SELL: fixedText('","side":"SELL","price":') };
const SIZE = fixedText(',"size":');
const EXPIRATION = Object.fromEntries(
  ORDER_TYPES.map((type) => [type, fixedText(`,"orderType":"${type}","expiration":`)]),
) as Readonly<Record<OrderType, FixedText>>;
const NULL = fixedText("null");
const END_OF_ORDER = fixedText("}");
const RESULT = fixedText(',"r":"');
const END = fixedText('"}\n\n');

/**
 * Writes an accepted command with all its fields. Its id ends with `history`, the hash of the history, and a suffix if
 * `isReplayed`. `resultHash` is the hash of its events.
 */
export function putCommand(
  buffer: LineBuffer,
  { sequence, at, command }: Accepted,
  history: number,
  isReplayed: boolean,
  resultHash: number,
): void {
  buffer.reserve();
  buffer.put(ID);
  buffer.putInteger(sequence);
  buffer.put(DASH);
  buffer.putHex(history);
  if (isReplayed) buffer.put(HISTORY_SUFFIX_TEXT);
  buffer.put(COMMAND);
  buffer.putInteger(sequence);
  buffer.put(TIME);
  buffer.putInteger(at);
  if (command.kind === "placeOrder" && fitsOrderLine(command)) putOrder(buffer, command);
  else {
    const { kind, ...data } = command;
    buffer.put(KIND);
    buffer.putText(kind);
    buffer.put(DATA);
    buffer.putText(JSON.stringify(data));
    buffer.reserve();
  }
  buffer.put(RESULT);
  buffer.putHex(resultHash);
  buffer.put(END);
}

/** Writes an accepted order; its texts need no escapes. */
function putOrder(buffer: LineBuffer, command: CommandOf<"placeOrder">): void {
  buffer.put(ORDER);
  buffer.putAscii(command.address);
  buffer.put(TOKEN);
  buffer.putAscii(command.tokenId);
  buffer.put(SIDE[command.side]);
  buffer.putInteger(command.price);
  buffer.put(SIZE);
  buffer.putInteger(command.size);
  buffer.put(EXPIRATION[command.orderType]);
  if (command.expiration === null) buffer.put(NULL);
  else buffer.putInteger(command.expiration);
  buffer.put(END_OF_ORDER);
}

export function putEntry(buffer: LineBuffer, id: string, kind: EntryKind, t: Millis, data: string): void {
  buffer.putText(`id: ${id}\nevent: ${kind}\ndata: {"t":${t},"d":${data}}\n\n`);
}

export function requestText(
  { requestId, method, arrivedAt, fault, caller, firstCommand, lastCommand }: RequestInfo,
  path: string,
  status: number,
  code: string | undefined,
): string {
  const ms = Math.round((performance.now() - arrivedAt) * 1_000) / 1_000;
  const first = Math.min(firstCommand, lastCommand + 1);
  const optional = { code, fault: fault?.ids, caller: caller || undefined };
  const request: { readonly [Field in keyof StreamRequest]: StreamRequest[Field] | undefined } = {
    ...{ requestId, method, path: path.slice(0, MAX_PATH), status, ms, ...optional },
    ...{ first, last: lastCommand },
  };
  return JSON.stringify(request);
}
