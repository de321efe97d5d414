import { nearest } from "../../api/nearest.ts";
import { shown } from "../flow/flow-error.ts";
import { meantWord } from "./near-misses.ts";
import type { Place } from "./problem.ts";
import type { ProblemList } from "./problem-list.ts";
import type { SourceText } from "./source-text.ts";
import type { Node } from "./yaml-tree.ts";

/** A longer word is no mistyped one. */
const LONGEST_WORD = 60;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)$/;

/** A file that is being read: its text, and where its problems go. Places are offsets in the text. */
export class Page {
  readonly source: SourceText;
  /** Start and end of each comment, one after the other. */
  comments: readonly number[] = [];
  readonly #problems: ProblemList;

  constructor(source: SourceText, problems: ProblemList) {
    this.source = source;
    this.#problems = problems;
  }

  /** Whether problems are still kept; else there is no need to look for hints. */
  get isListening(): boolean {
    return !this.#problems.isFull;
  }

  place(at: number): Place {
    return this.source.placeOf(at);
  }

  /** The place of what stands in the file or came through an alias: then the alias's own. */
  placeOf({ start, aliasAt }: Node): Place {
    return this.place(aliasAt ?? start);
  }

  /** Notes a problem; the answer stands for what cannot be read. */
  wrong(at: number, message: string, hint: string | null = null): null {
    if (this.isListening) this.#problems.add({ place: this.place(at), message, hint });
    return null;
  }

  /** Notes a word that is not as expected, with what was meant: else with the nearest of those that were possible. */
  unexpected(
    at: number,
    expected: string,
    found: string,
    possible: Iterable<string> = [],
    meant: string | null = null,
  ): null {
    if (!this.isListening) return null;
    const hint = meant === null ? didYouMean(found, possible) : `did you mean ${meant}?`;
    return this.wrong(at, `expected ${expected}, found ${shown(found)}`, hint);
  }

  /** Notes a name that nothing has, with the nearest that something has, else with `otherwise`. */
  unknown(
    at: number,
    what: string,
    name: string,
    known: Iterable<string>,
    otherwise: string | null = null,
  ): null {
    if (!this.isListening) return null;
    return this.wrong(at, `unknown ${what} ${shown(name)}`, didYouMean(name, known) ?? otherwise);
  }
}

function didYouMean(word: string, possible: Iterable<string>): string | null {
  if (word === "" || word.length > LONGEST_WORD) return null;
  const words = [...possible];
  const like = meantWord(word, words) ?? nearest(word, words);
  return like === undefined || like === word || (NUMBER.test(word) && NUMBER.test(like))
    ? null
    : `did you mean ${like}?`;
}

/** Several words as a choice: `BUY, SELL or cancel`. */
export const orOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
