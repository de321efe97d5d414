import { type Alias, isAlias, isMap, isScalar, isSeq, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { shown } from "../flow/flow-error.ts";
import type { Page } from "./page.ts";
import { type Entry, MOST_LEVELS, type Node, type TextNode } from "./yaml-tree.ts";

/** Aliases may stand for so many nodes together. */
const MOST_BORROWED = 50_000;
const MOST_DIGITS = 15;
const INTEGER = /^[-+]?\d+$/;
const FEW_KEYS = 8;

/** The tree of a file's nodes, each alias in it replaced by what it stands for; null with a problem when that is too much. */
export function treeOf(page: Page, root: unknown): Node | null {
  const builder = new TreeBuilder(page);
  const tree = builder.node(root, 1, 0);
  return builder.isTooMuch ? null : tree;
}

/** What an anchor names, and how much that is. */
interface Anchored {
  readonly node: Node;
  readonly nodes: number;
  readonly levels: number;
}

/** An alias shares the parts of the node that it stands for; only its size is counted, so that no bomb ever goes off. */
class TreeBuilder {
  readonly #page: Page;
  readonly #anchors = new Map<string, Anchored>();
  isTooMuch = false;
  #nodes = 0;
  #deepest = 0;
  #borrowed = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  /** `after`: where the node would stand, were it there. */
  node(of: unknown, level: number, after: number): Node {
    this.#nodes += 1;
    if (level > this.#deepest) this.#deepest = level;
    if (isAlias(of)) return this.#aliased(of, level);
    const anchor = isScalar(of) || isMap(of) || isSeq(of) ? of.anchor : undefined;
    if (anchor === undefined) return this.#content(of, level, after);
    const [nodes, deepest] = [this.#nodes, this.#deepest];
    this.#deepest = level;
    const node = this.#content(of, level, after);
    this.#anchors.set(anchor, { node, nodes: this.#nodes - nodes + 1, levels: this.#deepest - level });
    this.#deepest = Math.max(deepest, this.#deepest);
    return node;
  }

  #content(of: unknown, level: number, after: number): Node {
    if (isMap(of)) return this.#mapping(of, level);
    if (isSeq(of)) return this.#list(of, level);
    return isScalar(of) ? this.#text(of) : nothing(after);
  }

  #list(of: YAMLSeq, level: number): Node {
    const [start, end] = rangeOf(of);
    return { kind: "list", start, end, items: of.items.map((item) => this.node(item, level + 1, end)) };
  }

  #mapping(of: YAMLMap, level: number): Node {
    const [start, end] = rangeOf(of);
    const entries: Entry[] = [];
    const keys = of.items.length > FEW_KEYS ? new Set<string>() : null;
    for (const { key: keyNode, value: valueNode } of of.items) {
      const key = this.#key(keyNode, start);
      const value = this.node(valueNode, level + 1, key?.end ?? start);
      if (key === null) continue;
      const isTaken = keys?.has(key.value) ?? entries.some((entry) => entry.key.value === key.value);
      if (isTaken) this.#duplicate(key, entries);
      else entries.push({ key, value });
      keys?.add(key.value);
    }
    return { kind: "mapping", start, end, entries };
  }

  #key(of: unknown, after: number): TextNode | null {
    const key = this.node(of, 0, after);
    if (key.kind !== "text") {
      return this.#page.wrong(key.start, `expected a name before the colon, found a ${key.kind}`);
    }
    if (!key.isPlain || key.value !== "<<") return key;
    return this.#page.wrong(key.start, "merge keys (<<) are not part of the language", "write the keys out");
  }

  #duplicate(key: TextNode, entries: readonly Entry[]): void {
    if (!this.#page.isListening) return;
    const first = entries.find((entry) => entry.key.value === key.value)?.key ?? key;
    const { line } = this.#page.place(first.start);
    this.#page.wrong(key.start, `duplicate key ${shown(key.value)}`, `it stands in line ${line} already`);
  }

  #text(of: Scalar): Node {
    const [start, end] = rangeOf(of);
    const value = String(of.value);
    const isPlain = of.type === undefined || of.type === "PLAIN";
    if (isPlain && value.length > MOST_DIGITS && INTEGER.test(value)) {
      this.#page.wrong(start, `expected at most ${MOST_DIGITS} digits, found ${value.length}`, "quote it");
    }
    return { kind: "text", start, end, value, isPlain };
  }

  #aliased(of: Alias, level: number): Node {
    const [start] = rangeOf(of);
    const anchored = this.#anchors.get(of.source);
    if (anchored === undefined) {
      this.#page.unknown(start, "anchor", of.source, this.#anchors.keys());
      return nothing(start);
    }
    const { node, nodes, levels } = anchored;
    this.#nodes += nodes;
    this.#borrowed += nodes;
    this.#deepest = Math.max(this.#deepest, level + levels);
    if (level + levels > MOST_LEVELS + 1)
      return this.#tooMuch(start, `nested deeper than ${MOST_LEVELS} levels`);
    if (this.#borrowed <= MOST_BORROWED) return { ...node, aliasAt: start };
    return this.#tooMuch(start, `aliases stand for more than ${MOST_BORROWED} nodes`);
  }

  /** Told once: whatever follows is no better. */
  #tooMuch(at: number, message: string): Node {
    if (!this.isTooMuch) this.#page.wrong(at, message);
    this.isTooMuch = true;
    return nothing(at);
  }
}

const nothing = (at: number): TextNode => ({ kind: "text", start: at, end: at, value: "", isPlain: true });

/** Of a parsed node, which always has one. */
function rangeOf({ range }: { range?: readonly number[] | null }): readonly [start: number, end: number] {
  const [start = 0, end = start] = range ?? [];
  return [start, end];
}
