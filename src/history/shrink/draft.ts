import {
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";

/**
 * What a part of a scenario is; `keep` has parts that may go, and never goes itself. A `line` of a list that is compared
 * as a whole goes only with what it is of.
 */
type PartKind = "step" | "expectation" | "line" | "header" | "account" | "market" | "keep";

/** A part of a scenario's text that can go on its own. */
export interface Part {
  readonly kind: PartKind;
  /** Its key, where it has one: `bid` of `orders: { bid: LIVE 0/1 }`. */
  readonly name: string;
  readonly span: Span;
  /** What is written there, and how far from the left. */
  readonly text: string;
  readonly column: number;
  readonly parent: Part | null;
  readonly children: readonly Part[];
  readonly collection: YAMLMap | YAMLSeq;
  readonly index: number;
  /** Of its value, or of itself in a list. */
  readonly node: unknown;
}

/** The part directly within another that has a name. */
export const childOf = (part: Part | undefined, name: string): Part | undefined =>
  part?.children.find((child) => child.name === name);

/** A part and all parts within it, outer before inner. */
export const withParts = (part: Part): Part[] => [part, ...part.children.flatMap(withParts)];

/** What a step says without its dash, as it would stand behind another dash so far from the left. */
export function bodyAt(step: Part, column: number): string {
  const whole = step.text.trimEnd();
  const dash = step.collection.flow === true ? 0 : (/^-\s+/.exec(whole)?.[0].length ?? 0);
  return shifted(whole.slice(dash), column + 2 - (step.column + dash));
}

/** What beside a step's head says what must be true of it. */
const OWN: ReadonlySet<string> = new Set(["status", "fills", "after"]);
/** Lists that are compared as a whole. */
const LISTS: ReadonlySet<string> = new Set(["fills", "trades", "bids", "asks"]);
const KEEP: ReadonlySet<string> = new Set(["scenario", "about", "steps", "world"]);
const OPTIONS = { schema: "failsafe", uniqueKeys: false, keepSourceTokens: true } as const;

/** The text of a scenario with all parts that could be left out of it. */
export class Draft {
  readonly text: string;
  /** Its steps in order, each with its expectations and, of a race, with its own steps. */
  readonly steps: readonly Part[];
  /** What stands beside the steps, in order. */
  readonly headers: readonly Part[];
  readonly #spans = new Map<YAMLMap | YAMLSeq, readonly Span[]>();

  constructor(text: string) {
    this.text = text;
    const { contents } = parseDocument(text, OPTIONS);
    const pairs = isMap(contents) ? this.#pairs(contents, null, kindOfHeader) : [];
    this.headers = pairs;
    this.steps = pairs.find(({ name }) => name === "steps")?.children ?? [];
  }

  /** The text without some parts. */
  without(gone: ReadonlySet<Part>): string {
    const all = emptied(gone);
    const byCollection = new Map<YAMLMap | YAMLSeq, Set<number>>();
    for (const { collection, index } of all) {
      const indices = byCollection.get(collection) ?? new Set();
      byCollection.set(collection, indices.add(index));
    }
    const cuts = [...byCollection].flatMap(([collection, indices]) =>
      cutsFor(this.text, collection, this.#spansOf(collection), (index) => indices.has(index)),
    );
    return without(this.text, cuts);
  }

  /**
   * What puts other steps in the place of one: steps of this text or another, or what stands behind a dash there. Null
   * where it stands in brackets.
   */
  instead({ collection, span, column }: Part, steps: readonly (Part | string)[]): Replacement | null {
    if (collection.flow === true) return null;
    const bodies = steps.map((step) => `- ${typeof step === "string" ? step : bodyAt(step, column)}`);
    const end = this.text[span.end - 1] === "\n" ? span.end - 1 : span.end;
    return { start: span.start, end, by: bodies.join(`\n${" ".repeat(column)}`) };
  }

  /** The text with other pieces in the places of some of its own. */
  with(replacements: readonly Replacement[]): string {
    return [...replacements]
      .sort((a, b) => b.start - a.start)
      .reduce((text, { start, end, by }) => text.slice(0, start) + by + text.slice(end), this.text);
  }

  #spansOf(collection: YAMLMap | YAMLSeq): readonly Span[] {
    let spans = this.#spans.get(collection);
    if (spans === undefined) {
      spans = itemSpans(this.text, collection);
      this.#spans.set(collection, spans);
    }
    return spans;
  }

  /** The entries of a map, of those kinds that `kindOf` tells by their names; null leaves one out. */
  #pairs(map: YAMLMap, parent: Part | null, kindOf: (name: string) => PartKind | null): Part[] {
    return map.items.flatMap((pair, index) => {
      const name = nameOf(pair);
      const kind = kindOf(name);
      return kind === null ? [] : this.#part(map, index, kind, parent, name, pair.value);
    });
  }

  #part(
    collection: YAMLMap | YAMLSeq,
    index: number,
    kind: PartKind,
    parent: Part | null,
    name: string,
    node: unknown,
  ): Part {
    const span = this.#spansOf(collection)[index] as Span;
    const children: Part[] = [];
    const text = this.text.slice(span.start, span.end);
    const column = columnOf(this.text, span.start);
    const part: Part = { kind, name, span, text, column, parent, children, collection, index, node };
    children.push(...this.#childrenOf(part));
    return part;
  }

  #childrenOf(part: Part): Part[] {
    const { kind, name, node, parent } = part;
    if (kind === "step") return isMap(node) ? this.#insideStep(part, node) : [];
    if (kind === "keep" && (name === "steps" || name === "race")) return this.#itemsOf(node, part, "step");
    if (kind === "expectation" && LISTS.has(name)) return this.#itemsOf(node, part, "line");
    if (!isMap(node)) return [];
    if (kind === "expectation" || (kind === "keep" && parent !== null)) {
      return this.#pairs(node, part, () => "expectation");
    }
    if (name === "accounts" || name === "markets") {
      return this.#pairs(node, part, () => (name === "accounts" ? "account" : "market"));
    }
    return this.#pairs(node, part, () => "header");
  }

  #insideStep(step: Part, map: YAMLMap): Part[] {
    return this.#pairs(map, step, (name) => {
      if (name === "expect" || name === "race" || name === "steps") return "keep";
      return OWN.has(name) ? "expectation" : null;
    });
  }

  #itemsOf(list: unknown, parent: Part, kind: "step" | "line"): Part[] {
    if (!isSeq(list)) return [];
    return list.items.map((item, index) => this.#part(list, index, kind, parent, "", item));
  }
}

const kindOfHeader = (name: string): PartKind => (KEEP.has(name) ? "keep" : "header");

const nameOf = (pair: Pair): string => (isPair(pair) && isScalar(pair.key) ? String(pair.key.value) : "");

/** The parts that go with some: those of which nothing is left, for the language knows no empty expectation. */
function emptied(gone: ReadonlySet<Part>): ReadonlySet<Part> {
  const all = new Set(gone);
  for (const part of all) {
    const { parent } = part;
    if (parent === null || part.kind !== "expectation") continue;
    if (!parent.children.every((child) => all.has(child))) continue;
    if (parent.kind === "expectation") all.add(parent);
    else if (parent.kind === "keep" && parent.parent?.kind === "step") all.add(parent.parent);
  }
  return all;
}

/** A piece of a text, by its offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A piece of a text with what is to stand there. */
export interface Replacement extends Span {
  readonly by: string;
}

type Tokens = readonly { readonly type: string; readonly offset: number; readonly source: string }[];
interface ItemToken {
  readonly start?: Tokens;
  readonly sep?: Tokens;
  readonly key?: { readonly offset: number } | null;
}

/** Where the items of a list or map stand, each without the space, comments and commas around it. */
function itemSpans(text: string, collection: YAMLMap | YAMLSeq): Span[] {
  const dashes = collection.flow === true || isMap(collection) ? null : dashesOf(collection);
  return collection.items.map((item, index) => {
    if (isMap(collection)) return pairSpan(text, item as Pair);
    const start = dashes?.[index] ?? startOf(text, item);
    return { start, end: Math.max(endOf(item) ?? start + 1, start + 1) };
  });
}

/**
 * What must go from a text for some items of a list or map to go: whole lines with the comments directly above and
 * beside them, or within brackets the item with one of the commas around it. Not all of its items may go.
 */
function cutsFor(
  text: string,
  collection: YAMLMap | YAMLSeq,
  spans: readonly Span[],
  isGone: (index: number) => boolean,
): Span[] {
  const cuts: Span[] = [];
  let hasKept = false;
  for (const [index, span] of spans.entries()) {
    if (!isGone(index)) {
      hasKept = true;
      continue;
    }
    const next = spans[index + 1];
    if (collection.flow === true) cuts.push(flowCut(text, span, spans[index - 1], next, hasKept));
    else if (isFirstOnLine(text, span.start)) cuts.push(linesOf(text, span));
    else cuts.push({ start: span.start, end: next?.start ?? span.end });
  }
  return cuts;
}

/** A text without some pieces of it, which may overlap. */
function without(text: string, cuts: readonly Span[]): string {
  const kept: string[] = [];
  let from = 0;
  for (const { start, end } of [...cuts].sort((a, b) => a.start - b.start)) {
    if (start > from) kept.push(text.slice(from, start));
    from = Math.max(from, end);
  }
  return kept.join("") + text.slice(from);
}

/** How far from the beginning of its line something stands. */
const columnOf = (text: string, at: number): number => at - lineStart(text, at);

/** A piece of a text with every line behind its first moved to the right, or to the left by less than 0. */
function shifted(piece: string, by: number): string {
  const [first = "", ...more] = piece.split("\n");
  const moved = more.map((line) => {
    if (line.trim() === "") return line;
    if (by >= 0) return " ".repeat(by) + line;
    return line.slice(Math.min(-by, line.length - line.trimStart().length));
  });
  return [first, ...moved].join("\n");
}

function pairSpan(text: string, pair: Pair): Span {
  const { sep = [] } = (pair.srcToken ?? {}) as ItemToken;
  const start = startOf(text, pair.key);
  const colon = sep.find(({ type }) => type === "map-value-ind");
  const least = colon === undefined ? (endOf(pair.key) ?? start) : colon.offset + 1;
  return { start, end: Math.max(endOf(pair.value) ?? least, least) };
}

/** Of a list in block style: the offset of each item's dash. */
function dashesOf(list: YAMLSeq): number[] {
  const { items = [] } = (list.srcToken ?? {}) as { readonly items?: readonly ItemToken[] };
  return items.flatMap(({ start = [] }) => start.find(({ type }) => type === "seq-item-ind")?.offset ?? []);
}

function startOf(text: string, node: unknown): number {
  if (!isScalar(node) && !isCollection(node) && !isAlias(node)) return 0;
  const start = node.range?.[0] ?? 0;
  if (isAlias(node) || node.anchor === undefined) return start;
  return Math.max(0, text.lastIndexOf(`&${node.anchor}`, start));
}

/** Where the last word of a node ends; null of nothing. */
function endOf(node: unknown): number | null {
  if (isCollection(node) && node.flow !== true) {
    const last: unknown = node.items.at(-1);
    if (last === undefined) return node.range?.[1] ?? null;
    return isMap(node) ? pairSpan("", last as Pair).end : endOf(last);
  }
  if (!isScalar(node) && !isCollection(node) && !isAlias(node)) return null;
  const [start = 0, end = start] = node.range ?? [];
  return end === start ? null : end;
}

const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

/** Where the next line begins. */
function nextLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

const isFirstOnLine = (text: string, at: number): boolean =>
  text.slice(lineStart(text, at), at).trim() === "";

/** The lines of an item in block style, with the comments that belong to it: above at its own depth, below it deeper. */
function linesOf(text: string, { start: first, end: last }: Span): Span {
  const column = columnOf(text, first);
  let start = lineStart(text, first);
  while (start > 0) {
    const above = lineStart(text, start - 1);
    if (commentColumn(text, above) !== column) break;
    start = above;
  }
  // A text of several lines ends with the last of them.
  let end = text[last - 1] === "\n" ? last : nextLine(text, last);
  while (end < text.length) {
    const below = commentColumn(text, end);
    if (below === null || below <= column) break;
    end = nextLine(text, end);
  }
  return { start, end };
}

/** Where the comment of a line that holds nothing else begins; null of any other line. */
function commentColumn(text: string, line: number): number | null {
  const found = /^ *#/.exec(text.slice(line, nextLine(text, line)));
  return found === null ? null : found[0].length - 1;
}

/** Of an item in brackets: it and the comma before it, or the comma or blanks behind it where nothing before it is left. */
function flowCut(
  text: string,
  span: Span,
  before: Span | undefined,
  next: Span | undefined,
  hasKept: boolean,
): Span {
  if (hasKept && before !== undefined) return { start: before.end, end: span.end };
  if (next !== undefined) return { start: span.start, end: next.start };
  const comma = /^\s*,|^ +(?=[}\]])/.exec(text.slice(span.end))?.[0].length ?? 0;
  return { start: span.start, end: span.end + comma };
}
