import {
  FAULT_FIELDS,
  FAULT_KINDS,
  type FaultField,
  type FaultKind,
  faultTerms,
  type SettlementFaultWords,
} from "../../api/chain.ts";
import { CERTAIN } from "../../core/chain/settlement-fault.ts";
import type { WinningOutcome } from "../../core/terms.ts";
import { parseDuration, parseIso } from "../../core/time.ts";
import { PROFILE_NAMES } from "../../simulation/flow.ts";
import {
  type DecimalRule,
  decimalIn,
  durationAt,
  entriesBy,
  fieldsOf,
  isName,
  MOMENT_RULE,
  NAME_RULE,
  nameAt,
  oneOf,
  ruleText,
  textOf,
  unitsAt,
} from "./fields.ts";
import { LineWords } from "./line-words.ts";
import { readRejects } from "./own-expectations.ts";
import { type Entry, type Node, orOf, type Page } from "./page.ts";
import type {
  AdvanceStep,
  AtStep,
  BumpStep,
  CloseStep,
  FaultStep,
  GenerateStep,
  MineStep,
  ReorgStep,
  ReplayStep,
  ResolveStep,
  SettlementFaultStep,
  SnapshotStep,
} from "./scenario.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { OUTCOMES } from "./vocabulary.ts";

const AT_RULE = `${MOMENT_RULE}, or expiry of ORDER`;

/** Reads `advance: 30s`. */
export function readAdvance(step: StepSource): AdvanceStep | null {
  const { page } = step.file;
  entriesBy(page, step.beside, []);
  const by = durationAt(page, step.head.value);
  return by === null ? null : { ...baseOf(step), kind: "advance", by };
}

/** Reads `at: 2026-01-01T00:05:00Z`, or `at: expiry of bid - 1ms`. */
export function readAt(step: StepSource): AtStep | null {
  const { page } = step.file;
  const { value } = step.head;
  entriesBy(page, step.beside, []);
  const text = textOf(page, value, AT_RULE);
  if (text === null || value.kind !== "text") return null;
  const line = new LineWords(page, value);
  const moment = line.takeIf("expiry") === null ? instantOf(step, text) : expiryMoment(step, line);
  return moment && { ...baseOf(step), kind: "at", moment };
}

function instantOf({ file, head }: StepSource, text: string): AtStep["moment"] | null {
  const at = parseIso(text);
  return at === null ? file.page.unexpected(head.value.start, AT_RULE, text) : { at };
}

function expiryMoment({ declared }: StepSource, line: LineWords): AtStep["moment"] | null {
  const { page } = line;
  const word = line.demand("of") && line.take("the name of an order");
  const expiryOf = word && declared.orderNamed(page, word.at, word.text);
  if (word === null || expiryOf === null) return null;
  const type = declared.orders.get(expiryOf) ?? "GTD";
  if (type !== "GTD") return page.wrong(word.at, `order ${expiryOf} is ${type} and does not expire`);
  const offset = offsetOf(line);
  return offset !== null && line.isOver() ? { expiryOf, offset } : null;
}

/** Milliseconds after, or before. */
function offsetOf(line: LineWords): number | null {
  if (line.peek() === undefined) return 0;
  const sign = line.oneOf(["+", "-"], "+, - or the end of the line");
  const length = sign && line.take("a duration such as 1ms");
  if (length === null) return null;
  const duration = parseDuration(length.text);
  if (duration === null) return line.page.unexpected(length.at, "a duration such as 1ms", length.text);
  return sign === "-" && duration !== 0 ? -duration : duration;
}

const WINNERS: readonly WinningOutcome[] = [...OUTCOMES, "SPLIT"];

/** Reads `close: rain`; the only market may be called by its name as well. */
export function readClose(step: StepSource): CloseStep | null {
  const { file, head, declared } = step;
  entriesBy(file.page, step.beside, []);
  const name = textOf(file.page, head.value, "the name of a market");
  if (name === null) return null;
  if (!declared.hasMarket(name)) return declared.noMarket(file.page, head.value.start, name);
  return { ...baseOf(step), kind: "close", market: declared.marketName(name) };
}

/** Reads `resolve: YES in rain`. */
export function readResolve(step: StepSource): ResolveStep | null {
  const { file, head, declared } = step;
  const { page } = file;
  entriesBy(page, step.beside, []);
  if (textOf(page, head.value, orOf(WINNERS)) === null || head.value.kind !== "text") return null;
  const line = new LineWords(page, head.value);
  const outcome = line.oneOf(WINNERS, orOf(WINNERS));
  if (outcome === null) return null;
  const market = line.takeIf("in") === null ? null : line.take("a market after in");
  const name = market?.text ?? null;
  if (!line.isOver("in MARKET or the end of the line", ["in"])) return null;
  if (!declared.hasMarket(name)) return declared.noMarket(page, market?.at ?? line.end, name);
  return { ...baseOf(step), kind: "resolve", market: declared.marketName(name), outcome };
}

/** Reads `snapshot: before`. */
export function readSnapshot(step: StepSource): SnapshotStep | null {
  const { file, head, beside, declared } = step;
  entriesBy(file.page, beside, []);
  const name = snapshotName(step);
  if (name === null) return null;
  const { rounds, snapshots } = declared;
  if (snapshots.has(name) && !rounds.mayGiveAgain(`snapshot ${name}`)) {
    return file.page.wrong(head.value.start, `a snapshot before is named ${name} already`);
  }
  snapshots.add(name);
  rounds.give(`snapshot ${name}`);
  return { ...baseOf(step), kind: "snapshot", name };
}

/** Reads `restore: before`. */
export function readRestore(step: StepSource): SnapshotStep | null {
  const { file, head, beside, declared } = step;
  entriesBy(file.page, beside, []);
  const name = snapshotName(step);
  if (name === null) return null;
  if (declared.snapshots.has(name)) return { ...baseOf(step), kind: "restore", name };
  return file.page.unknown(head.value.start, "snapshot", name, declared.snapshots);
}

function snapshotName({ file, head, declared }: StepSource): string | null {
  const isOne = (text: string): boolean => isName(declared.rounds.named(text));
  const text = nameAt(file.page, head.value, isOne, NAME_RULE);
  return text === null ? null : declared.rounds.named(text);
}

const ORDERS: DecimalRule = { what: "a number of orders", places: 0, least: 1, most: 10_000_000 };
const ACCOUNTS: DecimalRule = { what: "a number of accounts", places: 0, least: 1, most: 10_000 };
const REJECTED: DecimalRule = { what: "a number of rows", places: 0, least: 0, most: 1_000_000_000 };
const DEFAULT_ACCOUNTS = 20;
const DEFAULT_PROFILE = "balanced";

/** Reads `replay: flows/opening.csv`, or `replay: { file: flows/opening.csv, in: rain, rejected: 2 }`. */
export function readReplay(step: StepSource): ReplayStep | null {
  const { file, files, head, declared } = step;
  const { page } = file;
  entriesBy(page, step.beside, []);
  declared.hasFlow = true;
  if (head.value.kind === "text") {
    const path = files.pathAt(file, head.value);
    return path === null ? null : { ...baseOf(step), kind: "replay", file: path, market: null, rejected: 0 };
  }
  const fields = fieldsOf(page, head.value, "a path or { file, in, rejected }", ["file", "in", "rejected"]);
  if (fields === null) return null;
  if (fields.file === undefined) return page.wrong(head.value.start, "expected the key file, found none");
  const path = files.pathAt(file, fields.file.value);
  const market = fields.in === undefined ? null : marketOf(step, fields.in);
  const rejected = fields.rejected === undefined ? 0 : unitsAt(page, fields.rejected.value, REJECTED);
  if (path === null || market === undefined || rejected === null) return null;
  return { ...baseOf(step), kind: "replay", file: path, market, rejected };
}

/** Reads `generate: { orders: 5000, accounts: 20, profile: balanced }`. */
export function readGenerate(step: StepSource): GenerateStep | null {
  const { file, head, declared } = step;
  const { page } = file;
  entriesBy(page, step.beside, []);
  declared.hasFlow = true;
  const keys = ["orders", "accounts", "profile", "in"] as const;
  const fields = fieldsOf(page, head.value, "{ orders, accounts, profile }", keys);
  if (fields === null) return null;
  if (fields.orders === undefined) page.wrong(head.value.start, "expected the key orders, found none");
  const orders = fields.orders === undefined ? null : unitsAt(page, fields.orders.value, ORDERS);
  const accounts =
    fields.accounts === undefined ? DEFAULT_ACCOUNTS : unitsAt(page, fields.accounts.value, ACCOUNTS);
  const profile =
    fields.profile === undefined ? DEFAULT_PROFILE : oneOf(page, fields.profile.value, PROFILE_NAMES);
  const market = marketOf(step, fields.in);
  if (orders === null || accounts === null || profile === null || market === undefined) return null;
  return { ...baseOf(step), kind: "generate", orders, accounts, profile, market };
}

/** The market of the key `in`; undefined with a problem when there is no such market, or none is named. */
function marketOf({ file, head, declared }: StepSource, entry: Entry | undefined): string | null | undefined {
  const { page } = file;
  const name = entry === undefined ? null : textOf(page, entry.value, "the name of a market");
  if (entry !== undefined && name === null) return undefined;
  if (declared.hasMarket(name)) return declared.marketName(name);
  declared.noMarket(page, entry?.value.start ?? head.value.start, name);
  return undefined;
}

const BLOCKS: DecimalRule = { what: "a number of blocks", places: 0, least: 1, most: 100_000 };

/** Reads `mine: 2`. */
export function readMine(step: StepSource): MineStep | null {
  const { page } = step.file;
  entriesBy(page, step.beside, []);
  const blocks = unitsAt(page, step.head.value, BLOCKS);
  return blocks === null ? null : { ...baseOf(step), kind: "mine", blocks };
}

/** Reads `reorg: 1`. */
export function readReorg(step: StepSource): ReorgStep | null {
  const { page } = step.file;
  const { rejects } = entriesBy(page, step.beside, ["rejects"]);
  const depth = unitsAt(page, step.head.value, BLOCKS);
  const refusal = readRejects(step.file, rejects);
  return depth === null ? null : { ...baseOf(step), kind: "reorg", depth, rejects: refusal };
}

/** Reads `bump: fees`. */
export function readBump(step: StepSource): BumpStep | null {
  const { page } = step.file;
  entriesBy(page, step.beside, []);
  return oneOf(page, step.head.value, ["fees"]) && { ...baseOf(step), kind: "bump" };
}

const PERCENT_PLACES = 4;
const PERCENT: DecimalRule = { what: "a share", places: PERCENT_PLACES, least: 1, most: CERTAIN };
const SETTLEMENT_PROBABILITY: DecimalRule = { what: "a probability", places: 6, least: 0, most: CERTAIN };
const FAULT_TIMES: DecimalRule = {
  what: "a number of settlements",
  places: 0,
  least: 1,
  most: 1_000_000_000,
};
const FAULT_BLOCKS: DecimalRule = { what: "a number of blocks", places: 0, least: 1, most: 100_000 };
/** A millionth of a gwei. */
const GWEI_UNITS = 1_000_000;
const GWEI: DecimalRule = { what: "a fee in gwei", places: 6, least: 0, most: 1_000_000 * GWEI_UNITS };

const LONGEST_REASON = 200;
const REASON_RULE = `a reason of 1 to ${LONGEST_REASON} characters`;
const HOW_OFTEN = ["next", "all", "never"] as const;
const FAILURE_RULE = "next, next 3, a share such as 20%, all or never";

/** Reads `fail settlement: next`, `next 3`, `20%`, `all` or `never`, with a `reason` beside it. */
export function readFailSettlement(step: StepSource): SettlementFaultStep | null {
  const { page } = step.file;
  const { value } = step.head;
  const { reason } = entriesBy(page, step.beside, ["reason"]);
  if (textOf(page, value, FAILURE_RULE) === null || value.kind !== "text") return null;
  const failure = failureOf(new LineWords(page, value));
  if (failure === null) return null;
  if (failure !== "never") {
    const text = reason === undefined ? null : reasonOf(page, reason.value);
    const terms = faultTerms({ kind: "fail", ...failure, ...(text === null ? {} : { reason: text }) });
    return { ...baseOf(step), kind: "failSettlement", fault: terms };
  }
  if (reason !== undefined) page.wrong(reason.key.start, "what never fails has no reason");
  return { ...baseOf(step), kind: "failSettlement", fault: null };
}

type Failure = Pick<SettlementFaultWords, "times" | "probability"> | "never";

function failureOf(line: LineWords): Failure | null {
  const word = line.peek();
  if (word?.text.endsWith("%")) {
    line.take("");
    const units = decimalIn(word.text.slice(0, -1), PERCENT);
    if (units === null) return line.page.unexpected(word.at, `${ruleText(PERCENT)}, then %`, word.text);
    return line.isOver() ? { probability: units / CERTAIN } : null;
  }
  const often = line.oneOf(HOW_OFTEN, FAILURE_RULE);
  if (often === null) return null;
  const count = often === "next" && line.peek() !== undefined ? line.take("") : null;
  const times = count === null ? 1 : decimalIn(count.text, FAULT_TIMES);
  if (times === null)
    return line.page.unexpected(count?.at ?? line.end, ruleText(FAULT_TIMES), count?.text ?? "");
  if (!line.isOver()) return null;
  if (often === "never") return "never";
  return often === "all" ? { probability: 1 } : { times };
}

const FIELDS = ["times", "probability", "blocks", "baseFeeGwei", "reason"] as const;

/** Reads `chain fault: { kind: delay, blocks: 3, times: 1 }`, or `chain fault: none`. */
export function readChainFault(step: StepSource): SettlementFaultStep | null {
  const { page } = step.file;
  const { value } = step.head;
  entriesBy(page, step.beside, []);
  const base = { ...baseOf(step), kind: "chainFault" } as const;
  if (value.kind === "text" && value.value === "none") return { ...base, fault: null };
  const fields = fieldsOf(page, value, "{ kind } and what belongs to it, or none", ["kind", ...FIELDS]);
  if (fields === null) return null;
  if (fields.kind === undefined) return page.wrong(value.start, "expected the key kind, found none");
  const kind = kindOf(page, fields.kind.value);
  if (kind === null) return null;
  const words: Partial<Record<FaultField, number | string>> = {};
  for (const field of FIELDS) {
    const entry: Entry | undefined = fields[field];
    if (entry === undefined || !belongs(page, entry, kind, field)) continue;
    const read = FAULT_FIELD_READERS[field](page, entry.value);
    if (read !== null) words[field] = read;
  }
  return { ...base, fault: faultTerms({ kind, ...(words as Omit<SettlementFaultWords, "kind">) }) };
}

/** What goes wrong; the API's kind reorg is a step of its own here. */
function kindOf(page: Page, node: Node): FaultKind | null {
  const isReorg = node.kind === "text" && node.value === "reorg";
  if (!isReorg) return oneOf(page, node, FAULT_KINDS);
  return page.wrong(node.start, "a reorganization is no fault but a step", "reorg: 1");
}

/** Whether a field means something of a kind; if not, that is a problem. */
function belongs(page: Page, { key }: Entry, kind: FaultKind, field: FaultField): boolean {
  const known = FAULT_FIELDS[kind];
  if (known.includes(field)) return true;
  page.wrong(key.start, `${field} means nothing of ${kind}`, `beside kind it takes ${orOf(known)}`);
  return false;
}

/** What each field holds, as POST /sim/chain/faults takes it. */
const FAULT_FIELD_READERS: Readonly<Record<FaultField, (page: Page, node: Node) => string | number | null>> =
  {
    times: (page, node) => unitsAt(page, node, FAULT_TIMES),
    probability: (page, node) => over(unitsAt(page, node, SETTLEMENT_PROBABILITY), CERTAIN),
    blocks: (page, node) => unitsAt(page, node, FAULT_BLOCKS),
    baseFeeGwei: (page, node) => over(unitsAt(page, node, GWEI), GWEI_UNITS),
    reason: (page, node) => reasonOf(page, node),
  };

const over = (units: number | null, whole: number): number | null => (units === null ? null : units / whole);

function reasonOf(page: Page, node: Node): string | null {
  const text = textOf(page, node, REASON_RULE);
  if (text === null) return null;
  return text.length <= LONGEST_REASON ? text : page.unexpected(node.start, REASON_RULE, text);
}

const KEYS = ["route", "status", "retryAfter", "latency", "drop", "probability", "times", "after"] as const;
type FaultKey = (typeof KEYS)[number];

const STATUSES = ["429", "500", "502", "503", "504"] as const;
const DROPS = ["connection", "reply"] as const;
const PROBABILITY_PLACES = 6;
const PROBABILITY: DecimalRule = {
  what: "a probability",
  places: PROBABILITY_PLACES,
  least: 0,
  most: 1_000_000,
};
const RETRY_AFTER: DecimalRule = { what: "a number of seconds", places: 0, least: 0, most: 86_400 };
const TIMES: DecimalRule = { what: "a number of times", places: 0, least: 1, most: 1_000_000_000 };
const AFTER: DecimalRule = { what: "a number of requests", places: 0, least: 0, most: 1_000_000_000 };

/** Reads `fault: { route: POST /order, status: 503, times: 1 }`. */
export function readFault(step: StepSource): FaultStep | null {
  const { page } = step.file;
  const { value } = step.head;
  entriesBy(page, step.beside, []);
  const fields = fieldsOf(page, value, "{ route, status, times }", KEYS);
  if (fields === null) return null;
  const { status, latency, drop } = fields;
  if (status === undefined && latency === undefined && drop === undefined) {
    return page.wrong(value.start, "expected a fault with status, latency or drop, found none of them");
  }
  if (status !== undefined && drop !== undefined) {
    return page.wrong(drop.key.start, "a dropped request has no status: give one of them");
  }
  const fault: Partial<Record<FaultKey, string | number>> = {};
  for (const key of KEYS) {
    const entry: Entry | undefined = fields[key];
    const read = entry === undefined ? null : READERS[key](page, entry.value);
    if (read !== null) fault[key] = read;
  }
  return { ...baseOf(step), kind: "fault", fault };
}

/** What each key holds, as POST /sim/faults takes it. */
const READERS: Readonly<Record<FaultKey, (page: Page, node: Node) => string | number | null>> = {
  route: (page, node) => textOf(page, node, "a route such as POST /order"),
  status: (page, node) => numberOf(oneOf(page, node, STATUSES)),
  retryAfter: (page, node) => unitsAt(page, node, RETRY_AFTER),
  latency: (page, node) => (durationAt(page, node) === null ? null : textOf(page, node, "a duration")),
  drop: (page, node) => oneOf(page, node, DROPS),
  probability: (page, node) => {
    const units = unitsAt(page, node, PROBABILITY);
    return units === null ? null : units / PROBABILITY.most;
  },
  times: (page, node) => unitsAt(page, node, TIMES),
  after: (page, node) => unitsAt(page, node, AFTER),
};

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text));
