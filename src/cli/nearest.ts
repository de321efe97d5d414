import { distance } from "fastest-levenshtein";

/** `, did you mean --port?` for the candidate that a mistyped word is likely to mean; nothing when there is none. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((one, other) => one.edits - other.edits);
  const best = ranked[0];
  const bearable = Math.max(2, Math.floor(word.length / 3));
  return best !== undefined && best.edits <= bearable ? `, did you mean ${best.candidate}?` : "";
}
