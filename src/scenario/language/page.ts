import { nearest } from "../../api/nearest.ts";
import { shown } from "../../simulation/flow-error.ts";
import { meantWord } from "./near-misses.ts";
import type { Place, ProblemList } from "./problem.ts";

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

const BYTE_ORDER_MARK = 0xfeff;

/** A file that is being read: its text without a byte order mark, each line ended by a line feed alone, and where its problems go. */
export class Page {
  /** As the user named it. */
  readonly file: string;
  /** Absolute. */
  readonly folder: string;
  readonly text: string;
  /** Start and end of each comment, one after the other. */
  comments: readonly number[] = [];
  readonly #original: string;
  readonly #problems: ProblemList;
  #isSilent = false;
  #lineStarts: readonly number[] | null = null;
  #removed: readonly number[] | null = null;

  constructor(file: string, folder: string, original: string, problems: ProblemList) {
    const text = original.charCodeAt(0) === BYTE_ORDER_MARK ? original.slice(1) : original;
    this.file = file;
    this.folder = folder;
    this.text = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    this.#original = original;
    this.#problems = problems;
  }

  /** Whether problems are still kept; else there is no need to look for hints. */
  get isListening(): boolean {
    return !this.#isSilent && !this.#problems.isFull;
  }

  /** What `read` answers while nothing is a problem. */
  silently<Value>(read: () => Value): Value {
    const before = this.#isSilent;
    this.#isSilent = true;
    try {
      return read();
    } finally {
      this.#isSilent = before;
    }
  }

  wrong(at: number, message: string, hint: string | null = null): Error {
    if (this.isListening) this.#problems.add({ place: this.place(at), message, hint });
    return UNREADABLE;
  }

  /** Where a character stands; columns count UTF-16 code units, as editors do. */
  place(at: number): Place {
    this.#lineStarts ??= lineStartsOf(this.text);
    const line = countUpTo(this.#lineStarts, at);
    return { file: this.file, line, column: at - (this.#lineStarts[line - 1] ?? 0) + 1 };
  }

  /** Where a character stands in the file itself, in UTF-16 code units from its start. */
  originalOffset(at: number): number {
    if (this.#original.length === this.text.length) return at;
    this.#removed ??= removedFrom(this.#original);
    return at + countUpTo(this.#removed, at);
  }
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}

/** For each character that was left out, the offset in the text of what followed it. */
function removedFrom(original: string): number[] {
  const removed = original.charCodeAt(0) === BYTE_ORDER_MARK ? [0] : [];
  for (let at = original.indexOf("\r\n"); at >= 0; at = original.indexOf("\r\n", at + 2)) {
    removed.push(at - removed.length);
  }
  return removed;
}

export function countUpTo(rising: readonly number[], bound: number): number {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rising[middle] as number) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A word that stands somewhere in a file. Every method that notes a problem answers what to throw where the reader cannot go on. */
export class Word {
  readonly page: Page;
  /** Offset in the text of its page. */
  readonly at: number;
  readonly text: string;

  constructor(page: Page, at: number, text: string) {
    this.page = page;
    this.at = at;
    this.text = text;
  }

  /** What stands there, as a sentence names it. */
  get said(): string {
    return shown(this.text);
  }

  get place(): Place {
    return this.page.place(this.at);
  }

  /** The text of what must be one that says something. */
  textFor(_expected: string): string {
    return this.text;
  }

  wrong(message: string, hint: string | null = null): Error {
    return this.page.wrong(this.at, message, hint);
  }

  /** Notes that it is not as expected: with a hint, else with the nearest of the words that were possible. */
  unexpected(expected: string, possible: Iterable<string> = [], hint: string | null = null): Error {
    if (!this.page.isListening) return UNREADABLE;
    return this.wrong(`expected ${expected}, found ${this.said}`, hint ?? didYouMean(this.text, possible));
  }

  /** Notes a name that nothing has, with the nearest that something has, else with `otherwise`. */
  unknown(
    what: string,
    known: Iterable<string>,
    otherwise: string | null = null,
    name: string = this.text,
  ): Error {
    if (!this.page.isListening) return UNREADABLE;
    return this.wrong(`unknown ${what} ${shown(name)}`, didYouMean(name, known) ?? otherwise);
  }
}

export type Node = TextNode | ListNode | MappingNode;

abstract class AnyNode extends Word {
  abstract readonly kind: "text" | "list" | "mapping";
  readonly end: number;
  /** How many nodes it is made of, and how many levels of them stand below it. */
  nodes = 1;
  levels = 0;
  /** Where the alias stands through which it came, the outermost of several. */
  readonly aliasAt: number | undefined = undefined;

  constructor(page: Page, at: number, end: number, text = "") {
    super(page, at, text);
    this.end = end;
  }

  /** Its own, or that of the alias through which it came. */
  override get place(): Place {
    return this.page.place(this.aliasAt ?? this.at);
  }

  override get said(): string {
    return `a ${this.kind}`;
  }

  override textFor(expected: string): string {
    throw this.unexpected(expected);
  }

  through(aliasAt: number | undefined): this {
    if (aliasAt === undefined) return this;
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, { aliasAt });
  }
}

/** A text without its quotes and with lines joined. */
export class TextNode extends AnyNode {
  readonly kind = "text";
  /** Whether it stands without quotes, so that `null` means nothing and `1` a number. */
  readonly isPlain: boolean;

  constructor(page: Page, at: number, end: number, text: string, isPlain: boolean) {
    super(page, at, end, text);
    this.isPlain = isPlain;
  }

  override get said(): string {
    return shown(this.text);
  }

  override textFor(expected: string): string {
    if (this.text === "" || isNothing(this)) throw this.unexpected(expected);
    return this.text;
  }
}

export class ListNode extends AnyNode {
  readonly kind = "list";
  readonly own: readonly Node[];

  constructor(page: Page, at: number, end: number, own: readonly Node[]) {
    super(page, at, end);
    this.own = own;
    for (const { nodes, levels } of own) {
      this.nodes += nodes;
      this.levels = Math.max(this.levels, levels + 1);
    }
  }

  /** They know of the alias through which the list came. */
  get items(): readonly Node[] {
    return this.aliasAt === undefined ? this.own : this.own.map((item) => item.through(this.aliasAt));
  }
}

export interface Entry {
  readonly key: TextNode;
  readonly value: Node;
}

/** Entries in the order of the file; no two have the same key. */
export class MappingNode extends AnyNode {
  readonly kind = "mapping";
  readonly own: readonly Entry[];

  constructor(page: Page, at: number, end: number, own: readonly Entry[]) {
    super(page, at, end);
    this.own = own;
    for (const { value } of own) {
      this.nodes += value.nodes + 1;
      this.levels = Math.max(this.levels, value.levels + 1);
    }
  }

  get entries(): readonly Entry[] {
    const { aliasAt, own } = this;
    if (aliasAt === undefined) return own;
    return own.map(({ key, value }) => ({ key: key.through(aliasAt), value: value.through(aliasAt) }));
  }
}

/** Whether nothing stands there, or `null`. */
export const isNothing = (node: Node): boolean =>
  node.kind === "text" && node.isPlain && /^(?:|~|null|Null|NULL)$/.test(node.text);

const MAX_WORD_LENGTH = 60;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)$/;

function didYouMean(word: string, possible: Iterable<string>): string | null {
  if (word === "" || word.length > MAX_WORD_LENGTH) return null;
  const words = [...possible];
  const like = meantWord(word, words) ?? nearest(word, words);
  const isOfUse = like !== undefined && like !== word && !(NUMBER.test(word) && NUMBER.test(like));
  return isOfUse ? meaning(like) : null;
}

export const meaning = (meant: string | null | undefined): string | null =>
  meant == null ? null : `did you mean ${meant}?`;
