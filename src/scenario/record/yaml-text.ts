import { stringify } from "yaml";

/** A scalar as it is to stand in the file, a list, or a map with its keys in order. */
export type Node = string | YamlList | YamlMap;

interface YamlList {
  readonly list: readonly Node[];
  /** Whether a list that is too long for a line fills several, rather than one for each item. */
  readonly fills: boolean;
}

interface YamlMap {
  readonly entries: readonly Entry[];
}

export type Entry = readonly [key: string, value: Node];

/** How wide lines are where they can be broken. */
const WIDTH = 130;
const STEP = 2;
/** How many lists and maps within one another a line holds at most. */
const DEEPEST = 2;

/** A list that takes a line for each item when one line does not hold it. */
export const list = (items: readonly Node[]): YamlList => ({ list: items, fills: false });

/** A list of scalars that fills lines. */
export const filled = (items: readonly string[]): YamlList => ({ list: items, fills: true });

/** A map; its keys are names and words that YAML takes as they stand. */
export const map = (entries: readonly Entry[]): YamlMap => ({ entries });

/** Any text as a scalar, quoted only where YAML needs it. */
export function scalar(text: string): string {
  const isPrintable = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufeff]+$/u.test(text);
  return isPrintable ? stringify(text, { lineWidth: 0 }).trimEnd() : JSON.stringify(text);
}

/** The lines of a map, each entry on lines of its own. */
export function mapLines(entries: readonly Entry[], indent: number): string[] {
  return entries.flatMap(([key, value]) => lines(`${" ".repeat(indent)}${key}: `, value, indent + STEP));
}

/** The lines of a map that is one item of a list. */
export function itemLines(entries: readonly Entry[], indent: number): string[] {
  const [first = "", ...more] = mapLines(entries, indent + STEP);
  return [`${" ".repeat(indent)}- ${first.slice(indent + STEP)}`, ...more];
}

/** The lines of a node behind the text that leads to it; `indent` is that of the lines that follow. */
function lines(lead: string, node: Node, indent: number): string[] {
  const text = flow(node);
  const isShort = depthOf(node) <= DEEPEST && lead.length + text.length <= WIDTH;
  if (typeof node === "string" || isShort) return [lead + text];
  if ("entries" in node) return [lead.trimEnd(), ...mapLines(node.entries, indent)];
  if (node.fills) return filledLines(`${lead}[`, node.list.map(flow), indent);
  return [
    lead.trimEnd(),
    ...node.list.flatMap((item) => lines(`${" ".repeat(indent)}- `, item, indent + STEP)),
  ];
}

function filledLines(lead: string, items: readonly string[], indent: number): string[] {
  const all: string[] = [];
  let line = lead;
  for (const [index, item] of items.entries()) {
    const text = item + (index === items.length - 1 ? "]" : ",");
    const isFull = line.length + 1 + text.length > WIDTH;
    if (isFull) all.push(line);
    if (isFull) line = " ".repeat(indent) + text;
    else line += index === 0 ? text : ` ${text}`;
  }
  return [...all, line];
}

function flow(node: Node): string {
  if (typeof node === "string") return node;
  if ("list" in node) return `[${node.list.map(flow).join(", ")}]`;
  if (node.entries.length === 0) return "{}";
  return `{ ${node.entries.map(([key, value]) => `${key}: ${flow(value)}`).join(", ")} }`;
}

function depthOf(node: Node): number {
  if (typeof node === "string") return 0;
  const inner = "list" in node ? node.list : node.entries.map(([, value]) => value);
  return 1 + inner.reduce((deepest, each) => Math.max(deepest, depthOf(each)), 0);
}
