import { distance } from "fastest-levenshtein";

/** Returns the candidate most similar to a mistyped word, among equals one with the same letters; undefined if none is similar. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  const letters = lettersOf(word);
  let fewest = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
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
