import * as z from "zod";
import {
  address,
  count,
  hex,
  moment,
  outcome,
  page,
  shares,
  stateDigest,
  tokenId,
  unixSeconds,
  usdc,
  uuid,
  winningOutcome,
} from "./quantities.ts";
import { exactly, named } from "./registry.ts";
import { order, trade } from "./trading.ts";

const mode = z.enum(["real", "frozen", "scaled"]);
const clockShape = { mode, time: moment, rate: z.number().min(0), unixTime: unixSeconds };

export const clock = exactly("Clock", clockShape, "`rate` is virtual seconds per wall second.");

export const clockChange = exactly("ClockChange", {
  ...clockShape,
  fired: z.array(
    named(
      "Fired",
      z.discriminatedUnion("kind", [
        z.strictObject({ kind: z.literal("ORDER_EXPIRED"), orderId: uuid, at: moment }),
        z.strictObject({
          kind: z.literal("BLOCK_MINED"),
          blockNumber: count,
          transactions: count,
          at: moment,
        }),
      ]),
    ),
  ),
});

export const newClock = named(
  "NewClock",
  z.object({
    mode: mode.optional(),
    time: z.string().optional().meta({ description: "ISO-8601 with a zone; never before the clock's time." }),
    advance: z.string().optional().meta({ description: "A duration such as 90s, 2h or 500ms." }),
    rate: z.number().gt(0).max(1_000_000).optional().meta({ description: "With mode scaled." }),
  }),
);

export const info = exactly("Info", {
  name: z.literal("clobsim"),
  version: z.string(),
  seed: z.string(),
  clock,
  sequence: count,
  stateHash: stateDigest,
  config: z.strictObject({
    numbers: z.enum(["number", "string"]),
    credentials: z.enum(["rotate", "once"]),
    personalSign: z.boolean(),
    unknownFields: z.enum(["accept", "refuse"]),
    settlement: z.enum(["instant", "auto", "manual"]),
    balances: z.enum(["optimistic", "settled"]),
    faucet: z.strictObject({ collateral: usdc, sharesOfEveryToken: shares }),
  }),
  events: count,
  markets: count,
  orders: count,
  trades: count,
  devAccounts: z.array(exactly("DevAccount", { address, privateKey: hex(/^[0-9a-f]{64}$/) })),
  houseAccounts: z.strictObject({ faucet: address, fees: address }),
});

const balance = { balance: shares, available: shares, reserved: shares, onChain: shares };

export const account = exactly("Account", {
  address,
  collateral: z.strictObject({ balance: usdc, available: usdc, reserved: usdc, onChain: usdc }),
  sharesOfEveryOtherToken: shares,
  tokens: z.array(z.strictObject({ tokenId, marketId: uuid, outcome, ...balance })),
});
export const accountPage = page("AccountPage", account);

const amount = (step: number) => z.number().min(0).max(1_000_000_000).meta({ multipleOf: step });

export const funding = named(
  "Funding",
  z.object({
    collateral: amount(0.000001).optional().meta({ description: "USDC to add." }),
    tokens: z
      .record(z.string(), amount(0.01))
      .optional()
      .meta({ description: "Shares to add, by token id." }),
  }),
);

const slugText = z
  .string()
  .max(128)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "expected lower-case words and digits joined by hyphens");
const tags = z.array(slugText).max(32).optional();
const prose = z.string().max(4_000).optional();
const title = z.string().trim().min(1).max(300);
const endDate = z.string().nullish().meta({ description: "ISO-8601 with a zone." });

export const newEvent = named(
  "NewEvent",
  z.object({
    title,
    slug: slugText.optional(),
    description: prose,
    category: slugText.optional(),
    tags,
    endDate,
  }),
);

export const TICK_SIZES = [0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001] as const;

export const newMarket = named(
  "NewMarket",
  z.object({
    question: title,
    eventId: z.string().optional().meta({ description: "Left out: an event of the same name is made." }),
    slug: slugText.optional(),
    description: prose,
    category: slugText.optional(),
    tickSize: z.literal(TICK_SIZES).default(0.01),
    minOrderSize: z.number().gt(0).max(10_000_000).default(1),
    feeRateBps: z.int().min(0).max(10_000).default(0),
    matching: z.enum(["complementary", "independent"]).default("complementary"),
    selfTrade: z.enum(["allow", "cancel-taker", "cancel-maker", "cancel-both"]).default("allow"),
    endDate,
    tags,
  }),
);

export const resolution = named("Resolution", z.object({ winningOutcome }));

export const stateHash = exactly("StateHash", { hash: stateDigest, sequence: count });
export const state = named(
  "State",
  z.looseObject({ units: z.record(z.string(), z.string()) }),
  "Canonical: equal histories give equal bytes.",
);

export const orderStory = exactly("OrderStory", {
  order,
  owner: address,
  summary: z.string(),
  story: z.array(exactly("StoryLine", { at: moment, what: z.string() })),
  queue: exactly("QueuePlace", {
    joinedBehind: z.strictObject({ orders: count, shares }),
    nowBehind: z.strictObject({ orders: count, shares }),
  }).nullable(),
  fills: z.array(trade),
});

export const invariants = exactly("Invariants", {
  hold: z.boolean(),
  invariants: z.array(
    exactly("Invariant", {
      name: z.string(),
      holds: z.boolean(),
      checked: count,
      differences: z.array(z.string()),
    }),
  ),
});

export const pastedRequest = named(
  "PastedRequest",
  z.object({
    method: z.string().min(1).max(16),
    url: z
      .string()
      .min(1)
      .max(16_384)
      .optional()
      .meta({ description: "The URL, or the path from /clob on." }),
    path: z.string().min(1).max(16_384).optional().meta({ description: "The same under another name." }),
    headers: z.record(z.string(), z.string()),
    body: z.string().optional(),
    serverTime: z.int().min(0).optional().meta({ description: "Unix seconds; left out: now." }),
  }),
);

export const authExplanation = exactly("AuthExplanation", {
  verdict: z.string(),
  hint: z.string().nullable(),
  checks: z.array(
    exactly("AuthCheck", {
      check: z.string(),
      code: z.string(),
      ok: z.boolean().nullable(),
      message: z.string(),
    }),
  ),
  canonicalMessage: z.string(),
  serverTime: unixSeconds,
});

export const health = exactly("Health", { status: z.literal("ok"), time: moment });
export const openApiReply = named("OpenApiDocument", z.looseObject({ openapi: z.string() }), "OpenAPI 3.1.");
export const errorReply = exactly("Error", {
  error: z.string(),
  code: z.string(),
  status: z.int(),
  hint: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
  requestId: z.string(),
});
