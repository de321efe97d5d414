import { stringify } from "yaml";
import { faultTerms, faultWords } from "../api/chain.ts";
import type { SettlementFaultTerms } from "../core/chain/settlement-fault.ts";
import type { ExchangeConfig } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import type { Millis } from "../core/units.ts";

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

/** A node on one line. */
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

/** A step as the entries of its map. */
export type Step = readonly Entry[];

/** A line for whoever reads the file, between steps. */
export interface Remark {
  readonly remark: string;
}

/** What a written scenario consists of. */
interface ScenarioParts extends Pick<ExchangeConfig, "seed" | "settlement" | "balances"> {
  /** What the file says of itself at its top, a sentence each. */
  readonly remarks: readonly string[];
  readonly name: string;
  readonly clock: Millis;
  readonly markets: readonly Entry[];
  readonly accounts: readonly Entry[];
  readonly steps: readonly (Step | Remark)[];
}

/** Whether a scenario can have a seed: it is a line of text. */
export const isSeed = (seed: string): boolean => /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(seed);

/** The file of a scenario, without what a scenario has anyway. */
export function scenarioText(parts: ScenarioParts): string {
  const { remarks, name, seed, clock, settlement, balances, markets, accounts, steps } = parts;
  const lines = [
    ...remarks.map((remark) => `# ${remark}`),
    `scenario: ${scalar(name)}`,
    // A whole number needs no quotes: the language takes it for the text that it is.
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

const LONGEST_REASON = 200;
/** A millionth of a gwei: what a step can say of a base fee. */
const LEAST_FEE = 1_000;

/** The terms that a step can say: fewer digits hit the same. */
export function sayableTerms(terms: SettlementFaultTerms): SettlementFaultTerms {
  const baseFee = Math.round(terms.baseFee / LEAST_FEE) * LEAST_FEE;
  const reason = terms.reason?.trim().slice(0, LONGEST_REASON) || null;
  return faultTerms(faultWords({ ...terms, baseFee, reason }));
}

/** The step that sets a fault, of one order where it names one. */
export function faultStep(terms: SettlementFaultTerms, of: string | null = null): Step {
  const { times, ...words } = { ...faultWords(terms), ...(of === null ? {} : { of }) };
  const isOnce = times === 1 && words.probability === undefined;
  const entries = Object.entries(isOnce || times === undefined ? words : { ...words, times }).map(
    ([key, value]): Entry => [key, typeof value === "string" ? scalar(value) : String(value)],
  );
  return [["chain fault", map(entries)]];
}

/** A moment as short as it can be said: whole seconds without a fraction. */
export const moment = (at: Millis): string => toIso(at).replace(".000Z", "Z");
