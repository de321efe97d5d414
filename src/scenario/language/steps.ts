import {
  chainEndpoints,
  FAULT_KINDS,
  type FaultKind,
  faultTerms,
  MAX_REASON_LENGTH,
  requireFieldsOfKind,
  type SettlementFaultWords,
} from "../../api/chain.ts";
import { faultEndpoints } from "../../api/control.ts";
import type { BodySpec } from "../../api/endpoint.ts";
import type { Operation, ReplyTo } from "../../api/endpoints.ts";
import { ApiError } from "../../api/errors.ts";
import { MAX_TIMES } from "../../api/schemas.ts";
import { BOT_PROFILES } from "../../bots/profiles.ts";
import { CERTAIN, type SettlementFaultTerms } from "../../core/chain/chain.ts";
import { type Command, type CommandOf, MAX_BLOCKS } from "../../core/commands.ts";
import { anyOf, type BalancePolicy, type SettlementMode, WINNING_OUTCOMES } from "../../core/terms.ts";
import type { Millis } from "../../core/units.ts";
import { faultPlan } from "../../server/faults.ts";
import { FLOW_FILE, FLOW_PROFILES, formatOf, MAX_ACCOUNTS, MAX_FLOW_ORDERS } from "../../simulation/flow.ts";
import { ACCOUNT_STEPS } from "./account-step.ts";
import type { AccountTerms, MarketTerms } from "./declarations.ts";
import { expectationInfo, readExpectations } from "./expectations.ts";
import {
  decimal,
  decimalIn,
  duration,
  itemsOf,
  keyOf,
  LineWords,
  MOMENT_RULE,
  matching,
  moment,
  oneOf,
  type Readers,
  ruleText,
  units,
  valuesOf,
} from "./fields.ts";
import { NEXT_ORDER, rejectsAt } from "./order-line.ts";
import { attempt, meaning, type Node, type Place, UNREADABLE } from "./page.ts";
import { REQUEST_STEP } from "./request-step.ts";
import type { Source } from "./scenario-files.ts";
import { type StepBase, type StepInfo, type StepSource, step } from "./step-source.ts";

const BLOCKS = decimal("a number of blocks", 1, MAX_BLOCKS);
const NO_BOTS = "none";
/** Seven steps would have 5,040 orders, the limit of a whole scenario. */
const MAX_RACING = 6;

/** Every kind of step: its reader, its needs, and its name in coverage. docs/reference/scenario-language.md describes each. */
export const STEPS = {
  ...ACCOUNT_STEPS,
  advance: step({ read: ({ head }) => ({ by: duration()(head.value) }) }),
  at: step({ read: (source) => ({ moment: momentAt(source) }) }),
  snapshot: step({
    read: (source) => {
      const { rounds, snapshots } = source.declared;
      const name = rounds.nameIn(source.head.value);
      if (snapshots.has(name) && !rounds.mayRedeclare(`snapshot ${name}`))
        throw source.head.value.wrong(`another snapshot is named ${name} already`);
      snapshots.add(name);
      rounds.declare(`snapshot ${name}`);
      return { name };
    },
  }),
  restore: step({
    read: (source) => {
      const { rounds, snapshots } = source.declared;
      const name = rounds.nameIn(source.head.value);
      if (snapshots.has(name)) return { name };
      throw source.head.value.unknown("snapshot", snapshots, null, name);
    },
  }),
  replay: step({
    // Even if the flow funds nobody: its file is read when the step runs.
    control: "a flow that may fund its accounts",
    refusals: ["rows"],
    read: ({ files, head: { value }, declared }) => {
      declared.hasFlow = true;
      const flowAt = (node: Node): string => {
        const path = files.pathAt(node);
        if (formatOf(path) === undefined) throw node.unexpected(FLOW_FILE);
        return path;
      };
      if (value.kind === "text") return { file: flowAt(value), market: null, rejected: 0 };
      const readers = {
        file: flowAt,
        in: (node: Node) => marketAt(node, declared),
        rejected: units(decimal("a number of rows", 0, MAX_TIMES)),
      };
      const flow = valuesOf(value, "a path or { file, in, rejected }", readers, "file");
      return { file: flow.file, market: flow.in ?? null, rejected: flow.rejected ?? 0 };
    },
  }),
  generate: step({
    control: "generated accounts that must be funded",
    read: ({ head: { value }, declared }) => {
      declared.hasFlow = true;
      const readers = {
        orders: units(decimal("a number of orders", 1, MAX_FLOW_ORDERS)),
        accounts: units(decimal("a number of accounts", 1, MAX_ACCOUNTS)),
        profile: oneOf(FLOW_PROFILES),
        in: (node: Node) => marketAt(node, declared),
      };
      const flow = valuesOf(value, "{ orders, accounts, profile }", readers, "orders");
      const { orders, accounts = 20, profile = "balanced" } = flow;
      const market =
        keyOf(value.entries, "in") === undefined ? declared.market(value, null) : (flow.in ?? null);
      return { orders, accounts, profile, market };
    },
  }),
  race: step({
    refusals: ["without rejects"],
    // Read after the steps, because it may refer to their orders.
    beside: { after: (node) => node },
    read: (source, { after }) => {
      const { value } = source.head;
      const nodes = attempt(() => itemsOf(value, `a list of 2 to ${MAX_RACING} steps`)) ?? [];
      if (value.kind === "list" && (nodes.length < 2 || nodes.length > MAX_RACING))
        throw value.wrong(`expected 2 to ${MAX_RACING} steps, found ${nodes.length}`);
      const steps = source.readRacing(nodes);
      return { steps, after: after === undefined ? [] : readExpectations(source, after) };
    },
  }),
  fault: step({
    isOverHttp: true,
    read: ({ head: { value } }) => ({
      fault: bodyIn(value, "{ route, status, times }", faultEndpoints.addFault.body, faultPlan),
    }),
  }),
  request: REQUEST_STEP,
  expect: step({
    read: (source) => ({ expectations: readExpectations(source, source.head.value) }),
    control: ({ expectations }) => {
      const control = expectations.find(({ kind }) => expectationInfo(kind).isControl);
      return control === undefined ? null : (expectationInfo(control.kind).key ?? control.kind);
    },
  }),
  close: step({ read: ({ head, declared }) => ({ market: marketAt(head.value, declared) }) }),
  resolve: step({
    read: ({ head, declared }) => {
      const line = new LineWords(head.value, anyOf(WINNING_OUTCOMES));
      const outcome = line.oneOf(WINNING_OUTCOMES);
      return { market: declared.lastMarketOf(line), outcome };
    },
  }),
  mine: step({ read: ({ head }) => ({ blocks: units(BLOCKS)(head.value) }) }),
  reorg: step({
    refusals: ["rejects"],
    beside: { rejects: rejectsAt },
    read: ({ head }) => ({ depth: units(BLOCKS)(head.value) }),
  }),
  failSettlement: step({
    key: "fail settlement",
    beside: { reason: (node) => reason(node) },
    read: (source, { reason: why }) => ({ fault: readFailure(source, why), of: null }),
  }),
  chainFault: step({
    key: "chain fault",
    read: ({ head, declared }) => ({ ...readChainFault(head.value, declared) }),
  }),
  bots: step({
    read: ({ head, declared }) => {
      declared.hasFlow = true;
      const profile = oneOf([...BOT_PROFILES, NO_BOTS])(head.value);
      return { profile: profile === NO_BOTS ? null : profile };
    },
  }),
  bump: step({
    read: ({ head }) => {
      oneOf(["fees"])(head.value);
      return {};
    },
  }),
};

/** The single request that executes a step. */
export interface StepCall<O extends Operation = Operation> {
  readonly operation: O;
  /** Null for the only market; undefined if the request is not about a market. */
  readonly market?: string | null;
  readonly body?: object;
  /** Returns the text of the reply in the transcript. */
  transcript?(reply: ReplyTo<O>): string;
}

const call = <O extends Operation>(operation: O, rest: Omit<StepCall<O>, "operation"> = {}): StepCall =>
  ({ operation, ...rest }) as StepCall;

export const CALLS = {
  close: ({ market }) => call("closeMarket", { market }),
  resolve: ({ market, outcome }) => call("resolveMarket", { market, body: { winningOutcome: outcome } }),
  fault: ({ fault }) => call("addFault", { body: fault }),
  mine: ({ blocks }) =>
    call("mineBlocks", { body: { blocks }, transcript: ({ head }) => `block ${head.number}` }),
  reorg: ({ depth }) => call("addSettlementFault", { body: { kind: "reorg", depth } }),
  bots: ({ profile }) => (profile === null ? call("endBots") : call("startBots", { body: { profile } })),
  bump: () => call("bumpFees", { transcript: ({ bumped }) => `${bumped} raised` }),
} satisfies {
  readonly [Kind in keyof typeof STEPS]?: (step: ReturnType<(typeof STEPS)[Kind]["read"]>) => StepCall;
};

/** Writes a command as a step. `inMarket` is ` in rain`, or empty if there is only one market. */
export type Written<Given> = (
  command: Given,
  names: Readonly<Record<"market" | "inMarket", (number: number) => string>>,
) => readonly [key: string, value: string];

export const WRITTEN = {
  closeMarket: ({ market }, names) => ["close", names.market(market)],
  resolveMarket: ({ market, winningOutcome }, names) => ["resolve", winningOutcome + names.inMarket(market)],
  mineBlocks: ({ count }) => ["mine", String(count)],
  reorganizeChain: ({ depth }) => ["reorg", String(depth)],
  bumpFees: () => ["bump", "fees"],
} satisfies { readonly [Kind in Command["kind"]]?: Written<CommandOf<Kind>> };

export type OneStepCommand = Extract<Command, { readonly kind: keyof typeof WRITTEN }>;
export const isOneStep = (command: Command): command is OneStepCommand =>
  Object.hasOwn(WRITTEN, command.kind);

/** Keys that insert the steps of another file, or repeat steps. */
export const STRUCTURE = ["include", "repeat"] as const;

const ROWS = Object.entries<StepInfo>(STEPS) as readonly (readonly [keyof typeof STEPS, StepInfo])[];
export const STEP_OF_KEY: ReadonlyMap<string, keyof typeof STEPS> = new Map(
  ROWS.flatMap(([kind, { key = kind }]) => (Object.hasOwn(ACCOUNT_STEPS, kind) ? [] : [[key, kind]])),
);
export const STEP_KEYS: readonly string[] = [...STEP_OF_KEY.keys(), ...STRUCTURE];
/** Keys that steps have in other tools, each with the key here. */
export const KEYS_OF_OTHER_TOOLS: ReadonlyMap<string, string> = new Map([
  ["wait", "advance"],
  ["sleep", "advance"],
  ["assert", "expect"],
  ["check", "expect"],
]);
/** Keys that may accompany the key of a step. */
export const BESIDE_KEYS: ReadonlySet<string> = new Set([
  ...ROWS.flatMap(([, { beside = {} }]) => Object.keys(beside)),
  "steps",
]);

/** Whether a word is a key of steps, which no account can have as its name. */
export const isReserved = (name: string): boolean => BESIDE_KEYS.has(name) || STEP_KEYS.includes(name);

const marketAt = (node: Node, declared: Source["declared"]): string | null =>
  declared.market(node, node.textFor("the name of a market"));

const AT_RULE = `${MOMENT_RULE}, or expiry of ORDER`;

/** Reads a moment, or an order's expiration plus an offset in milliseconds. */
function momentAt(source: StepSource): { at: Millis } | { expiryOf: string; offset: number } {
  const { head, declared } = source;
  const line = new LineWords(head.value, AT_RULE);
  if (line.takeIf("expiry") === null) return { at: moment(AT_RULE)(head.value) };
  line.require("of");
  const word = line.take("the name of an order");
  const expiryOf = declared.orderNamed(word);
  const type = declared.orders.get(expiryOf) ?? "GTD";
  if (type !== "GTD") throw word.wrong(`order ${expiryOf} is ${type} and does not expire`);
  if (line.peek() === undefined) return { expiryOf, offset: 0 };
  const sign = line.oneOf(["+", "-"], "+, - or the end of the line");
  const rule = "a duration such as 1ms";
  const length = duration(rule)(line.take(rule));
  line.requireEnd();
  return { expiryOf, offset: sign === "-" && length !== 0 ? -length : length };
}

/** Reads the body of a request to /sim, and checks it as the server does; `own` are readers of some of its fields. */
function bodyIn<Body extends object>(
  node: Node,
  expected: string,
  { fields, read }: BodySpec<Body>,
  check: (body: Body) => unknown,
  own: Readers = {},
  required?: string,
): Body {
  const readers = { ...Object.fromEntries(fields.map((name) => [name, scalar])), ...own };
  const values = valuesOf(node, expected, readers, required);
  // A value that could not be read is reported already.
  if (node.entries.some(({ key }) => values[key.text] === undefined)) throw UNREADABLE;
  try {
    const body = read(values);
    check(body);
    return body;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const wrong = error.help.details?.fields as readonly string[];
    const entry = node.entries.findLast(({ key }) => wrong.includes(key.text));
    throw (entry?.value ?? node).wrong(error.message, error.help.hint);
  }
}

function scalar(node: Node): string | number {
  const given = node.textFor("a number or a text");
  return /^-?\d+(?:\.\d+)?$/.test(given) ? Number(given) : given;
}

const PERCENT = decimal("a share", 1, CERTAIN, 4);
const SETTLEMENTS = decimal("a number of settlements", 1, MAX_TIMES);
const FAILURE_RULE = "next, next 3, a share such as 20%, all or never";

const reason = matching(
  ({ length }) => length <= MAX_REASON_LENGTH,
  `a reason of 1 to ${MAX_REASON_LENGTH} characters`,
);

/** Reads `next`, `next 3`, `20%`, `all` or `never`; null for `never`. */
function readFailure({ head, beside }: StepSource, why: string | undefined): SettlementFaultTerms | null {
  const failure = failureOf(new LineWords(head.value, FAILURE_RULE));
  if (failure !== null)
    return faultTerms({ kind: "fail", ...failure, ...(why === undefined ? {} : { reason: why }) });
  beside[0]?.key.wrong("`never` takes no reason");
  return null;
}

function failureOf(line: LineWords): Pick<SettlementFaultWords, "times" | "probability"> | null {
  if (line.peek()?.text.endsWith("%")) {
    const word = line.take("");
    const share = decimalIn(word.text.slice(0, -1), PERCENT);
    if (share === null) throw word.unexpected(`${ruleText(PERCENT)}, then %`);
    line.requireEnd();
    return { probability: share / CERTAIN };
  }
  const often = line.oneOf(["next", "all", "never"], FAILURE_RULE);
  const times = often === "next" && line.peek() !== undefined ? line.units(SETTLEMENTS) : 1;
  line.requireEnd();
  if (often === "never") return null;
  return often === "all" ? { probability: 1 } : { times };
}

/** Reads `{ kind: delay, blocks: 3 }`, or `none` as null. `of`: the order that it is limited to, or `NEXT_ORDER`; null for any. */
function readChainFault(node: Node, declared: Source["declared"]) {
  if (node.text === "none") return { fault: null, of: null };
  const own: Readers = {
    kind: faultKindAt,
    reason,
    of: (value) => {
      const name = value.textFor(`the name of an order, or ${NEXT_ORDER}`);
      if (name === "next" && !declared.orders.has(name))
        throw value.unexpected("the name of an order", [], meaning(NEXT_ORDER));
      return name === NEXT_ORDER ? name : declared.orderNamed(value);
    },
  };
  const body = chainEndpoints.addSettlementFault.body;
  const expected = "{ kind } and what belongs to it, or none";
  const words = bodyIn(node, expected, body, requireFieldsOfKind, own, "kind");
  return { fault: faultTerms(words as SettlementFaultWords), of: words.of ?? null };
}

/** Reads the kind of a fault; the API's kind `reorg` is a separate step here. */
function faultKindAt(node: Node): FaultKind {
  if (node.text === "reorg") throw node.wrong("a reorganization is a step, not a fault", "reorg: 1");
  return oneOf(FAULT_KINDS)(node);
}

/** A scenario read from its file. Quantities are in the core's units; every part has its place. */
export interface Scenario {
  readonly name: string;
  readonly place: Place;
  readonly seed: string;
  readonly clock: Millis;
  /** When blocks of the settlement chain are mined. */
  readonly settlement: SettlementMode;
  readonly balances: BalancePolicy;
  /** Absolute path of its world file; null for none. */
  readonly world: string | null;
  /** The markets it declares, in order; empty with a world file. */
  readonly markets: readonly MarketTerms[];
  readonly accounts: readonly AccountTerms[];
  readonly steps: readonly Step[];
}

export type StepKind = keyof typeof STEPS;
/** Fields of a kind of step, as read by its row in the table of steps. */
type Content<Kind extends StepKind> = ReturnType<(typeof STEPS)[Kind]["read"]>;
interface RaceContent extends Omit<Content<"race">, "steps"> {
  readonly steps: readonly SingleStep[];
}

export type StepOf<Kind extends StepKind> = {
  [Each in Kind]: StepBase & { readonly kind: Each } & Readonly<
      Each extends "race" ? RaceContent : Content<Each>
    >;
}[Kind];
export type Step = StepOf<StepKind>;

export type RaceStep = StepOf<"race">;
/** Any step but a race, which runs its steps several times. */
export type SingleStep = StepOf<Exclude<StepKind, "race">>;
export type RequestStep = StepOf<"request">;
export type FlowStep = StepOf<"replay" | "generate">;

const rowOf = (kind: StepKind): StepInfo => STEPS[kind] as StepInfo;

/** Yields every step of a scenario, including those of races. */
export function* stepsOf(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    if (step.kind === "race") yield* stepsOf(step.steps);
  }
}

/** Returns the number of steps as runs number them: every round of a repeat counts, and every step of a race. */
export const stepCount = ({ steps }: Scenario): number => [...stepsOf(steps)].length;

export const needsHttp = ({ steps }: Scenario): boolean =>
  [...stepsOf(steps)].some(({ kind }) => rowOf(kind).isOverHttp);

/** Returns what a scenario needs the control plane for, in words; null if the public API is enough. */
export function controlNeedOf(scenario: Scenario): string | null {
  if (scenario.world !== null) return "needs control plane: it opens a world of its own";
  if (scenario.settlement !== "instant") return `needs control plane: settlement ${scenario.settlement}`;
  if (scenario.balances !== "optimistic") return `needs control plane: balances ${scenario.balances}`;
  for (const step of stepsOf(scenario.steps)) {
    const { control, key = step.kind } = rowOf(step.kind);
    const need = typeof control === "function" ? control(step) : control === undefined ? key : control;
    if (need !== null) return `needs control plane: line ${step.place.line} (${need})`;
  }
  return null;
}
