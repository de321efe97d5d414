import { stringify } from "yaml";
import { faultTerms, faultWords } from "../api/chain.ts";
import type { SettlementFaultTerms } from "../core/chain/chain.ts";
import type { ExchangeConfig } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import type { Millis } from "../core/units.ts";

/** A scalar as written in the file, a list, or a map with its keys in order. */
export type Node = string | YamlList | YamlMap;

interface YamlList {
  readonly list: readonly Node[];
  /** Whether a list that does not fit on a line is wrapped, instead of having a line for each item. */
  readonly isWrapped: boolean;
}

interface YamlMap {
  readonly entries: readonly Entry[];
}

export type Entry = readonly [key: string, value: Node];

/** Maximum width of lines that can be broken. */
const MAX_WIDTH = 130;
const INDENT = 2;
/** Maximum nesting of lists and maps on one line. */
const MAX_DEPTH = 2;

/** A list with a line for each item if it does not fit on one line. */
export const list = (items: readonly Node[]): YamlList => ({ list: items, isWrapped: false });

/** A list of scalars that is wrapped if it does not fit on one line. */
export const wrapped = (items: readonly string[]): YamlList => ({ list: items, isWrapped: true });

/** A map; its keys must need no quotes in YAML. */
export const map = (entries: readonly Entry[]): YamlMap => ({ entries });

/** Writes a string as a scalar, quoted only if YAML requires it. */
export function scalar(text: string): string {
  const isPrintable = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufeff]+$/u.test(text);
  return isPrintable ? stringify(text, { lineWidth: 0 }).slice(0, -1) : JSON.stringify(text);
}

/** Returns the lines of a map, whose entries do not share lines. */
export function mapLines(entries: readonly Entry[], indent: number): string[] {
  return entries.flatMap(([key, value]) => lines(`${" ".repeat(indent)}${key}: `, value, indent + INDENT));
}

/** Returns the lines of a map that is an item of a list. */
export function itemLines(entries: readonly Entry[], indent: number): string[] {
  const [first = "", ...more] = mapLines(entries, indent + INDENT);
  return [`${" ".repeat(indent)}- ${first.slice(indent + INDENT)}`, ...more];
}

/** Returns the lines of a node, the first with a prefix; `indent` is that of the other lines. */
function lines(prefix: string, node: Node, indent: number): string[] {
  const text = flow(node);
  const isShort = depthOf(node) <= MAX_DEPTH && prefix.length + text.length <= MAX_WIDTH;
  if (typeof node === "string" || isShort) return [prefix + text];
  if ("entries" in node) return [prefix.trimEnd(), ...mapLines(node.entries, indent)];
  if (node.isWrapped) return wrappedLines(`${prefix}[`, node.list.map(flow), indent);
  return [
    prefix.trimEnd(),
    ...node.list.flatMap((item) => lines(`${" ".repeat(indent)}- `, item, indent + INDENT)),
  ];
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
  if ("list" in node) return `[${node.list.map(flow).join(", ")}]`;
  if (node.entries.length === 0) return "{}";
  return `{ ${node.entries.map(([key, value]) => `${key}: ${flow(value)}`).join(", ")} }`;
}

function depthOf(node: Node): number {
  if (typeof node === "string") return 0;
  const inner = "list" in node ? node.list : node.entries.map(([, value]) => value);
  return 1 + inner.reduce((deepest, each) => Math.max(deepest, depthOf(each)), 0);
}

/** Entries of a step's map. */
export type Step = readonly Entry[];

/** A comment between steps. */
export interface Remark {
  readonly remark: string;
}

interface ScenarioParts extends Pick<ExchangeConfig, "seed" | "settlement" | "balances"> {
  /** Comments at the top of the file, a sentence each. */
  readonly remarks: readonly string[];
  readonly name: string;
  readonly clock: Millis;
  readonly markets: readonly Entry[];
  readonly accounts: readonly Entry[];
  readonly steps: readonly (Step | Remark)[];
}

/** Whether a scenario can have a seed: it must be one line of text. */
export const isSeed = (seed: string): boolean => /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(seed);

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
    ...steps.flatMap((step) => ("remark" in step ? [`  # ${step.remark}`] : itemLines(step, 2))),
  ];
  return `${lines.join("\n")}\n`;
}

const block = (key: string, entries: readonly Entry[]): string[] =>
  entries.length === 0 ? [] : [`${key}:`, ...mapLines(entries, 2)];

const MAX_REASON_LENGTH = 200;
/** Precision of a base fee in a step, in wei: a millionth of a gwei. */
const FEE_PRECISION = 1_000;

/** Rounds the terms of a fault to what a step can express. */
export function roundedTerms(terms: SettlementFaultTerms): SettlementFaultTerms {
  const baseFee = Math.round(terms.baseFee / FEE_PRECISION) * FEE_PRECISION;
  const reason = terms.reason?.trim().slice(0, MAX_REASON_LENGTH) || null;
  return faultTerms(faultWords({ ...terms, baseFee, reason }));
}

/** Returns the step that sets a fault; `of` is the name of the order that it hits, null for a fault of all. */
export function faultStep(terms: SettlementFaultTerms, of: string | null = null): Step {
  const { times, ...words } = { ...faultWords(terms), ...(of === null ? {} : { of }) };
  const isOnce = times === 1 && words.probability === undefined;
  const entries = Object.entries(isOnce || times === undefined ? words : { ...words, times }).map(
    ([key, value]): Entry => [key, typeof value === "string" ? scalar(value) : String(value)],
  );
  return [["chain fault", map(entries)]];
}

/** Writes a time without a fraction of zero. */
export const moment = (at: Millis): string => toIso(at).replace(".000Z", "Z");
