import {
  FAULT_FIELDS,
  FAULT_KINDS,
  type FaultField,
  type FaultKind,
  faultTerms,
  type SettlementFaultWords,
} from "../../api/chain.ts";
import { CERTAIN } from "../../core/chain/settlement-fault.ts";
import { parseDuration } from "../../core/time.ts";
import { PROFILE_NAMES } from "../../simulation/flow.ts";
import { ACCOUNT_STEPS } from "./account-step.ts";
import { EXPECTATIONS, readExpectations } from "./expectations.ts";
import {
  countOf,
  type DecimalRule,
  decimalIn,
  durationAt,
  isName,
  itemsOf,
  MOMENT_RULE,
  mappingOf,
  matching,
  momentIn,
  NAME_RULE,
  oneOf,
  ruleText,
  textOf,
  unitsAt,
  valuesOf,
} from "./fields.ts";
import { LineWords } from "./line-words.ts";
import { rejectsAt } from "./own-expectations.ts";
import { attempt, type Entry, type Node, orOf, type Page } from "./page.ts";
import { REQUEST_STEP } from "./request-step.ts";
import { NEXT_ORDER, type SettlementFaultStep, type Step, type StepOf } from "./scenario.ts";
import type { Source } from "./scenario-files.ts";
import { type StepInfo, type StepSource, step } from "./step-source.ts";
import { WINNERS } from "./vocabulary.ts";

const BLOCKS = countOf("a number of blocks", 1, 100_000);
const MAX_TIMES = 1_000_000_000;
/** With one more the orders would be 5,040 for this race alone. */
const MAX_RACING = 6;

/** Every kind of step, declared once: how it is read, what it needs, what coverage and the reference page say of it. */
export const STEPS: Readonly<Record<Step["kind"], StepInfo>> = {
  ...ACCOUNT_STEPS,
  advance: step({
    key: "advance",
    form: "`advance: 30s`",
    does: "moves the clock by a duration",
    control: true,
    read: ({ page, head }) => ({ kind: "advance", by: durationAt(page, head.value) }),
  }),
  at: step({
    key: "at",
    form: "`at: 2026-01-01T00:05:00Z`, `at: expiry of bid - 1ms`",
    does: "moves it to a moment",
    control: true,
    read: (source) => ({ kind: "at", moment: momentAt(source) }),
  }),
  snapshot: step({
    key: "snapshot",
    form: "`snapshot: before`",
    does: "keeps everything",
    control: true,
    read: (source) => {
      const { page, head, declared } = source;
      const name = snapshotName(source);
      const { rounds, snapshots } = declared;
      if (snapshots.has(name) && !rounds.mayGiveAgain(`snapshot ${name}`))
        throw page.wrong(head.value.start, `a snapshot before is named ${name} already`);
      snapshots.add(name);
      rounds.give(`snapshot ${name}`);
      return { kind: "snapshot", name };
    },
  }),
  restore: step({
    key: "restore",
    form: "`restore: before`",
    does: "goes back to a snapshot",
    control: true,
    read: (source) => {
      const { page, head, declared } = source;
      const name = snapshotName(source);
      if (declared.snapshots.has(name)) return { kind: "restore", name };
      throw page.unknown(head.value.start, "snapshot", name, declared.snapshots);
    },
  }),
  replay: step({
    key: "replay",
    form: "`replay: morning.csv`",
    does: "plays a flow; or `{ file, in, rejected }`",
    control: () => "a flow whose accounts must be funded",
    refusals: ["rows"],
    read: (source) => {
      const { page, files, head, declared } = source;
      declared.hasFlow = true;
      if (head.value.kind === "text")
        return { kind: "replay", file: files.pathAt(source, head.value), market: null, rejected: 0 };
      const readers = {
        file: (node: Node) => files.pathAt(source, node),
        in: (node: Node) => marketAt(source, node),
        rejected: (node: Node) => unitsAt(page, node, countOf("a number of rows", 0, MAX_TIMES)),
      };
      const flow = valuesOf(page, head.value, "a path or { file, in, rejected }", readers, "file");
      return { kind: "replay", file: flow.file, market: flow.in ?? null, rejected: flow.rejected ?? 0 };
    },
  }),
  generate: step({
    key: "generate",
    form: "`generate: { orders: 100, accounts: 20, profile: balanced, in: market }`",
    does: "plays a made one; only `orders` is needed",
    control: () => "generated accounts that must be funded",
    read: (source) => {
      const { page, head, declared } = source;
      declared.hasFlow = true;
      const readers = {
        orders: (node: Node) => unitsAt(page, node, countOf("a number of orders", 1, 10_000_000)),
        accounts: (node: Node) => unitsAt(page, node, countOf("a number of accounts", 1, 10_000)),
        profile: (node: Node) => oneOf(page, node, PROFILE_NAMES),
        in: (node: Node) => marketAt(source, node),
      };
      const flow = valuesOf(page, head.value, "{ orders, accounts, profile }", readers, "orders");
      const { orders, accounts = 20, profile = "balanced" } = flow;
      const isNamed = mappingOf(page, head.value, "").entries.some(({ key }) => key.value === "in");
      const market = isNamed ? (flow.in ?? null) : declared.market(page, head.value.start, null);
      return { kind: "generate", orders, accounts, profile, market };
    },
  }),
  race: step({
    key: "race",
    form: "`race: [{ alice: cancel all }, { bob: cancel all }]`",
    does: "tries every order of its steps, each with the rest of the scenario; `after` must hold each time",
    control: true,
    refusals: ["without rejects"],
    // Read behind the steps, whose orders it may speak of.
    beside: { after: (node) => node },
    read: (source, { after }) => {
      const { page, head, readRacing } = source;
      const nodes = attempt(() => itemsOf(page, head.value, `a list of 2 to ${MAX_RACING} steps`)) ?? [];
      if (head.value.kind === "list" && (nodes.length < 2 || nodes.length > MAX_RACING))
        throw page.wrong(head.value.start, `expected 2 to ${MAX_RACING} steps, found ${nodes.length}`);
      const steps = readRacing(nodes);
      return { kind: "race", steps, after: after === undefined ? [] : readExpectations(source, after) };
    },
  }),
  fault: step({
    key: "fault",
    form: "`fault: { route: POST /order, status: 503, retryAfter: 1, probability: 0.5, times: 1, after: 2 }`",
    does: "lets requests fail; also `drop: connection`, `drop: reply`, `latency: 20ms`",
    isOverHttp: true,
    control: true,
    read: (source) => ({ kind: "fault", fault: readFault(source) }),
  }),
  request: REQUEST_STEP,
  expect: step({
    key: "expect",
    form: "`expect: { orders: { bid: LIVE 0/10 } }`",
    does: "says what must be true",
    control: (expects) => {
      const expectations = expects.kind === "expect" ? expects.expectations : [];
      const control = expectations.find(({ kind }) => EXPECTATIONS[kind].isControl);
      return control === undefined ? null : EXPECTATIONS[control.kind].key;
    },
    read: (source) => ({ kind: "expect", expectations: readExpectations(source, source.head.value) }),
  }),
  close: step({
    key: "close",
    form: "`close: market`",
    does: "ends trading in a market; the only one may be called by its name as well",
    control: true,
    read: (source) => ({ kind: "close", market: marketAt(source, source.head.value) }),
  }),
  resolve: step({
    key: "resolve",
    form: "`resolve: SPLIT`",
    does: "ends a market: `YES`, `NO` or `SPLIT`; `in MARKET`",
    control: true,
    read: ({ page, head, declared }) => {
      const line = LineWords.at(page, head.value, orOf(WINNERS));
      const outcome = line.oneOf(WINNERS);
      const market = line.market();
      line.requireEnd("in MARKET or the end of the line", ["in"]);
      const kept = declared.market(page, market?.at ?? line.end, market?.text ?? null);
      return { kind: "resolve", market: kept, outcome };
    },
  }),
  mine: step({
    key: "mine",
    form: "`mine: 2`",
    does: "mines blocks, whatever the mode",
    control: true,
    read: ({ page, head }) => ({ kind: "mine", blocks: unitsAt(page, head.value, BLOCKS) }),
  }),
  reorg: step({
    key: "reorg",
    form: "`reorg: 1`",
    does: "replaces the latest blocks, two at most, by empty ones",
    control: true,
    refusals: ["rejects"],
    beside: { rejects: (node, { page }) => rejectsAt(page, node) },
    read: ({ page, head }, { rejects = null }) => ({
      kind: "reorg",
      depth: unitsAt(page, head.value, BLOCKS),
      rejects,
    }),
  }),
  failSettlement: step({
    key: "fail settlement",
    form: "`fail settlement: next 3`",
    does: "lets settlements fail: `next`, `20%`, `all`; `never` is the end of it",
    control: true,
    beside: { reason: (node, { page }) => reasonAt(page, node) },
    read: (source, { reason }) => ({ kind: "failSettlement", fault: readFailure(source, reason), of: null }),
  }),
  chainFault: step({
    key: "chain fault",
    form: "`chain fault: { kind: delay, blocks: 3, times: 1, probability: 0.5 }`, `chain fault: none`",
    does: "other faults: `fail`, `retry`, `delay`, `ghost`, `gas-spike` with `baseFeeGwei`; `of: ORDER` hits what that order took alone, `of: next order` what the order placed next takes; ends them all",
    control: true,
    read: (source) => ({ kind: "chainFault", ...readChainFault(source, source.head.value) }),
  }),
  bump: step({
    key: "bump",
    form: "`bump: fees`",
    does: "lets the exchange offer more for what it has pending",
    control: true,
    read: ({ page, head }) => {
      oneOf(page, head.value, ["fees"]);
      return { kind: "bump" };
    },
  }),
};

/** What stands for other steps: how it is written, and what it does. */
export const STRUCTURE = {
  include: { form: "`include: _quotes.yaml`", does: "takes the steps of another file" },
  repeat: {
    form: "`{ repeat: 20, steps: [{ alice: BUY 1 YES @ 0.50 as bid# }] }`",
    does: "takes its `steps` so often; `#` in the name of an order or snapshot is the number of the round",
  },
} as const;

/** The steps that have a key of their own, by it. */
export const STEP_OF_KEY: ReadonlyMap<string, StepInfo> = new Map(
  Object.values(STEPS).flatMap((info) => (info.key === undefined ? [] : [[info.key, info]])),
);
/** Keys that say what a step does. */
export const STEP_WORDS: readonly string[] = [...STEP_OF_KEY.keys(), ...Object.keys(STRUCTURE)];
/** Keys that stand beside the one that says what a step does. */
export const BESIDE_WORDS: ReadonlySet<string> = new Set([
  ...Object.values(STEPS).flatMap(({ beside = {} }) => Object.keys(beside)),
  "steps",
]);

const RESERVED: ReadonlySet<string> = new Set([...STEP_WORDS, ...BESIDE_WORDS]);

/** Whether a word means something as the key of a step, so that no account can have it for a name. */
export const isReserved = (name: string): boolean => RESERVED.has(name);

/** A market that is named. */
function marketAt({ page, declared }: Source, node: Node): string | null {
  return declared.market(page, node.start, textOf(page, node, "the name of a market"));
}

function snapshotName({ page, head, declared: { rounds } }: StepSource): string {
  return rounds.named(matching(page, head.value, (text) => isName(rounds.named(text)), NAME_RULE));
}

const AT_RULE = `${MOMENT_RULE}, or expiry of ORDER`;
const OFFSET_RULE = "a duration such as 1ms";

function momentAt({ page, head, declared }: StepSource): StepOf<"at">["moment"] {
  const line = LineWords.at(page, head.value, AT_RULE);
  if (line.takeIf("expiry") === null)
    return { at: momentIn(page, head.value.start, textOf(page, head.value, AT_RULE), AT_RULE) };
  line.require("of");
  const { text, at } = line.take("the name of an order");
  const expiryOf = declared.orderNamed(page, at, text);
  const type = declared.orders.get(expiryOf) ?? "GTD";
  if (type !== "GTD") throw page.wrong(at, `order ${expiryOf} is ${type} and does not expire`);
  if (line.peek() === undefined) return { expiryOf, offset: 0 };
  const sign = line.oneOf(["+", "-"], "+, - or the end of the line");
  const length = line.take(OFFSET_RULE);
  const duration = parseDuration(length.text);
  if (duration === null) throw page.unexpected(length.at, OFFSET_RULE, length.text);
  line.requireEnd();
  return { expiryOf, offset: sign === "-" && duration !== 0 ? -duration : duration };
}

const HTTP_STATUSES = ["429", "500", "502", "503", "504"] as const;
const MILLION = 1_000_000;
const PROBABILITY: DecimalRule = { what: "a probability", places: 6, least: 0, most: MILLION };

/** Reads `{ route: POST /order, status: 503, times: 1 }` as POST /sim/faults takes it. */
function readFault({ page, head: { value } }: StepSource): Record<string, string | number | boolean> {
  const { entries } = mappingOf(page, value, "{ route, status, times }, a mapping");
  const keyOf = (name: string): Entry["key"] | undefined =>
    entries.find(({ key }) => key.value === name)?.key;
  const [status, drop] = [keyOf("status"), keyOf("drop")];
  const times =
    (what: string, least: number, most = MAX_TIMES) =>
    (node: Node) =>
      unitsAt(page, node, countOf(what, least, most));
  const fault = valuesOf(page, value, "", {
    route: (node) => textOf(page, node, "a route such as POST /order"),
    status: (node) => Number(oneOf(page, node, HTTP_STATUSES)),
    retryAfter: times("a number of seconds", 0, 86_400),
    latency: (node) => {
      durationAt(page, node);
      return textOf(page, node, "");
    },
    drop: (node) => oneOf(page, node, ["connection", "reply"]),
    probability: (node) => unitsAt(page, node, PROBABILITY) / MILLION,
    times: times("a number of times", 1),
    after: times("a number of requests", 0),
  });
  if (status === undefined && drop === undefined && keyOf("latency") === undefined)
    throw page.wrong(value.start, "expected a fault with status, latency or drop, found none of them");
  if (status !== undefined && drop !== undefined)
    throw page.wrong(drop.start, "a dropped request has no status: give one of them");
  return fault as Record<string, string | number>;
}

const PERCENT: DecimalRule = { what: "a share", places: 4, least: 1, most: CERTAIN };
const SETTLEMENTS = countOf("a number of settlements", 1, MAX_TIMES);
/** In millionths of a gwei. */
const GWEI: DecimalRule = { what: "a fee in gwei", places: 6, least: 0, most: MILLION * MILLION };
const MAX_REASON_LENGTH = 200;
const REASON_RULE = `a reason of 1 to ${MAX_REASON_LENGTH} characters`;
const ORDER_RULE = `the name of an order, or ${NEXT_ORDER}`;
const FAILURE_RULE = "next, next 3, a share such as 20%, all or never";

/** Reads `next`, `next 3`, `20%`, `all` or `never`; null ends what fails. */
function readFailure(
  { page, head, beside }: StepSource,
  reason: string | undefined,
): SettlementFaultStep["fault"] {
  const failure = failureOf(LineWords.at(page, head.value, FAILURE_RULE));
  if (failure !== null)
    return faultTerms({ kind: "fail", ...failure, ...(reason === undefined ? {} : { reason }) });
  const [given] = beside;
  if (given !== undefined) page.wrong(given.key.start, "what never fails has no reason");
  return null;
}

function failureOf(line: LineWords): Pick<SettlementFaultWords, "times" | "probability"> | null {
  const word = line.peek();
  if (word?.text.endsWith("%")) {
    line.take("");
    const units = decimalIn(word.text.slice(0, -1), PERCENT);
    if (units === null) throw line.page.unexpected(word.at, `${ruleText(PERCENT)}, then %`, word.text);
    line.requireEnd();
    return { probability: units / CERTAIN };
  }
  const often = line.oneOf(["next", "all", "never"], FAILURE_RULE);
  const times = often === "next" && line.peek() !== undefined ? line.decimal(SETTLEMENTS) : 1;
  line.requireEnd();
  if (often === "never") return null;
  return often === "all" ? { probability: 1 } : { times };
}

/** Reads `{ kind: delay, blocks: 3, times: 1 }` as POST /sim/chain/faults takes it, or `none`. */
function readChainFault(
  { page, declared }: StepSource,
  value: Node,
): Pick<SettlementFaultStep, "fault" | "of"> {
  if (value.kind === "text" && value.value === "none") return { fault: null, of: null };
  const { entries } = mappingOf(page, value, "{ kind } and what belongs to it, or none, a mapping");
  const kindNode = entries.find(({ key }) => key.value === "kind")?.value;
  const kind = kindNode && attempt(() => faultKindAt(page.silent(), kindNode));
  const only =
    <Value>(field: FaultField, read: (node: Node) => Value) =>
    (node: Node, key: Entry["key"]): Value => {
      if (kind === undefined || FAULT_FIELDS[kind].includes(field)) return read(node);
      throw page.wrong(
        key.start,
        `${field} means nothing of ${kind}`,
        `beside kind it takes ${orOf(FAULT_FIELDS[kind])}`,
      );
    };
  const readers = {
    kind: (node: Node) => faultKindAt(page, node),
    times: only("times", (node) => unitsAt(page, node, SETTLEMENTS)),
    probability: only(
      "probability",
      (node) => unitsAt(page, node, { ...PROBABILITY, most: CERTAIN }) / CERTAIN,
    ),
    blocks: only("blocks", (node) => unitsAt(page, node, BLOCKS)),
    baseFeeGwei: only("baseFeeGwei", (node) => unitsAt(page, node, GWEI) / MILLION),
    reason: only("reason", (node) => reasonAt(page, node)),
    of: only("of", (node) => {
      const name = textOf(page, node, ORDER_RULE);
      return name === NEXT_ORDER ? name : declared.orderNamed(page, node.start, name);
    }),
  };
  const words = valuesOf(page, value, "", readers, "kind");
  return { fault: faultTerms(words), of: words.of ?? null };
}

/** What goes wrong; the API's kind reorg is a step of its own here. */
function faultKindAt(page: Page, node: Node): FaultKind {
  const isReorg = node.kind === "text" && node.value === "reorg";
  if (!isReorg) return oneOf(page, node, FAULT_KINDS);
  throw page.wrong(node.start, "a reorganization is no fault but a step", "reorg: 1");
}

function reasonAt(page: Page, node: Node): string {
  return matching(page, node, (text) => text.length <= MAX_REASON_LENGTH, REASON_RULE);
}
