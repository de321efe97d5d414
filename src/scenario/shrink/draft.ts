import { isMap, isPair, isScalar, isSeq, type Pair, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { cutsFor, itemSpans, type Span, without } from "./cut.ts";

/**
 * What a part of a scenario is; `keep` has parts that may go, and never goes itself. A `line` of a list that is compared
 * as a whole goes only with what it is of.
 */
export type PartKind = "step" | "expectation" | "line" | "header" | "account" | "market" | "keep";

/** A part of a scenario's text that can go on its own. */
export interface Part {
  readonly kind: PartKind;
  /** Its key, where it has one: `bid` of `orders: { bid: LIVE 0/1 }`. */
  readonly name: string;
  readonly span: Span;
  readonly parent: Part | null;
  readonly children: readonly Part[];
  readonly collection: YAMLMap | YAMLSeq;
  readonly index: number;
  /** Of its value, or of itself in a list. */
  readonly node: unknown;
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

  /** The text with another piece in the place of one of its own. */
  replaced({ start, end }: Span, by: string): string {
    return this.text.slice(0, start) + by + this.text.slice(end);
  }

  /** What is written there. */
  textOf({ start, end }: Span): string {
    return this.text.slice(start, end);
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
    const part: Part = { kind, name, span, parent, children, collection, index, node };
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

/** A part and all parts within it, outer before inner. */
export function* withParts(part: Part): Generator<Part> {
  yield part;
  for (const child of part.children) yield* withParts(child);
}
