import * as z from "zod";
import { SETTLEMENT_STATUSES } from "../core/chain/settlement.ts";
import { UUID } from "../core/format.ts";
import { MATCH_TYPES, ORDER_TYPES, OUTCOMES, SIDES, SLUG, WINNING_OUTCOMES } from "../core/terms.ts";
import { ISO_TIME } from "../core/time.ts";

/** The schemas that the OpenAPI document names under `components`. */
export const registry = z.registry<{ id: string; description?: string }>();

/** Registers a schema under a name in the OpenAPI document. */
export function named<T extends z.ZodType>(id: string, schema: T, description?: string): T {
  registry.add(schema, description === undefined ? { id } : { id, description });
  return schema;
}

export const exactly = <Shape extends z.core.$ZodShape>(id: string, shape: Shape, description?: string) =>
  named(id, z.strictObject(shape), description);

export type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T;

/** Type of a parsed body or a reply of this schema. Decimals are numbers, although `--numbers string` sends strings. */
export type ReplyOf<Schema extends z.ZodType> = ReadonlyDeep<z.output<Schema>>;

export const price = named("Price", z.number().gt(0).lt(1), "USDC per share.");
export const shares = named("Shares", z.number().min(0), "Shares, a multiple of 0.01.");
export const usdc = named("Usdc", z.number().min(0), "USDC, a multiple of 0.000001.");
export const amount = named("Amount", z.number().min(0), "USDC or shares, depending on the asset.");
export const average = named("AveragePrice", z.number().gt(0).lt(1), "USDC per share, rounded to 0.000001.");
export const spread = named(
  "Spread",
  z.number().gt(0).lt(1),
  "USDC per share, between best ask and best bid.",
);

/** Components that are decimals: numbers, or strings with `--numbers string`. */
export const DECIMALS = ["Price", "Shares", "Usdc", "Amount", "AveragePrice", "Spread"] as const;

export const uuid = named("Uuid", z.string().regex(new RegExp(`^${UUID}$`)));
export const slug = named("Slug", z.string().regex(SLUG));
export const tokenId = named(
  "TokenId",
  z.string().regex(/^(0|[1-9][0-9]{0,77})$/),
  "A 256-bit number in decimal.",
);
/** Bytes in hexadecimal after `0x`, with viem's type. */
export const hex = (digits: RegExp) => z.templateLiteral(["0x", z.string().regex(digits)]);

export const hash32 = named("Hash32", hex(/^[0-9a-f]{64}$/), "32 bytes.");
export const address = named("Address", hex(/^[0-9a-fA-F]{40}$/), "A wallet address, EIP-55.");
export const moment = named(
  "Moment",
  z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/),
  "ISO-8601 in UTC, with milliseconds.",
);
/** Maximum of a number of times, of faults and scenarios. */
export const MAX_TIMES = 1_000_000_000;
export const probability = z.number().min(0).max(1);
/** What a body gives as text, for a client that sends a number. */
export const DURATION = "expected a duration such as 90s, 2h or 500ms";
export const TIME = `expected ${ISO_TIME}`;
export const unixSeconds = named("UnixSeconds", z.int().min(0), "Unix seconds.");
export const count = named("Count", z.int().min(0));
export const stateDigest = named(
  "StateDigest",
  z.string().regex(/^v2:[0-9a-f]{64}$/),
  "Names a state by the history that led to it: the version of the hash, a colon, 64 hex digits.",
);
export const digest = named("Digest", z.string().regex(/^[0-9a-f]{64}$/), "SHA-256, hex.");

export const outcome = named("Outcome", z.enum(OUTCOMES));
export const winningOutcome = named("WinningOutcome", z.enum(WINNING_OUTCOMES));
export const side = named("Side", z.enum(SIDES));
export const orderType = named("OrderType", z.enum(ORDER_TYPES));

export const matchType = named("MatchType", z.enum(MATCH_TYPES));
export const settlementStatus = named("SettlementStatus", z.enum(SETTLEMENT_STATUSES));

export const page = <Item extends z.ZodType>(id: string, item: Item) =>
  exactly(id, {
    data: z.array(item),
    limit: z.int().min(1),
    offset: count,
    total: count,
    hasMore: z.boolean(),
  });

export const errorSchema = exactly("Error", {
  error: z.string(),
  code: z.string(),
  status: z.int(),
  hint: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
  requestId: z.string(),
});
