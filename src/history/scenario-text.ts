import { stringify } from "yaml";
import { faultTerms, faultWords, MAX_REASON_LENGTH } from "../api/chain.ts";
import type { SettlementFaultTerms } from "../core/chain/chain.ts";
import { isOneLine, MAX_SEED_LENGTH } from "../core/format.ts";
import type { ExchangeConfig } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import type { Millis } from "../core/units.ts";

/** A scalar as written in the file, a list, or a map. */
export type Node = string | readonly Node[] | NodeMap;

/** A map with its keys in order, which must need no quotes in YAML. */
export interface NodeMap {
  readonly [key: string]: Node;
}

/** Maximum width of lines that can be broken. */
const MAX_WIDTH = 130;
const INDENT = 2;
/** Maximum nesting of lists and maps on one line. */
const MAX_DEPTH = 2;
/** Maximum length of items that share lines in a list that does not fit on one line. */
const MAX_SHARING = 24;

const isList = (node: Node): node is readonly Node[] => Array.isArray(node);

/** Writes a string as a scalar, quoted only if YAML requires it. */
export function scalar(text: string): string {
  const isPrintable = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufeff]+$/u.test(text);
  return isPrintable ? stringify(text, { lineWidth: 0 }).slice(0, -1) : JSON.stringify(text);
}

/** Returns the lines of a map, whose entries do not share lines. */
const mapLines = (map: NodeMap, indent: number): string[] =>
  Object.entries(map).flatMap(([key, value]) =>
    lines(`${" ".repeat(indent)}${key}: `, value, indent + INDENT),
  );

/** Returns the lines of a map that is an item of a list. */
export function itemLines(map: NodeMap, indent: number): string[] {
  const [first = "", ...more] = mapLines(map, indent + INDENT);
  return [`${" ".repeat(indent)}- ${first.slice(indent + INDENT)}`, ...more];
}

/** Returns the lines of a node, the first with a prefix; `indent` is that of the other lines. */
function lines(prefix: string, node: Node, indent: number): string[] {
  const text = flow(node);
  const isShort = depthOf(node) <= MAX_DEPTH && prefix.length + text.length <= MAX_WIDTH;
  if (typeof node === "string" || isShort) return [prefix + text];
  if (!isList(node)) return [prefix.trimEnd(), ...mapLines(node, indent)];
  if (node.every((item) => typeof item === "string" && item.length <= MAX_SHARING))
    return wrappedLines(`${prefix}[`, node.map(flow), indent);
  const items = node.flatMap((item) => lines(`${" ".repeat(indent)}- `, item, indent + INDENT));
  return [prefix.trimEnd(), ...items];
}

function wrappedLines(prefix: string, items: readonly string[], indent: number): string[] {
  const all: string[] = [];
  let line = prefix;
  for (const [index, item] of items.entries()) {
    const text = item + (index === items.length - 1 ? "]" : ",");
    const isFull = line.length + 1 + text.length > MAX_WIDTH;
    if (isFull) all.push(line);
    if (isFull) line = " ".repeat(indent) + text;
    else line += index === 0 ? text : ` ${text}`;
  }
  return [...all, line];
}

/** Writes a node on one line. */
export function flow(node: Node): string {
  if (typeof node === "string") return node;
  if (isList(node)) return `[${node.map(flow).join(", ")}]`;
  const entries = Object.entries(node).map(([key, value]) => `${key}: ${flow(value)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

function depthOf(node: Node): number {
  if (typeof node === "string") return 0;
  return 1 + Object.values<Node>(node).reduce((deepest, each) => Math.max(deepest, depthOf(each)), 0);
}

interface ScenarioParts extends Pick<ExchangeConfig, "seed" | "settlement" | "balances"> {
  /** Comments at the top of the file, a sentence each. */
  readonly remarks: readonly string[];
  readonly name: string;
  readonly clock: Millis;
  readonly markets: NodeMap;
  readonly accounts: NodeMap;
  /** Those that are texts are comments. */
  readonly steps: readonly (NodeMap | string)[];
}

/** Whether a scenario can have a seed: one line of text, which begins and ends with no space. */
export const isSeed = (seed: string): boolean => isOneLine(seed, MAX_SEED_LENGTH) && seed === seed.trim();

/** Writes the file of a scenario, without defaults. */
export function scenarioText(parts: ScenarioParts): string {
  const { remarks, name, seed, clock, settlement, balances, markets, accounts, steps } = parts;
  const lines = [
    ...remarks.map((remark) => `# ${remark}`),
    `scenario: ${scalar(name)}`,
    // An integer needs no quotes, because the language reads scalars as text.
    ...(isSeed(seed) ? [`seed: ${/^(?:0|[1-9]\d{0,14})$/.test(seed) ? seed : scalar(seed)}`] : []),
    `clock: ${moment(clock)}`,
    ...(settlement === "instant" ? [] : [`settlement: ${settlement}`]),
    ...(balances === "optimistic" ? [] : [`balances: ${balances}`]),
    ...block("markets", markets),
    ...block("accounts", accounts),
    "steps:",
    ...steps.flatMap((step) => (typeof step === "string" ? [`  # ${step}`] : itemLines(step, 2))),
  ];
  return `${lines.join("\n")}\n`;
}

const block = (key: string, map: NodeMap): string[] =>
  Object.keys(map).length === 0 ? [] : [`${key}:`, ...mapLines(map, 2)];

/** Precision of a base fee in a step, in wei: a millionth of a gwei. */
const FEE_PRECISION = 1_000;

/** Rounds the terms of a fault to what a step can express. */
export function roundedTerms(terms: SettlementFaultTerms): SettlementFaultTerms {
  const baseFee = Math.round(terms.baseFee / FEE_PRECISION) * FEE_PRECISION;
  const reason = terms.reason?.trim().slice(0, MAX_REASON_LENGTH) || null;
  return faultTerms(faultWords({ ...terms, baseFee, reason }));
}

/** Returns the step that sets a fault; `of` is the name of the order that it hits, null for a fault of all. */
export function faultStep(terms: SettlementFaultTerms, of: string | null = null): NodeMap {
  const { times, ...words } = { ...faultWords(terms), ...(of === null ? {} : { of }) };
  const isOnce = times === 1 && words.probability === undefined;
  const entries = Object.entries(isOnce || times === undefined ? words : { ...words, times }).map(
    ([key, value]) => [key, typeof value === "string" ? scalar(value) : String(value)],
  );
  return { "chain fault": Object.fromEntries(entries) };
}

/** Writes a time without a fraction of zero. */
export const moment = (at: Millis): string => toIso(at).replace(".000Z", "Z");
