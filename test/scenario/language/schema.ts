import { Ajv } from "ajv";
import { parse } from "yaml";
import { FAULT_FIELDS, FAULT_KINDS, type FaultField } from "../../../src/api/chain.ts";
import { BOT_PROFILES } from "../../../src/bots/profiles.ts";
import { SETTLEMENT_STATUSES } from "../../../src/core/chain/settlement.ts";
import { ORDER_STATUSES } from "../../../src/core/order.ts";
import {
  BALANCE_POLICIES,
  CANCEL_REASONS,
  MATCHINGS,
  ORDER_TYPES,
  OUTCOMES,
  SELF_TRADE_POLICIES,
  SETTLEMENT_MODES,
  SIDES,
  TICK_SIZES,
  WINNING_OUTCOMES,
} from "../../../src/core/terms.ts";
import { ACCOUNT_STEPS, TRANSACTION_CODES } from "../../../src/scenario/language/account-step.ts";
import { EXPECTATIONS, type ExpectationInfo } from "../../../src/scenario/language/expectations.ts";
import { type DecimalRule, SHARES, SIZE, USDC } from "../../../src/scenario/language/fields.ts";
import { BARE_STATUS, REFUSAL_CODES } from "../../../src/scenario/language/order-line.ts";
import type { StepInfo } from "../../../src/scenario/language/step-source.ts";
import {
  BESIDE_KEYS,
  STEP_KEYS,
  STEP_OF_KEY,
  STEPS,
  type STRUCTURE,
} from "../../../src/scenario/language/steps.ts";
import { FLOW_PROFILES } from "../../../src/simulation/flow.ts";
import { DESCRIBED_EXPECTATIONS, DESCRIBED_STEPS, type Description } from "./descriptions.ts";

type Schema = Readonly<Record<string, unknown>>;

/** YAML reads `7` as a number and `yes` as a text; the language reads both as they are written. */
const TEXT: Schema = { type: ["string", "number", "boolean"] };
const NONE: Schema = { type: "null" };
const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const list = (items: Schema): Schema => ({ type: "array", items });
const either = (...anyOf: readonly Schema[]): Schema => ({ anyOf });
const words = (texts: readonly string[]): Schema => ({ enum: texts });
const said = (schema: Schema, description: string): Schema => ({ ...schema, description });
/** A mapping with only these keys. */
const fields = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  ...{ type: "object", additionalProperties: false, properties },
  ...(required.length === 0 ? {} : { required }),
});
/** A mapping whose keys match a pattern. */
const by = (pattern: string, value: Schema): Schema => ({
  ...{ type: "object", minProperties: 1, additionalProperties: false },
  patternProperties: { [`^\\s*${pattern}\\s*$`]: value },
});
/** A line of words, separated by spaces, none repeated. */
const line = (...parts: readonly string[]): Schema => ({
  type: "string",
  pattern: `^\\s*${parts.join("\\s+")}\\s*$`,
});

const among = (texts: readonly string[]): string => `(?:${texts.join("|")})`;
const maybe = (...parts: readonly string[]): string => `(?:\\s+${parts.join("\\s+")})?`;
const DECIMAL = "\\d*\\.?\\d+";
const WORD = "\\S+";
const NAME = "[A-Za-z][A-Za-z\\d_#-]*";
const TOKEN = `(?:${WORD}\\s+)?${among(OUTCOMES)}`;
const IN_MARKET = maybe("in", WORD);
const MOMENT = "\\d{4}-\\d\\d-\\d\\dT\\S+";

const decimal = ({ places, min, max }: DecimalRule): Schema =>
  either(
    { type: "number", minimum: min / 10 ** places, maximum: max / 10 ** places },
    { type: "string", pattern: "^\\d+(?:\\.\\d+)?$" },
  );
const whole = (minimum: number, maximum?: number): Schema =>
  either(
    { type: "integer", minimum, ...(maximum === undefined ? {} : { maximum }) },
    { type: "string", pattern: "^\\d+$" },
  );
const PROBABILITY: Schema = { type: "number", minimum: 0, maximum: 1 };
const DURATION: Schema = { type: "string", pattern: "^\\s*(?:\\d+(?:\\.\\d+)?(?:ms|s|m|h|d))+\\s*$" };

/** Values of account steps, by kind. */
const ACCOUNT_LINES: Readonly<Record<keyof typeof ACCOUNT_STEPS, Schema>> = {
  order: line(
    ...[among(SIDES), DECIMAL, among(OUTCOMES), "@"],
    `${DECIMAL}${maybe(among(ORDER_TYPES))}${maybe(`(?:\\+|${MOMENT})\\S*`)}${IN_MARKET}${maybe("as", NAME)}`,
  ),
  cancel: line("cancel", NAME),
  cancelAll: line("cancel", "all"),
  fund: line("fund", DECIMAL, `(?:USDC|${among(OUTCOMES)}${IN_MARKET})`),
  split: line("split", `${DECIMAL}${IN_MARKET}`),
  merge: line("merge", `${DECIMAL}${IN_MARKET}`),
  redeem: line(`redeem${IN_MARKET}`),
};

const FLOW = { file: TEXT, in: TEXT, rejected: whole(0) };

const FAULT_FIELD: Readonly<Record<Exclude<FaultField, "depth">, Schema>> = {
  times: whole(1),
  probability: PROBABILITY,
  reason: TEXT,
  of: TEXT,
  blocks: whole(1),
  baseFeeGwei: { type: "number", minimum: 0 },
};

type OwnKey = Exclude<keyof typeof STEPS, keyof typeof ACCOUNT_STEPS>;
/** Values of other steps, by kind. */
const OF_STEP: Readonly<Record<OwnKey | (typeof STRUCTURE)[number], Schema>> = {
  advance: DURATION,
  at: { type: "string", pattern: `^\\s*(?:expiry\\s+of\\s+${NAME}(?:\\s+[+-]\\s+\\S+)?|${MOMENT})\\s*$` },
  snapshot: line(NAME),
  restore: line(NAME),
  replay: either({ type: "string" }, fields(FLOW, ["file"])),
  generate: fields({ orders: whole(1), accounts: whole(1), profile: words(FLOW_PROFILES), in: TEXT }, [
    "orders",
  ]),
  race: { type: "array", items: ref("step"), minItems: 2, maxItems: 6 },
  fault: {
    ...fields({
      route: TEXT,
      status: { enum: [429, 500, 502, 503, 504] },
      retryAfter: whole(0),
      latency: DURATION,
      drop: words(["connection", "reply"]),
      probability: PROBABILITY,
      times: whole(1),
      after: whole(0),
    }),
    anyOf: ["status", "drop", "latency"].map((name) => ({ required: [name] })),
  },
  request: line(among(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]), "/.*"),
  expect: ref("expectations"),
  bots: words([...BOT_PROFILES, "none"]),
  close: TEXT,
  resolve: line(`${among(WINNING_OUTCOMES)}${IN_MARKET}`),
  mine: whole(1),
  reorg: whole(1),
  failSettlement: line(`(?:next(?:\\s+\\d+)?|all|never|${DECIMAL}%)`),
  chainFault: either(
    words(["none"]),
    ...FAULT_KINDS.map((kind) => {
      const named = FAULT_FIELDS[kind].map((name) => [name, FAULT_FIELD[name as keyof typeof FAULT_FIELD]]);
      return fields({ kind: { const: kind }, ...Object.fromEntries(named) }, ["kind"]);
    }),
  ),
  bump: words(["fees"]),
  include: { type: "string" },
  repeat: whole(1),
};

const HEADER_NAMES = either(TEXT, list(TEXT));

/** Values of accompanying keys. */
const BESIDE: Readonly<Record<string, Schema>> = {
  status: line(`${among(ORDER_STATUSES)}`, `${DECIMAL}/${DECIMAL}${maybe(among(CANCEL_REASONS))}`),
  fills: list(ref("fill")),
  rejects: either(words([...REFUSAL_CODES, ...TRANSACTION_CODES]), {
    type: "string",
    pattern: BARE_STATUS.source,
  }),
  after: ref("expectations"),
  as: either(TEXT, NONE),
  body: {},
  headers: { type: "object", additionalProperties: either(TEXT, NONE, list(TEXT)) },
  tamper: fields({
    sign: { type: "string", pattern: "^/" },
    append: { type: "object", additionalProperties: TEXT },
    ...{ twice: HEADER_NAMES, spell: HEADER_NAMES },
  }),
  answers: {},
  reason: TEXT,
  steps: list(ref("step")),
};

const FILL = [
  ...[among(SIDES), DECIMAL, among(OUTCOMES), "@"],
  `${DECIMAL}${IN_MARKET}`,
  `from\\s+${WORD}${maybe("(?:MINT|MERGE)")}${maybe(among(SETTLEMENT_STATUSES))}`,
];

const PRICE_OR_NONE = either(
  { type: "number" },
  { type: "string", pattern: "^(?:none|\\d+(?:\\.\\d+)?)$" },
  NONE,
);
const LEVELS = list(line(DECIMAL, "x", `${DECIMAL}${maybe("\\(\\d+\\)")}`));
const STATUS = words(SETTLEMENT_STATUSES);
const AMOUNT = decimal(USDC);

/** Values of expectations, by key. */
const OF_EXPECTATION: Readonly<Record<string, Schema>> = {
  book: by(TOKEN, fields({ bids: LEVELS, asks: LEVELS })),
  trades: list(line(WORD, ...FILL)),
  orders: by(NAME, ref("status")),
  balances: by(
    NAME,
    by(
      `(?:USDC|${TOKEN})`,
      either(AMOUNT, fields({ balance: AMOUNT, available: AMOUNT, reserved: AMOUNT, onChain: AMOUNT })),
    ),
  ),
  quote: by(
    TOKEN,
    fields(Object.fromEntries(["bid", "ask", "mid", "spread", "last"].map((name) => [name, PRICE_OR_NONE]))),
  ),
  history: by(TOKEN, list(line(MOMENT, DECIMAL))),
  chain: fields({
    ...{ head: whole(0), confirmed: whole(0), pending: whole(0) },
    supply: either(decimal(SHARES), by(`(?:${TOKEN}|${WORD})`, decimal(SHARES))),
    settled: by(NAME, either(STATUS, list(STATUS))),
  }),
  stateHash: either({ type: "string", pattern: "^(?:(?:v2:)?[\\da-f]{64})?$" }, NONE),
  golden: { type: "string" },
};

const tellOf = ({ form, does }: Description): string => `${form}: ${does}`;

/** Schemas of a step's keys. */
function stepProperties(): Record<string, Schema> {
  const steps = STEP_KEYS.map((key): [string, Schema] => {
    const kind = (STEP_OF_KEY.get(key) ?? key) as keyof typeof OF_STEP;
    return [key, said(OF_STEP[kind], tellOf(DESCRIBED_STEPS[kind]))];
  });
  const own: Readonly<Record<string, Description>> = DESCRIBED_EXPECTATIONS;
  const beside = [...BESIDE_KEYS].map((key): [string, Schema] => {
    const schema = key === "status" ? ref(key) : BESIDE[key];
    if (schema === undefined) throw new Error(`the schema does not know what stands at ${key} beside a step`);
    const info = own[key];
    return [key, info === undefined ? schema : { allOf: [schema], description: tellOf(info) }];
  });
  return Object.fromEntries([...steps, ...beside]);
}

/** Accompanying keys of a step; for accounts, those of all their steps. */
function besideOf(key: string | null): readonly string[] {
  if (key === "repeat") return ["steps"];
  const kind = STEP_OF_KEY.get(key ?? "");
  const kinds: readonly StepInfo[] =
    key === null ? Object.values(ACCOUNT_STEPS) : kind === undefined ? [] : [STEPS[kind]];
  return [...new Set(kinds.flatMap(({ beside = {} }) => Object.keys(beside)))];
}

const accountLine = (): Schema => ({
  description: (Object.keys(ACCOUNT_STEPS) as (keyof typeof ACCOUNT_STEPS)[])
    .map((kind) => tellOf(DESCRIBED_STEPS[kind]))
    .join("\n"),
  ...either(...Object.values(ACCOUNT_LINES)),
});

/** Requires a schema for every value that matches a condition. */
const when = (condition: Schema, then: Schema): Schema => ({ if: condition, then });

function stepSchema(): Schema {
  const requires = (key: string): Schema => ({ required: [key] });
  const bare = either(...STEP_KEYS.map(requires));
  const accounts = besideOf(null);
  return {
    ...{ type: "object", minProperties: 1 },
    properties: stepProperties(),
    // An order that must be refused may have any text.
    additionalProperties: { type: "string", description: accountLine().description },
    allOf: [
      ...STEP_KEYS.map((key) => when(requires(key), { propertyNames: words([key, ...besideOf(key)]) })),
      when(
        { not: bare },
        {
          propertyNames: { not: words([...BESIDE_KEYS].filter((key) => !accounts.includes(key))) },
          not: { propertyNames: words(accounts) },
        },
      ),
      when(
        { not: either(bare, requires("rejects")) },
        {
          additionalProperties: ref("accountLine"),
          properties: Object.fromEntries(accounts.map((key) => [key, {}])),
        },
      ),
    ],
  };
}

function expectationsSchema(): Schema {
  const all = Object.entries<ExpectationInfo>(EXPECTATIONS).map(([kind, { key = kind }]) => ({
    key,
    description: DESCRIBED_EXPECTATIONS[kind as keyof typeof EXPECTATIONS],
  }));
  const properties = [...new Set(all.map(({ key }) => key))].map((key): [string, Schema] => {
    const schema = OF_EXPECTATION[key];
    if (schema === undefined) throw new Error(`the schema does not know the expectation ${key}`);
    const rows = all.filter((row) => row.key === key);
    return [key, said(schema, rows.map(({ description }) => tellOf(description)).join("\n"))];
  });
  return { ...fields(Object.fromEntries(properties)), minProperties: 1 };
}

const marketSchema = (): Schema =>
  fields({
    tickSize: { enum: [...TICK_SIZES, ...TICK_SIZES.map(String)] },
    minOrderSize: decimal(SIZE),
    feeRateBps: whole(0, 10_000),
    matching: words(MATCHINGS),
    selfTrade: words(SELF_TRADE_POLICIES),
  });

const MARKET_NAME = "[a-z\\d]+(?:-[a-z\\d]+)*";

const scenarioSchema = (): Schema => ({
  ...fields(
    {
      scenario: said(TEXT, "The rule that the file states, in a line."),
      about: said(TEXT, "More words for its readers."),
      seed: said(TEXT, "Decides what is generated; else the name does."),
      clock: said({ type: "string" }, "When it begins; 2026-01-01T00:00:00Z unless it says so."),
      settlement: said(words(SETTLEMENT_MODES), "When trades reach the chain."),
      balances: said(words(BALANCE_POLICIES), "Whether what is bought can be sold before it is settled."),
      market: said(ref("market"), "The terms of the only market."),
      markets: said(by(MARKET_NAME, ref("market")), "Markets by name."),
      world: said({ type: "string" }, "The file of a world, whose markets it has."),
      accounts: said(
        either(NONE, {
          type: "object",
          propertyNames: { pattern: `^${NAME}$`, not: words([...STEP_KEYS, ...BESIDE_KEYS]) },
          additionalProperties: either(
            NONE,
            { type: "object", maxProperties: 0 },
            by(`(?:USDC|${TOKEN})`, AMOUNT),
          ),
        }),
        "Who trades, with what each has: `alice: { USDC: 1000, YES: 50 }`.",
      ),
      steps: said({ ...list(ref("step")), minItems: 1 }, "What happens, in order."),
    },
    ["scenario", "steps"],
  ),
  not: either(
    { required: ["market", "markets"] },
    { required: ["market", "world"] },
    { required: ["markets", "world"] },
  ),
});

/** Returns the JSON Schema of scenario files and included lists of steps, for editors. */
export const schemaOfScenarios = (): Schema => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "A scenario of clobsim, or steps that others include",
  $comment:
    "Made from src/scenario/language; npx vitest run test/scenario/language/schema.test.ts -u writes it again.",
  ...when({ type: "array" }, { items: ref("step"), minItems: 1 }),
  else: { $ref: "#/definitions/scenario" },
  definitions: {
    scenario: { type: "object", ...scenarioSchema() },
    step: stepSchema(),
    expectations: expectationsSchema(),
    market: either(marketSchema(), { type: "object", maxProperties: 0 }),
    accountLine: accountLine(),
    status: BESIDE.status,
    fill: line(...FILL),
  },
});

const isValid = new Ajv({ strict: true, strictRequired: false, strictTypes: false }).compile(
  schemaOfScenarios(),
);

/** Returns the errors that an editor would show in a scenario. */
export const underlined = (text: string): string[] =>
  isValid(parse(text, { maxAliasCount: -1 }))
    ? []
    : (isValid.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
