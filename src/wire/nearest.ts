import { distance } from "fastest-levenshtein";

/** The candidate most like a mistyped word, of equally like ones one of the same letters; undefined when none is like it. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  const letters = lettersOf(word);
  let fewest = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    const isBetter = edits === fewest && best !== undefined && lettersOf(best) !== letters;
    if (edits < fewest || (isBetter && lettersOf(candidate) === letters)) {
      best = candidate;
      fewest = edits;
    }
  }
  return best;
}

const lettersOf = (word: string): string => [...word.toLowerCase()].sort().join("");

const SHOWN = 5;
const MAX_NAME = 60;

/** What `x-sim-warning` says of names that are ignored; safe in a header whatever the names hold. */
export function unknownFieldsWarning(unknown: readonly string[], known: readonly string[]): string {
  const sentences = unknown.slice(0, SHOWN).map((name) => {
    const like = name.length > MAX_NAME ? undefined : nearest(name, known);
    const field = `unknown field ${quoted(name)}`;
    return like === undefined ? field : `${field}, did you mean ${quoted(like)}?`;
  });
  if (unknown.length > SHOWN) sentences.push(`and ${unknown.length - SHOWN} more`);
  return sentences.join("; ");
}

const quoted = (name: string): string =>
  JSON.stringify(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}...` : name).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
