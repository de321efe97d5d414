import { distance } from "fastest-levenshtein";
import type { OrderType } from "./core/terms.ts";

/** Returns the order type that another exchange's name (in any case) corresponds to; undefined if none. */
export const meantOrderType = (word: string): OrderType | undefined =>
  /^(?:IOC|MARKET)$/i.test(word) ? "FAK" : undefined;

/** Returns the candidate that another exchange's name stands for, or that is most similar to a mistyped word, among equals one with the same letters; undefined if none is. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  const letters = lettersOf(word);
  const orderType = meantOrderType(word);
  let fewest = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (candidate === orderType) return candidate;
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    // Short words are similar to many that share none of their letters.
    if (edits >= word.length && !candidate.toLowerCase().startsWith(word.toLowerCase())) continue;
    const isBetter = edits === fewest && best !== undefined && lettersOf(best) !== letters;
    if (edits < fewest || (isBetter && lettersOf(candidate) === letters)) {
      best = candidate;
      fewest = edits;
    }
  }
  return best;
}

const lettersOf = (word: string): string => [...word.toLowerCase()].sort().join("");

/** Returns `, did you mean BUY?` for the candidate most similar to a mistyped word; empty if none is similar. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const like = word === "" || word.length > 60 ? undefined : nearest(word, candidates);
  return like === undefined ? "" : `, did you mean ${like}?`;
}
