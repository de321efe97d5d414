import { Buffer } from "node:buffer";
import { LineBuffer } from "../engine/journal-codec.ts";

/** Bytes held for readers that are slow or reconnect, and bytes that are discarded at a time. */
const MAX_BUFFERED = 8 * 1024 * 1024;
const CHUNK = 64 * 1024;
/** Bytes of new entries that are moved to the chunks together, approximately. */
const MOVED_AT_ONCE = 16 * 1024;

interface Chunk {
  readonly bytes: Buffer;
  /** Position of its first byte. */
  readonly start: number;
  length: number;
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
  #first = 0;
  #end = 0;
  /** Id line of the entry before the oldest one. */
  #before: string;

  constructor(before: string) {
    this.#before = before;
  }

  /** Position of the oldest entry. */
  get first(): number {
    return this.#first;
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
    while (this.#chunks.length > 1 && this.#end - this.#first > MAX_BUFFERED - CHUNK) this.#discardOldest();
    return chunk;
  }

  #discardOldest(): void {
    const chunk = this.#chunks.shift() as Chunk;
    this.#first += chunk.length;
    this.#before = lastIdIn(chunk);
  }

  /** Discards all entries. No earlier position can be read any more. */
  clear(before: string): void {
    this.#chunks = [];
    this.next.cut(0);
    this.#end += 1;
    this.#first = this.#end;
    this.#before = before;
  }

  /** Returns the position after the latest entry that begins with one of these; null if there is none in the buffer. */
  positionAfter(beginnings: readonly string[]): number | null {
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

  /** Returns bytes from one position up to another, or up to the end of the chunk if that is earlier. */
  read(from: number, to: number): Uint8Array {
    const { bytes, start, length } = this.#chunks.findLast((chunk) => chunk.start <= from) as Chunk;
    return bytes.subarray(from - start, Math.min(to - start, length));
  }
}

/** Returns the id line of the latest entry of a chunk. */
function lastIdIn({ bytes, length }: Chunk): string {
  // The bytes after `length` are uninitialized.
  const start = bytes.subarray(0, length).lastIndexOf("\nid: ") + 1;
  return bytes.toString("latin1", start, bytes.indexOf("\n", start) + 1);
}
