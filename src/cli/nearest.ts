import { nearest } from "../api/nearest.ts";

/** `, did you mean --port?` for the candidate that a mistyped word is likely to mean; nothing when there is none. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const like = nearest(word, candidates);
  return like === undefined ? "" : `, did you mean ${like}?`;
}
