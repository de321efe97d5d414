import { Buffer } from "node:buffer";

/**
 * Text that stands in many lines, as words of four bytes with the first byte lowest: to write or to compare a word costs
 * what a byte costs.
 */
export interface FixedText {
  readonly length: number;
  /** The last word is filled up with zeros. */
  readonly words: Int32Array;
  /** The last four bytes, where there are four. */
  readonly last: number;
}

/** @param text of ASCII. */
export function fixedText(text: string): FixedText {
  const { length } = text;
  const bytes = Buffer.alloc(Math.ceil(length / 4) * 4);
  bytes.write(text, "latin1");
  const words = new Int32Array(bytes.length / 4);
  for (let index = 0; index < words.length; index += 1) words[index] = bytes.readInt32LE(index * 4);
  return { length, words, last: bytes.readInt32LE(Math.max(0, length - 4)) };
}
