import { Buffer } from "node:buffer";
import { LineBuffer } from "../engine/line-buffer.ts";

/** Bytes that are kept for readers that fall behind or come back, and how many of them are forgotten at a time. */
const MAX_KEPT = 8 * 1024 * 1024;
const CHUNK = 64 * 1024;
/** About so many bytes of entries wait until they are moved to the others. */
const MOVED_AT_ONCE = 16 * 1024;

interface Chunk {
  readonly bytes: Buffer;
  /** The place of its first byte. */
  readonly start: number;
  length: number;
}

/**
 * The latest entries of a live feed, each of which begins with the line of its id and ends with an empty one. A place is
 * the number of bytes before it, whatever is forgotten, so that a reader is nothing but a place. They are kept as bytes:
 * as many texts would cost the garbage collector more than all else that is done for them.
 */
export class LatestEntries {
  /** Where the next entry is put; `added` is called when it is whole. */
  readonly next = new LineBuffer();
  #chunks: Chunk[] = [];
  #first = 0;
  #end = 0;
  /** The line of the id behind which the oldest comes. */
  #before: string;

  constructor(before: string) {
    this.#before = before;
  }

  /** The place of the oldest one. */
  get first(): number {
    return this.#first;
  }

  /** The place of the next. */
  get end(): number {
    this.#move();
    return this.#end;
  }

  /** The line of the id of the latest one, or of what stands for it. */
  get latest(): string {
    this.#move();
    const chunk = this.#chunks.at(-1);
    return chunk === undefined ? this.#before : lastIdIn(chunk);
  }

  added(): void {
    if (this.next.length >= MOVED_AT_ONCE) this.#move();
  }

  #move(): void {
    const { length } = this.next;
    if (length === 0) return;
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.length + length > chunk.bytes.length) chunk = this.#begin(length);
    chunk.bytes.set(this.next.bytes, chunk.length);
    chunk.length += length;
    this.#end += length;
    this.next.cut(0);
  }

  #begin(size: number): Chunk {
    const chunk = { bytes: Buffer.allocUnsafeSlow(Math.max(CHUNK, size)), start: this.#end, length: 0 };
    this.#chunks.push(chunk);
    while (this.#chunks.length > 1 && this.#end - this.#first > MAX_KEPT - CHUNK) this.#forget();
    return chunk;
  }

  #forget(): void {
    const chunk = this.#chunks.shift() as Chunk;
    this.#first += chunk.length;
    this.#before = lastIdIn(chunk);
  }

  /** Forgets all: none of the places given so far is reached any more. */
  clear(before: string): void {
    this.#chunks = [];
    this.next.cut(0);
    this.#end += 1;
    this.#first = this.#end;
    this.#before = before;
  }

  /** The place behind the latest entry that begins with one of these; null when it is not held. */
  behind(beginnings: readonly string[]): number | null {
    this.#move();
    for (const { bytes, start, length } of this.#chunks.toReversed()) {
      for (const beginning of beginnings) {
        const found = bytes.subarray(0, length).lastIndexOf(`\n${beginning}`);
        const isFirst = found < 0 && bytes.toString("latin1", 0, beginning.length) === beginning;
        if (found >= 0 || isFirst) return start + bytes.indexOf("\n\n", found + 1) + 2;
      }
    }
    return beginnings.some((beginning) => this.#before.startsWith(beginning)) ? this.#first : null;
  }

  /** The bytes from a place on, as many as lie together before another place. */
  read(from: number, to: number): Uint8Array {
    const { bytes, start, length } = this.#chunks.findLast((chunk) => chunk.start <= from) as Chunk;
    return bytes.subarray(from - start, Math.min(to - start, length));
  }
}

/** The line of the id of the latest entry of a chunk. */
function lastIdIn({ bytes, length }: Chunk): string {
  // What lies behind the entries is whatever the memory held before.
  const start = bytes.subarray(0, length).lastIndexOf("\nid: ") + 1;
  return bytes.toString("latin1", start, bytes.indexOf("\n", start) + 1);
}
