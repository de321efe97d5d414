import type { YAMLMap, YAMLSeq } from "yaml";
import { counted, listed } from "../../core/format.ts";
import { countAtMost } from "../../core/table.ts";
import { nearest } from "../../nearest.ts";
import { shown } from "../../simulation/flow.ts";

/** A position in a file; lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Problem {
  readonly place: Place;
  readonly message: string;
  /** The nearest valid word, or what to do. */
  readonly hint: string | null;
  /** The step of the scenario that includes the file; absent in the scenario's own file. */
  readonly includedFrom?: Place;
}

/** A file that is not a valid scenario, with the problems in it and in the files it includes, at most 20. */
export interface WrongFile {
  /** As the user named it. */
  readonly file: string;
  readonly problems: readonly Problem[];
}

/** `file:line:column`, which editors and terminals turn into a link. */
export const placeText = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;

export const sentenceOf = ({ message, hint, includedFrom }: Omit<Problem, "place">): string => {
  const sentence = hint === null ? message : `${message} (${hint})`;
  return includedFrom === undefined ? sentence : `${sentence}, included from ${placeText(includedFrom)}`;
};

export const problemText = (problem: Problem): string =>
  `${placeText(problem.place)}: ${sentenceOf(problem)}`;

export function wrongFilesText(wrong: readonly WrongFile[]): string {
  const problems = wrong.reduce((sum, file) => sum + file.problems.length, 0);
  return `${counted(problems, "problem")} in ${counted(wrong.length, "file")}, nothing was run`;
}

export const MAX_PROBLEMS = 20;

/** The problems found so far. Only the first of a place is kept, because later ones mostly follow from it. */
export class ProblemList {
  readonly #problems = new Map<string, Problem>();
  #includedFrom: Place | null = null;

  get isEmpty(): boolean {
    return this.#problems.size === 0;
  }

  get isFull(): boolean {
    return this.#problems.size >= MAX_PROBLEMS;
  }

  add(problem: Problem): void {
    const place = placeText(problem.place);
    if (this.isFull || this.#problems.has(place)) return;
    const from = this.#includedFrom;
    this.#problems.set(place, from === null ? problem : { ...problem, includedFrom: from });
  }

  /** Reads a file that is included at a place; the place in the scenario's own file is part of its problems. */
  including(place: Place, read: () => void): void {
    const outer = this.#includedFrom;
    this.#includedFrom ??= place;
    read();
    this.#includedFrom = outer;
  }

  /** Returns the problems sorted by place: the scenario's file first, other files in the order of their first problem. */
  inOrder(scenario: string): Problem[] {
    const problems = [...this.#problems.values()];
    const files = [...new Set([scenario, ...problems.map(({ place }) => place.file)])];
    return problems.sort(
      ({ place: a }, { place: b }) =>
        files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
    );
  }
}

/** Thrown after a problem is reported that prevents reading a value. One object, because a file may have a million problems. */
export const UNREADABLE: Error = Object.freeze(new Error("reported as a problem of the file"));

/** Returns the result of `read`; undefined if it threw `UNREADABLE`. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error !== UNREADABLE) throw error;
    return undefined;
  }
}

/** Calls several readers. All report their problems before `UNREADABLE` is thrown. */
export function readAll<Values extends readonly unknown[]>(
  ...reads: { readonly [Index in keyof Values]: () => Values[Index] }
): Values {
  const values = reads.map((read) => attempt(() => [read()]));
  if (values.includes(undefined)) throw UNREADABLE;
  return values.flatMap((value) => value ?? []) as unknown as Values;
}

/** A file being read, and the list of its problems. */
export class Page {
  /** As the user named it. */
  readonly file: string;
  /** Absolute. */
  readonly folder: string;
  /** Without a byte order mark, and with line feeds as line ends. */
  readonly text: string;
  /** Start and end offset of each comment, alternating. */
  comments: readonly number[] = [];
  readonly #problems: ProblemList;
  #isSilent = false;
  #lineStarts: readonly number[] | null = null;

  constructor(file: string, folder: string, original: string, problems: ProblemList) {
    this.file = file;
    this.folder = folder;
    this.text = original.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
    this.#problems = problems;
  }

  /** Whether problems are recorded; else hints need not be computed. */
  get isRecording(): boolean {
    return !this.#isSilent && !this.#problems.isFull;
  }

  /** Does the same as `attempt`, but records no problems. */
  attemptSilently<Value>(read: () => Value): Value | undefined {
    this.#isSilent = true;
    const value = attempt(read);
    this.#isSilent = false;
    return value;
  }

  wrong(at: number, message: string, hint: string | null = null): Error {
    if (this.isRecording) this.#problems.add({ place: this.place(at), message, hint });
    return UNREADABLE;
  }

  /** Returns the place of a character; columns count UTF-16 code units, as in editors. */
  place(at: number): Place {
    this.#lineStarts ??= lineStartsOf(this.text);
    const line = countAtMost(this.#lineStarts, at);
    return { file: this.file, line, column: at - (this.#lineStarts[line - 1] ?? 0) + 1 };
  }
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}

/** A word of a file. Methods that report a problem return the error to throw if reading cannot continue. */
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

  /** Its text or kind, for messages. */
  get description(): string {
    return shown(this.text);
  }

  get place(): Place {
    return this.page.place(this.at);
  }

  /** Returns the text; a node that is not a text, or empty, is a problem. */
  textFor(_expected: string): string {
    return this.text;
  }

  wrong(message: string, hint: string | null = null): Error {
    return this.page.wrong(this.at, message, hint);
  }

  /** Reports that something else was expected, with a hint, else with the nearest possible word. */
  unexpected(expected: string, possible: Iterable<string> = [], hint: string | null = null): Error {
    if (!this.page.isRecording) return UNREADABLE;
    const message = `expected ${expected}, found ${this.description}`;
    return this.wrong(message, hint ?? didYouMean(this.text, possible));
  }

  /** Reports an unknown name, with the nearest known one, else with `otherwise` or the known ones as its hint. */
  unknown(what: string, known: Iterable<string>, otherwise: string | null = null, name = this.text): Error {
    if (!this.page.isRecording) return UNREADABLE;
    const names = [...known];
    const others = otherwise ?? (names.length === 0 ? null : `expected ${listed(names)}`);
    return this.wrong(`unknown ${what} ${shown(name)}`, didYouMean(name, names) ?? others);
  }
}

export interface MappingEntry {
  readonly key: Node;
  readonly value: Node;
}

type NodeKind = "text" | "list" | "mapping";
type NodeContent = Partial<Pick<Node, "text" | "isPlain" | "source">> & {
  readonly items?: readonly Node[];
  readonly entries?: readonly MappingEntry[];
};

/** A text without its quotes and with its lines joined, a list, or a mapping whose keys are unique texts. */
export class Node extends Word {
  readonly kind: NodeKind;
  readonly end: number;
  /** Whether it is a text without quotes, so that `null` and `1` are not texts. */
  readonly isPlain: boolean;
  /** Items of a list and entries of a mapping, which have their own places also if an alias leads to this node. */
  readonly own: readonly Node[];
  readonly ownEntries: readonly MappingEntry[];
  /** Number of its nodes, itself included, and of levels below it. */
  readonly nodes: number;
  readonly levels: number;
  /** Offset of the outermost alias through which it was reached. */
  readonly aliasAt: number | undefined = undefined;
  /** Of a list or mapping: the parser's node, whose tokens have the blanks and comments between its items. */
  readonly source: YAMLMap | YAMLSeq | undefined;

  constructor(page: Page, at: number, end: number, kind: NodeKind, content: NodeContent) {
    const { text = "", isPlain = false, items = [], entries = [], source } = content;
    super(page, at, text);
    this.source = source;
    this.kind = kind;
    this.end = end;
    this.isPlain = isPlain;
    this.own = items;
    this.ownEntries = entries;
    const inside = kind === "mapping" ? entries.map(({ value }) => value) : items;
    this.nodes = inside.reduce((sum, { nodes }) => sum + nodes, 1 + entries.length);
    this.levels = inside.reduce((max, { levels }) => Math.max(max, levels + 1), 0);
  }

  /** Its own place, or that of the alias through which it was reached. */
  override get place(): Place {
    return this.page.place(this.aliasAt ?? this.at);
  }

  override get description(): string {
    return this.kind === "text" ? shown(this.text) : `a ${this.kind}`;
  }

  get items(): readonly Node[] {
    return this.own.map((item) => item.viaAlias(this.aliasAt));
  }

  get entries(): readonly MappingEntry[] {
    const { aliasAt } = this;
    if (aliasAt === undefined) return this.ownEntries;
    const via = (node: Node): Node => node.viaAlias(aliasAt);
    return this.ownEntries.map(({ key, value }) => ({ key: via(key), value: via(value) }));
  }

  override textFor(expected: string): string {
    if (this.text === "" || isNothing(this)) throw this.unexpected(expected);
    return this.text;
  }

  viaAlias(aliasAt: number | undefined): Node {
    if (aliasAt === undefined) return this;
    return Object.assign(Object.create(Node.prototype) as Node, this, { aliasAt });
  }
}

/** Whether a node is empty or `null`. */
export const isNothing = (node: Node): boolean => node.isPlain && /^(?:|~|null|Null|NULL)$/.test(node.text);

/** Words of the language, each with the words that newcomers write instead, in capitals. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
  ["BUY", ["BID", "B", "LONG", "BUYS", "BOUGHT"]],
  ["SELL", ["ASK", "OFFER", "S", "SHORT", "SELLS", "SOLD"]],
  ["YES", ["Y"]],
  ["NO", ["N"]],
  ["GTC", ["LIMIT", "LMT"]],
  ["GTD", ["GTT", "DAY"]],
  ["FOK", ["AON"]],
  ["LIVE", ["OPEN", "NEW", "ACTIVE", "RESTING", "PENDING", "PLACED", "PARTIAL", "PARTIALLY_FILLED"]],
  ["MATCHED", ["FILLED", "FULLY_FILLED", "EXECUTED", "DONE", "TRADED", "CLOSED"]],
  ["CANCELED", ["CANCELLED", "CANCEL", "KILLED", "REMOVED"]],
  ["@", ["AT", "FOR", "X", "×", "PRICE"]],
  ["from", ["BY", "AGAINST", "WITH", "VS", "OF", "TO"]],
]);

/** Returns the possible word that another is a synonym of; undefined if it is none. */
export const meantWord = (word: string, possible: Iterable<string>): string | undefined =>
  [...possible].find((each) => SYNONYMS.get(each)?.includes(word.toUpperCase()));

const MAX_WORD_LENGTH = 60;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)$/;

function didYouMean(word: string, possible: Iterable<string>): string | null {
  const words = [...possible];
  const [, key = ""] = /^([^\s:]+):[^ ]/.exec(word) ?? [];
  if (words.includes(key)) return "put a space after the colon";
  if (word === "" || word.length > MAX_WORD_LENGTH) return null;
  const like = meantWord(word, words) ?? nearest(word, words);
  const isUseful = like !== undefined && like !== word && !(NUMBER.test(word) && NUMBER.test(like));
  return isUseful ? meaning(like) : null;
}

export const meaning = (meant: string | null | undefined): string | null =>
  meant == null ? null : `did you mean ${meant}?`;
