import {
  CST,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { Place } from "../../scenario/language/problem.ts";

/**
 * What a part of a scenario is; `keep` has parts that may go, and never goes itself. A `line` of a list that is compared
 * as a whole goes only with what it is of.
 */
type PartKind = "step" | "expectation" | "line" | "header" | "account" | "market" | "keep";

/** A part of a scenario's text that can go on its own. */
export interface Part extends Span {
  readonly kind: PartKind;
  /** Its key, where it has one: `bid` of `orders: { bid: LIVE 0/1 }`. */
  readonly name: string;
  /** What is written there, from its dash or key to its last word or comment, and how far from the left. */
  readonly text: string;
  readonly column: number;
  readonly parent: Part | null;
  readonly children: readonly Part[];
  readonly collection: Collection;
  readonly index: number;
  /** Of its value, or of itself in a list. */
  readonly node: unknown;
}

type Collection = YAMLMap | YAMLSeq;

/** A piece of a text, by its offsets. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A piece of a text with what is to stand there. */
export interface Replacement extends Span {
  readonly by: string;
}

/** Where an item of a collection stands: with the comments, blanks and commas before it, and from its own first word. */
interface Item extends Span {
  readonly lead: number;
}

/** The part directly within another that has a name. */
export const childOf = (part: Part | undefined, name: string): Part | undefined =>
  part?.children.find((child) => child.name === name);

/** A part and all parts within it, outer before inner. */
export const withParts = (part: Part): Part[] => [part, ...part.children.flatMap(withParts)];

/** What a step says without its dash, as it would stand behind another dash so far from the left. */
export function bodyAt(step: Part, column: number): string {
  const dash = step.collection.flow === true ? 0 : (/^-\s+/.exec(step.text)?.[0].length ?? 0);
  return shifted(step.text.slice(dash), column + 2 - (step.column + dash));
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
  readonly #items = new Map<Collection, readonly Item[]>();

  constructor(text: string) {
    this.text = text;
    const { contents } = parseDocument(text, OPTIONS);
    const pairs = isMap(contents) ? this.#pairs(contents, null, kindOfHeader) : [];
    this.headers = pairs;
    this.steps = pairs.find(({ name }) => name === "steps")?.children ?? [];
  }

  /** The innermost part that can go where something stands. */
  partAt({ line, column }: Pick<Place, "line" | "column">): Part | undefined {
    let start = 0;
    for (let seen = 1; seen < line; seen += 1) start = this.text.indexOf("\n", start) + 1;
    const at = start + column - 1;
    const parts = this.headers.flatMap(withParts);
    return parts.findLast(({ kind, start, end }) => kind !== "keep" && start <= at && at <= end);
  }

  /** The text without some parts, and without what is left empty then. */
  without(gone: Iterable<Part>): string {
    const indices = new Map<Collection, Set<number>>();
    for (const { collection, index } of emptied(gone)) {
      indices.set(collection, (indices.get(collection) ?? new Set()).add(index));
    }
    const cuts = [...indices].flatMap(([collection, own]) => this.#cutsFor(collection, own));
    const kept: string[] = [];
    let from = 0;
    for (const { start, end } of cuts.sort((a, b) => a.start - b.start)) {
      if (start > from) kept.push(this.text.slice(from, start));
      from = Math.max(from, end);
    }
    return kept.join("") + this.text.slice(from);
  }

  /**
   * What puts other steps in the place of one: steps of this text or another, or what stands behind a dash there. Null
   * where it stands in brackets.
   */
  instead({ collection, start, end, column }: Part, steps: readonly (Part | string)[]): Replacement | null {
    if (collection.flow === true) return null;
    const bodies = steps.map((step) => `- ${typeof step === "string" ? step : bodyAt(step, column)}`);
    return { start, end, by: bodies.join(`\n${" ".repeat(column)}`) };
  }

  /** The text with other pieces in the places of some of its own. */
  with(replacements: readonly Replacement[]): string {
    return [...replacements]
      .sort((a, b) => b.start - a.start)
      .reduce((text, { start, end, by }) => text.slice(0, start) + by + text.slice(end), this.text);
  }

  #placesIn(collection: Collection): readonly Item[] {
    let items = this.#items.get(collection);
    if (items === undefined) {
      items = tokensOf(collection).map((token) => itemOf(token, collection.flow === true));
      this.#items.set(collection, items);
    }
    return items;
  }

  /** What must go for some items of a collection to go: with the first ones, the comments above them and the comma behind. */
  #cutsFor(collection: Collection, gone: ReadonlySet<number>): Span[] {
    const items = this.#placesIn(collection);
    const first = items.findIndex((_item, index) => !gone.has(index));
    if (first < 0) return items.map(({ start, end }) => ({ start, end }));
    const cuts = items.filter((_item, index) => index > first && gone.has(index));
    const [head, kept] = [items[0], items[first]];
    if (first === 0 || head === undefined || kept === undefined) return cuts;
    const above = collection.flow === true ? null : linesAbove(this.text, head.lead);
    const cut = above === null ? { start: head.lead, end: kept.lead } : { start: above, end: kept.start };
    return [cut, ...cuts];
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
    collection: Collection,
    index: number,
    kind: PartKind,
    parent: Part | null,
    name: string,
    node: unknown,
  ): Part {
    const { lead: start, end: most } = this.#placesIn(collection)[index] as Item;
    const children: Part[] = [];
    const text = this.text.slice(start, most).trimEnd();
    const end = start + text.length;
    const column = start - lineStart(this.text, start);
    const part: Part = { kind, name, start, end, text, column, parent, children, collection, index, node };
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

/** Some parts with those of which nothing is left then, for the language knows no empty expectation. */
function emptied(gone: Iterable<Part>): ReadonlySet<Part> {
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

type ItemToken = CST.BlockMap["items"][number];

/** The tokens of the items of a collection, without those that are blanks and comments alone. */
function tokensOf(collection: Collection): readonly ItemToken[] {
  if (isMap(collection)) return collection.items.map((pair) => (pair as Pair).srcToken as ItemToken);
  const { items = [] } = (collection.srcToken ?? {}) as { readonly items?: readonly ItemToken[] };
  const isItem = ({ start, key, value }: ItemToken): boolean =>
    key !== undefined || value !== undefined || start.some(({ type }) => type === "seq-item-ind");
  return items.filter(isItem);
}

/** Within brackets, the blanks before the last of them stay. */
function itemOf(token: ItemToken, isFlow: boolean): Item {
  const start = (token.start[0] ?? token.key ?? token.sep?.[0] ?? token.value)?.offset ?? 0;
  const whole = CST.stringify(token);
  const text = isFlow ? whole.trimEnd() : whole;
  const blank = /^(?:[\s,]|#.*)*/.exec(text)?.[0].length ?? 0;
  return { start, lead: start + blank, end: start + text.length };
}

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

const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

/** Where the comments begin that stand right above something; null where something else stands before it on its line. */
function linesAbove(text: string, at: number): number | null {
  let start = lineStart(text, at);
  if (text.slice(start, at).trim() !== "") return null;
  while (start > 0) {
    const above = lineStart(text, start - 1);
    if (!/^ *#/.test(text.slice(above, start))) break;
    start = above;
  }
  return start;
}
