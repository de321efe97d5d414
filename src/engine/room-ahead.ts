import { type DiskFile, writeWhole } from "./disk.ts";

const LEAST = 1 << 14;
const MOST = 1 << 20;
/** Blocks of every file system end at multiples of it. */
const BLOCK = 1 << 12;
const ZEROS = new Uint8Array(MOST + BLOCK);

/**
 * Zeros that stand behind the lines of a file that is brought to the disk after every few of them. Where a file does not
 * grow, the disk has to take in nothing but what was written, which takes half the time.
 */
export class RoomAhead {
  readonly #file: DiskFile;
  /** Where the zeros end; beyond any place when the disk has refused some. */
  #end = 0;

  constructor(file: DiskFile) {
    this.#file = file;
  }

  /** Makes room behind what ends at an offset, when there is none. */
  demand(offset: number): void {
    if (offset < this.#end) return;
    const end = Math.ceil((offset + Math.min(MOST, Math.max(LEAST, offset))) / BLOCK) * BLOCK;
    try {
      writeWhole(this.#file, ZEROS.subarray(0, end - offset), offset);
      this.#end = end;
    } catch {
      // The disk may take lines yet; if not, it says so when they come.
      this.#end = Number.POSITIVE_INFINITY;
    }
  }

  /** Takes it away behind what ends at an offset. */
  giveBack(offset: number): void {
    if (this.#end === 0) return;
    this.#end = 0;
    try {
      this.#file.cut(offset);
    } catch {
      // Whoever opens the file knows the zeros for what they are.
    }
  }
}

/** Whether nothing but zeros stands in a file from an offset on. */
export function isRoom(pieces: Iterable<Uint8Array>): boolean {
  for (const piece of pieces) if (lengthWithoutRoom(piece) > 0) return false;
  return true;
}

/** How many bytes stand before the zeros at the end of some. */
export function lengthWithoutRoom(bytes: Uint8Array): number {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length -= 1;
  return length;
}
