import { dirname, resolve } from "node:path";
import { CST, isMap, type Pair } from "yaml";
import { attempt, Node, Page, type Place, ProblemList } from "../../scenario/language/page.ts";
import { readTextFile } from "../../scenario/language/scenario-files.ts";
import { readTree } from "../../scenario/language/yaml.ts";
import { permutationsOf } from "../../scenario/run/run-scenario.ts";

/**
 * Kind of a part. A `fixed` part cannot be removed itself, but has parts that can. A `line` of a list that is compared as a
 * whole can only be removed together with the steps that cause it.
 */
type PartKind = "step" | "expectation" | "line" | "header" | "account" | "market" | "fixed";

/** A part of a scenario's text that can be removed separately. */
export interface Part extends Span {
  readonly kind: PartKind;
  /** Its key: `bid` of `orders: { bid: LIVE 0/1 }`; empty in a list. */
  readonly name: string;
  /** Its text, from the dash or key to the last word or comment. */
  readonly text: string;
  /** Column at which the text starts, from 0. */
  readonly column: number;
  readonly parent: Part | null;
  readonly children: readonly Part[];
  /** The list or mapping that it is in. */
  readonly collection: Node;
  /** Index in the collection. */
  readonly index: number;
  /** Its value, or the item of a list. */
  readonly node: Node;
}

/** Whether a collection is in braces or brackets. */
export const isBracketed = ({ page, at }: Node): boolean => /[{[]/.test(page.text.charAt(at));

/** Returns the kind of a node; null for an alias, which has no parts of its own. */
const ownKind = ({ aliasAt, kind }: Node): Node["kind"] | null => (aliasAt === undefined ? kind : null);

/** Offsets of a piece of a text. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A piece of a text, and its new text. */
export interface Replacement extends Span {
  readonly by: string;
}

/** Place of an item of a collection, from `start` with the comments, blanks and commas before its first word at `first`. */
interface Item extends Span {
  readonly first: number;
}

/** Returns the child of a part with a name. */
const childOf = (part: Part | undefined, name: string): Part | undefined =>
  part?.children.find((child) => child.name === name);

/** Returns a part and all parts in it, outer before inner. */
export const withParts = (part: Part): Part[] => [part, ...part.children.flatMap(withParts)];

/** Returns the text of a step after its dash, indented for a dash at a column. */
function bodyAt(step: Part, column: number): string {
  const dash = isBracketed(step.collection) ? 0 : (/^-\s+/.exec(step.text)?.[0].length ?? 0);
  return shifted(step.text.slice(dash), column + 2 - (step.column + dash));
}

/** Keys of a step that are expectations. */
const STEP_EXPECTATIONS: ReadonlySet<string> = new Set(["status", "fills", "after"]);
/** Expectations whose lists are compared as a whole. */
const LISTS: ReadonlySet<string> = new Set(["fills", "trades", "bids", "asks"]);
/** Keys at the top that are never removed. */
const FIXED: ReadonlySet<string> = new Set(["scenario", "about", "steps", "world"]);
/** Kinds of the entries of a header. */
const ENTRIES: ReadonlyMap<string, PartKind> = new Map([
  ["accounts", "account"],
  ["markets", "market"],
]);

/** The text of a scenario, with the parts that can be removed from it. */
export class Draft {
  readonly text: string;
  /** Its steps in order, each with its expectations and, of a race or repeat, its inner steps. */
  readonly steps: readonly Part[];
  /** The entries at the top, `steps` included, in order. */
  readonly headers: readonly Part[];
  readonly #items = new Map<Node, readonly Item[]>();

  /** `root` is the tree of a scenario, or of an included file, which may be a list of steps. */
  constructor(root: Node) {
    this.text = root.page.text;
    const kindOf = (name: string) => (FIXED.has(name) ? "fixed" : "header");
    this.headers = root.kind === "mapping" ? this.#entriesOf(root, null, kindOf) : [];
    const steps = this.headers.find(({ name }) => name === "steps")?.children;
    this.steps = steps ?? this.#itemsOf(root, null, "step");
  }

  /** Returns the innermost removable part at a place. */
  partAt({ line, column }: Pick<Place, "line" | "column">): Part | undefined {
    let start = 0;
    for (let seen = 1; seen < line; seen += 1) start = this.text.indexOf("\n", start) + 1;
    const at = start + column - 1;
    const parts = this.headers.flatMap(withParts);
    return parts.findLast(({ kind, start, end }) => kind !== "fixed" && start <= at && at <= end);
  }

  /** Returns the text without some parts, and without expectations that are empty then. */
  without(removed: Iterable<Part>): string {
    const removedIn = new Map<Node, Set<number>>();
    for (const { collection, index } of withEmptied(removed)) {
      removedIn.set(collection, (removedIn.get(collection) ?? new Set()).add(index));
    }
    const cuts = [...removedIn].flatMap(([collection, indices]) => this.#cutsFor(collection, indices));
    const kept: string[] = [];
    let from = 0;
    for (const { start, end } of cuts.sort((a, b) => a.start - b.start)) {
      if (start > from) kept.push(this.text.slice(from, start));
      from = Math.max(from, end);
    }
    return kept.join("") + this.text.slice(from);
  }

  /**
   * Returns a replacement of a step by other steps: parts of any draft, or texts after a dash. Null if the step is in a
   * flow sequence (`[...]`).
   */
  replacement({ collection, start, end, column }: Part, steps: readonly (Part | string)[]) {
    if (isBracketed(collection)) return null;
    const bodies = steps.map((step) => `- ${typeof step === "string" ? step : bodyAt(step, column)}`);
    return { start, end, by: bodies.join(`\n${" ".repeat(column)}`) };
  }

  with(replacements: readonly Replacement[]): string {
    return [...replacements]
      .sort((a, b) => b.start - a.start)
      .reduce((text, { start, end, by }) => text.slice(0, start) + by + text.slice(end), this.text);
  }

  #itemsIn(collection: Node): readonly Item[] {
    const known = this.#items.get(collection);
    const items = known ?? tokensOf(collection).map((token) => itemOf(token, isBracketed(collection)));
    this.#items.set(collection, items);
    return items;
  }

  /** Returns the spans to remove for items of a collection; of its first items, with the comments above and the comma after. */
  #cutsFor(collection: Node, removed: ReadonlySet<number>): Span[] {
    const items = this.#itemsIn(collection);
    const firstKept = items.findIndex((_item, index) => !removed.has(index));
    if (firstKept < 0) return items.map(({ start, end }) => ({ start, end }));
    const cuts = items.filter((_item, index) => index > firstKept && removed.has(index));
    const [head, kept] = [items[0], items[firstKept]];
    if (firstKept === 0 || head === undefined || kept === undefined) return cuts;
    const above = isBracketed(collection) ? null : linesAbove(this.text, head.first);
    const cut = above === null ? { start: head.first, end: kept.first } : { start: above, end: kept.start };
    return [cut, ...cuts];
  }

  /** Returns the entries of a mapping as parts, of the kind that `kindOf` returns for their keys; null skips an entry. */
  #entriesOf(map: Node, parent: Part | null, kindOf: (name: string) => PartKind | null): Part[] {
    return map.ownEntries.flatMap(({ key: { text: name }, value }, index) => {
      const kind = kindOf(name);
      return kind === null ? [] : this.#part(map, index, kind, parent, name, value);
    });
  }

  #part(
    collection: Node,
    index: number,
    kind: PartKind,
    parent: Part | null,
    name: string,
    node: Node,
  ): Part {
    const { first: start, end: itemEnd } = this.#itemsIn(collection)[index] as Item;
    const children: Part[] = [];
    const text = this.text.slice(start, itemEnd).trimEnd();
    const end = start + text.length;
    const column = start - lineStart(this.text, start);
    const part: Part = { kind, name, start, end, text, column, parent, children, collection, index, node };
    children.push(...this.#childrenOf(part));
    return part;
  }

  #childrenOf(part: Part): Part[] {
    const { kind, name, node, parent } = part;
    if (kind === "fixed" && (name === "steps" || name === "race")) return this.#itemsOf(node, part, "step");
    if (kind === "expectation" && LISTS.has(name)) return this.#itemsOf(node, part, "line");
    if (ownKind(node) !== "mapping") return [];
    if (kind === "step") return this.#entriesOf(node, part, kindInStep);
    if (kind === "expectation" || (kind === "fixed" && parent !== null)) {
      return this.#entriesOf(node, part, () => "expectation");
    }
    return this.#entriesOf(node, part, () => ENTRIES.get(name) ?? "header");
  }

  #itemsOf(list: Node, parent: Part | null, kind: "step" | "line"): Part[] {
    if (ownKind(list) !== "list") return [];
    return list.own.map((item, index) => this.#part(list, index, kind, parent, "", item));
  }
}

/** Parses a text, which has no parts if it is not YAML. */
export function draftOf(text: string): Draft {
  const page = new Page("", "", text, new ProblemList());
  return new Draft(attempt(() => readTree(page)) ?? new Node(page, 0, 0, "text", {}));
}

function kindInStep(name: string): PartKind | null {
  if (name === "expect" || name === "race" || name === "steps") return "fixed";
  return STEP_EXPECTATIONS.has(name) ? "expectation" : null;
}

/** Adds the expectations that are empty without some parts, because an empty expectation is an error. */
function withEmptied(removed: Iterable<Part>): ReadonlySet<Part> {
  const all = new Set(removed);
  for (const part of all) {
    const { parent } = part;
    if (parent === null || part.kind !== "expectation") continue;
    if (!parent.children.every((child) => all.has(child))) continue;
    if (parent.kind === "expectation") all.add(parent);
    else if (parent.kind === "fixed" && parent.parent?.kind === "step") all.add(parent.parent);
  }
  return all;
}

type ItemToken = CST.BlockMap["items"][number];

/** Returns the tokens of a collection's items, without those that have only blanks and comments. */
function tokensOf({ source }: Node): readonly ItemToken[] {
  if (isMap(source)) return source.items.map((pair) => (pair as Pair).srcToken as ItemToken);
  const { items = [] } = (source?.srcToken ?? {}) as { readonly items?: readonly ItemToken[] };
  const isItem = ({ start, key, value }: ItemToken): boolean =>
    key !== undefined || value !== undefined || start.some(({ type }) => type === "seq-item-ind");
  return items.filter(isItem);
}

/** In a flow collection, an item ends before the blanks at its end. */
function itemOf(token: ItemToken, isBracketed: boolean): Item {
  const start = (token.start[0] ?? token.key ?? token.sep?.[0] ?? token.value)?.offset ?? 0;
  const whole = CST.stringify(token);
  const text = isBracketed ? whole.trimEnd() : whole;
  const blank = /^(?:[\s,]|#.*)*/.exec(text)?.[0].length ?? 0;
  return { start, first: start + blank, end: start + text.length };
}

/** Indents every line after the first by a number of columns, which may be negative. */
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

/** Returns the start of the comment lines directly above an offset; null if other text is before it on its line. */
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

/** The `#` in a name that stands for the number of the round; after a blank it begins a comment. */
const ROUND = /(?<=[\w-])#(?![\w-])/g;

/** Yields texts with fewer rounds of one repeat: its steps once without it, half, an eighth less, one less. */
export function* fewerRounds(draft: Draft): Generator<string> {
  for (const step of draft.steps.flatMap((part) => withParts(part))) {
    const times = step.kind === "step" ? textIn(step, "repeat") : undefined;
    if (times === undefined || !/^\d+$/.test(times.text)) continue;
    const inner = childOf(step, "steps")?.children ?? [];
    const firstRound = inner.map((each) => bodyAt(each, step.column).replace(ROUND, "1"));
    const once = inner.length === 0 ? null : draft.replacement(step, firstRound);
    if (once !== null) yield draft.with([once]);
    const rounds = Number(times.text);
    const fewer = new Set([Math.ceil(rounds / 2), rounds - Math.ceil(rounds / 8), rounds - 1]);
    for (const count of fewer) {
      if (count > 0 && count < rounds)
        yield draft.with([{ start: times.at, end: times.end, by: String(count) }]);
    }
  }
}

/** Returns the text at a key of a step; undefined if there is none. */
const textIn = ({ node }: Part, name: string): Node | undefined =>
  node.ownEntries.find(({ key, value }) => key.text === name && ownKind(value) === "text")?.value;

/** Maximum number of steps of a race for which all orders are tried, not only its own and the reverse. */
const MAX_PERMUTED = 4;

/** Yields texts in which one race is replaced by its steps in one order, or by one of them, with its `after` as a step. */
export function* unrolledRaces(draft: Draft): Generator<string> {
  for (const step of draft.steps) {
    const race = childOf(step, "race")?.children ?? [];
    const after = childOf(step, "after")?.text ?? "";
    const expected = after === "" ? [] : [`expect:${after.slice(after.indexOf(":") + 1)}`];
    const alone = race.map((each) => [each]);
    const orders = race.length <= MAX_PERMUTED ? permutationsOf(race) : [race, [...race].reverse()];
    for (const order of race.length === 0 ? [] : [...alone, ...orders]) {
      const unrolled = draft.replacement(step, [...order, ...expected]);
      if (unrolled !== null) yield draft.with([unrolled]);
    }
  }
}

/** Maximum nesting of included files. */
const MAX_DEPTH = 16;

/** Returns the text with included files replaced by their steps, where possible. */
export function withIncludesInline(draft: Draft, folder: string, depth = 0): string {
  const included = draft.steps.flatMap((step): Replacement[] => {
    const path = textIn(step, "include");
    if (path === undefined || depth >= MAX_DEPTH) return [];
    const file = resolve(folder, path.text);
    const draftOfFile = draftOf(readTextFile(file).text);
    const { steps } = draftOf(withIncludesInline(draftOfFile, dirname(file), depth + 1));
    const replacement = steps.length === 0 ? null : draft.replacement(step, steps);
    return replacement === null ? [] : [replacement];
  });
  return draft.with(included);
}
