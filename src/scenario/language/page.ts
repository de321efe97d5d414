import { nearest } from "../../api/nearest.ts";
import { shown } from "../../simulation/flow-error.ts";
import { meantWord } from "./near-misses.ts";
import type { Place, ProblemList } from "./problem.ts";
import type { SourceText } from "./source-text.ts";

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

/** Collections may stand in one another so deep. */
export const MAX_LEVELS = 32;

/** A node whose parts know that they came through the alias through which it came. */
export function aliasedThrough<Of extends Node>(node: Of): Of;
export function aliasedThrough(node: Node): Node {
  const { aliasAt } = node;
  if (aliasAt === undefined || node.kind === "text") return node;
  if (node.kind === "list") return { ...node, items: node.items.map((item) => ({ ...item, aliasAt })) };
  const entries = node.entries.map(({ key, value }) => ({
    key: { ...key, aliasAt },
    value: { ...value, aliasAt },
  }));
  return { ...node, entries };
}

/** Whether nothing stands there, or `null`. */
export const isNothing = (node: Node): boolean =>
  node.kind === "text" && node.isPlain && /^(?:|~|null|Null|NULL)$/.test(node.value);
