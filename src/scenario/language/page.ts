import { nearest } from "../../api/nearest.ts";
import { shown } from "../../simulation/flow-error.ts";
import { meantWord } from "./near-misses.ts";
import type { Place, ProblemList } from "./problem.ts";
import type { SourceText } from "./source-text.ts";

/** What a file consists of; `start` and `end` are offsets in its text. */
export type Node = TextNode | ListNode | MappingNode;

interface NodeBase {
  readonly start: number;
  readonly end: number;
  /** Where the alias stands through which it came, the outermost of several. */
  readonly aliasAt?: number;
}

export interface TextNode extends NodeBase {
  readonly kind: "text";
  /** What it says, without quotes and with lines joined. */
  readonly value: string;
  /** Whether it stands without quotes, so that `null` means nothing and `1` a number. */
  readonly isPlain: boolean;
}

interface ListNode extends NodeBase {
  readonly kind: "list";
  readonly items: readonly Node[];
}

export interface MappingNode extends NodeBase {
  readonly kind: "mapping";
  /** In the order of the file; no two have the same key. */
  readonly entries: readonly Entry[];
}

export interface Entry {
  readonly key: TextNode;
  readonly value: Node;
}

/** Whether nothing stands there, or `null`. */
export const isNothing = (node: Node): boolean =>
  node.kind === "text" && node.isPlain && /^(?:|~|null|Null|NULL)$/.test(node.value);

/** Thrown once a problem is noted: what stands there cannot be read. One object, since a file may have a million problems. */
export const UNREADABLE: Error = Object.freeze(new Error("noted as a problem of the file"));

/** What `read` answers; undefined where it noted a problem and gave up. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error !== UNREADABLE) throw error;
    return undefined;
  }
}

/** What several readers answer; all of them note what is wrong before one problem ends the reading. */
export function all<Values extends readonly unknown[]>(
  ...reads: { readonly [Index in keyof Values]: () => Values[Index] }
): Values {
  const values = reads.map((read) => attempt(() => [read()]));
  if (values.includes(undefined)) throw UNREADABLE;
  return values.flatMap((value) => value ?? []) as unknown as Values;
}

const MAX_WORD_LENGTH = 60;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)$/;

/**
 * A file that is being read: its text, and where its problems go. Places are offsets in the text. Every method that notes
 * a problem answers what to throw where the reader cannot go on.
 */
export class Page {
  readonly source: SourceText;
  /** Start and end of each comment, one after the other. */
  comments: readonly number[] = [];
  readonly #problems: ProblemList | null;

  /** Without a list the page notes nothing. */
  constructor(source: SourceText, problems: ProblemList | null) {
    this.source = source;
    this.#problems = problems;
  }

  /** Whether problems are still kept; else there is no need to look for hints. */
  get isListening(): boolean {
    return this.#problems !== null && !this.#problems.isFull;
  }

  /** The same text, where nothing is a problem. */
  silent(): Page {
    return new Page(this.source, null);
  }

  place(at: number): Place {
    return this.source.placeOf(at);
  }

  /** The place of what stands in the file or came through an alias: then the alias's own. */
  placeOf({ start, aliasAt }: Node): Place {
    return this.place(aliasAt ?? start);
  }

  wrong(at: number, message: string, hint: string | null = null): Error {
    if (this.isListening) this.#problems?.add({ place: this.place(at), message, hint });
    return UNREADABLE;
  }

  /** Notes a word that is not as expected, with what was meant: else with the nearest of those that were possible. */
  unexpected(
    at: number,
    expected: string,
    found: string,
    possible: Iterable<string> = [],
    meant: string | null = null,
  ): Error {
    if (!this.isListening) return UNREADABLE;
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
  ): Error {
    if (!this.isListening) return UNREADABLE;
    return this.wrong(at, `unknown ${what} ${shown(name)}`, didYouMean(name, known) ?? otherwise);
  }
}

function didYouMean(word: string, possible: Iterable<string>): string | null {
  if (word === "" || word.length > MAX_WORD_LENGTH) return null;
  const words = [...possible];
  const like = meantWord(word, words) ?? nearest(word, words);
  const isOfUse = like !== undefined && like !== word && !(NUMBER.test(word) && NUMBER.test(like));
  return isOfUse ? `did you mean ${like}?` : null;
}

/** Several words as a choice: `BUY, SELL or cancel`. */
export const orOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
