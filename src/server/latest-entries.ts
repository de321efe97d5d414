import { Buffer } from "node:buffer";

/** Bytes that are kept for readers that fall behind or come back, and how many of them are forgotten at a time. */
const MAX_KEPT = 8 * 1024 * 1024;
const CHUNK = 128 * 1024;
/** So many entries at most wait to become bytes, and about so many characters of them do together. */
const TAKEN_AT_ONCE = 256;
const WRITTEN_AT_ONCE = 16 * 1024;

/** Whole entries, one behind the other. */
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
  #chunks: Chunk[] = [];
  #first = 0;
  #end = 0;
  /** What makes the texts of entries that are not among the bytes yet: many at a time cost far less. */
  #added: (() => string)[] = [];
  /** The line of the id behind which the oldest comes; the latest entry, or what stands for it. */
  #before: string;
  #last: string;

  constructor(before: string) {
    this.#before = before;
    this.#last = before;
  }

  /** The place of the oldest one. */
  get first(): number {
    return this.#first;
  }

  /** The place of the next. */
  get end(): number {
    this.#take();
    return this.#end;
  }

  /** The line of the id of the latest one. */
  get latest(): string {
    this.#take();
    return this.#last.slice(0, this.#last.indexOf("\n") + 1);
  }

  /** Adds an entry; its text may be made later. */
  add(textOf: () => string): void {
    if (this.#added.push(textOf) >= TAKEN_AT_ONCE) this.#take();
  }

  #take(): void {
    const added = this.#added;
    if (added.length === 0) return;
    this.#added = [];
    let text = "";
    for (const textOf of added) {
      this.#last = textOf();
      text += this.#last;
      if (text.length < WRITTEN_AT_ONCE) continue;
      this.#write(text);
      text = "";
    }
    this.#write(text);
  }

  #write(text: string): void {
    const size = Buffer.byteLength(text);
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.length + size > chunk.bytes.length) chunk = this.#begin(size);
    // Text without a character above ASCII is the same bytes in latin1, which is written faster.
    chunk.bytes.write(text, chunk.length, size === text.length ? "latin1" : "utf8");
    chunk.length += size;
    this.#end += size;
  }

  #begin(size: number): Chunk {
    const chunk = { bytes: Buffer.allocUnsafeSlow(Math.max(CHUNK, size)), start: this.#end, length: 0 };
    this.#chunks.push(chunk);
    while (this.#chunks.length > 1 && this.#end - this.#first > MAX_KEPT - CHUNK) this.#forget();
    return chunk;
  }

  #forget(): void {
    const { bytes, length } = this.#chunks.shift() as Chunk;
    this.#first += length;
    const start = bytes.lastIndexOf("\nid: ", length - 1) + 1;
    this.#before = bytes.toString("latin1", start, bytes.indexOf("\n", start) + 1);
  }

  /** Forgets all: none of the places given so far is reached any more. */
  clear(before: string): void {
    this.#chunks = [];
    this.#added = [];
    this.#end += 1;
    this.#first = this.#end;
    this.#before = before;
    this.#last = before;
  }

  /** The place behind the latest entry that begins with one of these; null when it is not held. */
  behind(beginnings: readonly string[]): number | null {
    this.#take();
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
