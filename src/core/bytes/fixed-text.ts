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
  const view = new DataView(new ArrayBuffer(Math.ceil(length / 4) * 4));
  for (let at = 0; at < length; at += 1) view.setUint8(at, text.charCodeAt(at));
  const words = new Int32Array(view.byteLength / 4);
  for (let index = 0; index < words.length; index += 1) words[index] = view.getInt32(index * 4, true);
  return { length, words, last: length < 4 ? 0 : view.getInt32(length - 4, true) };
}
