import { isAlias, isCollection, isMap, isScalar, type Pair, type YAMLMap, type YAMLSeq } from "yaml";

/** A piece of a text, by its offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

type Tokens = readonly { readonly type: string; readonly offset: number; readonly source: string }[];
interface ItemToken {
  readonly start?: Tokens;
  readonly sep?: Tokens;
  readonly key?: { readonly offset: number } | null;
}

/** Where the items of a list or map stand, each without the space, comments and commas around it. */
export function itemSpans(text: string, collection: YAMLMap | YAMLSeq): Span[] {
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
export function cutsFor(
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
export function without(text: string, cuts: readonly Span[]): string {
  const kept: string[] = [];
  let from = 0;
  for (const { start, end } of [...cuts].sort((a, b) => a.start - b.start)) {
    if (start > from) kept.push(text.slice(from, start));
    from = Math.max(from, end);
  }
  return kept.join("") + text.slice(from);
}

/** How far from the beginning of its line something stands. */
export const columnOf = (text: string, at: number): number => at - lineStart(text, at);

/** A piece of a text with every line behind its first moved to the right, or to the left by less than 0. */
export function shifted(piece: string, by: number): string {
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
