import * as z from "zod";
import type { CommandOf } from "../core/commands.ts";
import { PRICE_PLACES, plainNumber, SIZE_PLACES, shortened, unitsOf } from "../core/format.ts";
import { ORDER_CHECKS } from "../core/rules/trading.ts";
import { type Address, anyOf, ORDER_TYPES, type OrderType, SIDES } from "../core/terms.ts";
import { isUnixMillis, isUnixSeconds, parseIso, toIso } from "../core/time.ts";
import {
  MAX_MILLIS,
  MAX_SHARES,
  MAX_SIZE,
  type Millis,
  millis,
  type Price,
  price,
  type Size,
  size,
} from "../core/units.ts";
import { nearest } from "../nearest.ts";
import type { BodySpec, JsonObject } from "./endpoint.ts";
import { ApiError, describeValue, type ErrorCode } from "./errors.ts";
import { offTheGrid } from "./refusals.ts";
import { objectBody } from "./request-body.ts";
import { named } from "./schemas.ts";
import { marketOfTokenId, type Numbers, numbersAs, type View } from "./view.ts";

const newOrderSchema = named(
  "NewOrder",
  z.object({
    tokenId: z.string().min(1).describe("Id of the outcome token to trade."),
    side: z.enum(SIDES),
    orderType: z.enum(ORDER_TYPES).default("GTC"),
    price: z.number().gt(0).lt(1).describe("Limit price, a multiple of the token's tick size."),
    size: z.number().gt(0).max(MAX_SHARES).describe("Shares, a multiple of 0.01."),
    expiration: z
      .union([z.string(), z.literal(0)])
      .nullish()
      .describe(
        'Required for GTD and only for GTD: Unix seconds, Unix milliseconds or ISO-8601 with a zone. "0", "", 0 and null mean none.',
      ),
  }),
);

const NUMBERS = numbersAs("number");

/** A parsed order request; checks that need its market are still to come. */
export interface OrderRequest extends Omit<CommandOf<"placeOrder">, "kind" | "address" | "price"> {
  readonly price: number;
  /** `price` in price units; null if it has more decimals than any tick size. */
  readonly priceUnits: Price | null;
}

interface FieldRule {
  readonly expected: string;
  /** Error code for a value of the right type but out of range. */
  readonly code: ErrorCode;
  /** Error codes if the order type requires the field and it is missing, and if it forbids the field. */
  readonly byType?: readonly ErrorCode[];
  readonly words?: readonly string[];
  /** Help for a value out of range. */
  readonly hint?: string;
}

/** The fields in the order of their checks. */
const RULES = {
  tokenId: { expected: "a string, the id of an outcome token", code: "INVALID_ORDER" },
  side: { expected: anyOf(SIDES), code: "INVALID_SIDE", words: SIDES },
  orderType: { expected: anyOf(ORDER_TYPES), code: "INVALID_ORDER_TYPE", words: ORDER_TYPES },
  price: {
    expected: "a JSON number strictly between 0 and 1",
    code: "PRICE_OUT_OF_RANGE",
    hint: "a price is in USDC per share: send 0.55 for 55 cents, or 55 %",
  },
  size: { expected: `a JSON number above 0, at most ${MAX_SHARES}`, code: "INVALID_SIZE" },
  expiration: {
    expected: "a string: Unix seconds, Unix milliseconds or ISO-8601 with a zone",
    code: "INVALID_EXPIRATION",
    byType: ["EXPIRATION_REQUIRED", "EXPIRATION_NOT_ALLOWED"],
  },
} as const satisfies Readonly<Record<keyof z.infer<typeof newOrderSchema>, FieldRule>>;
type Field = keyof typeof RULES;
const FIELDS = Object.keys(RULES) as Field[];

const ORDER_REFUSALS = Object.keys(ORDER_CHECKS) as readonly (keyof typeof ORDER_CHECKS)[];

/** Error codes of an order, in the order of the checks. */
export const ORDER_ERRORS: readonly ErrorCode[] = [
  "INVALID_ORDER",
  ...Object.values<FieldRule>(RULES).flatMap(({ code, byType = [] }) => [code, ...byType]),
  "TOKEN_NOT_FOUND",
  ...ORDER_REFUSALS,
];

/** Sequence of an order's checks, as documented in the API reference (contract, section 1). */
export const ORDER_OF_CHECKS = `If several checks fail, the error is that of the first in this order:

1. the signature and its headers, then the body as JSON, then unknown fields if they are refused;
2. each field alone, its type before its range, in the order ${FIELDS.join(", ")}; for expiration this includes whether \`orderType\` requires or forbids one;
3. whether the token is known;
${ORDER_REFUSALS.map((code, index) => `${index + 4}. ${ORDER_CHECKS[code]}`).join(";\n")}.`;

export const orderBody: BodySpec<OrderRequest, typeof newOrderSchema> = {
  schema: newOrderSchema,
  fields: FIELDS,
  required: true,
  read: (body, numbers = NUMBERS) => {
    const parsed = newOrderSchema.safeParse(body);
    if (!parsed.success) throw firstProblem(body, numbers, parsed.error.issues);
    const { tokenId, side, orderType, price: sent, size: shares, expiration } = parsed.data;
    const priceUnits = unitsOf(sent, PRICE_PLACES);
    // A literal: a spread of what zod made takes a tenth of a signed order's time.
    return {
      tokenId,
      side,
      orderType,
      price: sent,
      priceUnits: priceUnits === null ? null : price(priceUnits),
      size: readSize(shares, numbers),
      expiration: readExpiration(orderType, expiration || NO_EXPIRATION),
    };
  },
};

/** @throws ApiError `INVALID_SIZE` if the shares, already known to be in range, are not a multiple of 0.01. */
function readSize(shares: number, numbers: Numbers): Size {
  const units = unitsOf(shares, SIZE_PLACES);
  if (units !== null && units <= MAX_SIZE) return size(units);
  throw new ApiError("INVALID_SIZE", `size ${plainNumber(shares)} is not a multiple of 0.01`, {
    details: { size: numbers.sent(shares) },
  });
}

/** Returns the error for the first invalid field in the order of the checks. */
function firstProblem(body: JsonObject, numbers: Numbers, issues: readonly z.core.$ZodIssue[]): ApiError {
  const wrong = new Map(issues.toReversed().map((issue) => [issue.path[0] as Field, issue.code]));
  const isMistyped = (field: Field): boolean => {
    const code = wrong.get(field);
    if (code === "invalid_value") return typeof body[field] !== "string";
    return code === "invalid_type" || code === "invalid_union";
  };
  const first = FIELDS.find((field) => wrong.has(field)) as Field;
  // The schema does not check that the size is a multiple of 0.01; that check precedes the expiration's.
  if (first === "expiration") readSize(body.size as number, numbers);
  const { expected, code } = RULES[first];
  const value = body[first];
  const message = `${first} must be ${expected}, found ${describeValue(value)}`;
  if (isMistyped(first)) {
    const details = { fields: FIELDS.filter(isMistyped) };
    return new ApiError("INVALID_ORDER", message, { hint: hintForType(first, value), details });
  }
  const shown = typeof value === "number" ? numbers.sent(value) : shortened(String(value), 80);
  return new ApiError(code, message, { hint: hintForRange(first, value), details: { [first]: shown } });
}

function hintForRange(field: Field, value: unknown): string | undefined {
  const { words, hint }: FieldRule = RULES[field];
  if (words === undefined || typeof value !== "string") return hint;
  const like = nearest(value, words);
  return `allowed: ${words.join(", ")}${like === undefined ? "" : `; did you mean ${like}?`}`;
}

function hintForType(field: Field, value: unknown): string | undefined {
  if ((field === "price" || field === "size") && typeof value === "string" && value.trim() !== "") {
    return `send ${field} as a JSON number, without quotes`;
  }
  if (field === "tokenId" && typeof value === "number") {
    return "send tokenId in quotes: a JSON number cannot carry its 256 bits";
  }
  if (field === "expiration" && typeof value === "number") return "send expiration in quotes";
  return undefined;
}

/** The value clients send for an order that does not expire. */
const NO_EXPIRATION = "0";

function readExpiration(orderType: OrderType, text: string): Millis | null {
  if (orderType !== "GTD") {
    if (text === NO_EXPIRATION) return null;
    throw new ApiError("EXPIRATION_NOT_ALLOWED", `expiration is not allowed with order type ${orderType}`, {
      hint: "only GTD orders expire: leave expiration out, or send orderType GTD",
    });
  }
  if (text === NO_EXPIRATION) {
    throw new ApiError("EXPIRATION_REQUIRED", "expiration is required with order type GTD", {
      hint: `expected ${RULES.expiration.expected}`,
    });
  }
  const at = momentOf(text);
  if (at === null || at > MAX_MILLIS) {
    throw new ApiError(
      "INVALID_EXPIRATION",
      `expiration must be ${RULES.expiration.expected}, found ${describeValue(text)}`,
      { hint: 'for example "1767225600", "1767225600000" or "2026-01-01T00:00:00Z"' },
    );
  }
  return at;
}

function momentOf(text: string): Millis | null {
  if (isUnixSeconds(text)) return millis(Number(text) * 1000);
  if (isUnixMillis(text)) return millis(Number(text));
  return parseIso(text);
}

/** Builds the command of POST /clob/order. @throws ApiError `TOKEN_NOT_FOUND`, `INVALID_TICK_SIZE`. */
export function placeOrderCommand(
  view: View,
  address: Address,
  request: OrderRequest,
): CommandOf<"placeOrder"> {
  const { tokenId, side, priceUnits, size, orderType, expiration } = request;
  const { market } = marketOfTokenId(view, tokenId);
  if (priceUnits === null) throw offTheGrid(request.price, market.tickSize, view.numbers);
  return { kind: "placeOrder", address, tokenId, side, price: priceUnits, size, orderType, expiration };
}

/** Returns the body of POST /clob/order that makes a command, with every field of the command. */
export function placeOrderBody(command: CommandOf<"placeOrder">) {
  const { kind: _, address: __, price, size, expiration, ...rest } = command;
  const amounts = { price: NUMBERS.price(price), size: NUMBERS.size(size) };
  return { ...rest, ...amounts, ...(expiration !== null && { expiration: toIso(expiration) }) };
}

export const cancelBody = objectBody(
  "Cancellation",
  { orderId: z.string().optional(), id: z.string().optional(), orderID: z.string().optional() },
  { description: "The id of one order, under any one of the three names.", required: false },
);

/** Reason why an order that is no longer live is not canceled, by status. */
export const NOT_CANCELED = {
  MATCHED: "already matched",
  CANCELED: "already canceled",
  EXPIRED: "already expired",
} as const;

type OrderIds = ReturnType<typeof cancelBody.read>;

/**
 * Builds the command of DELETE /clob/order.
 * @throws ApiError if no order id is given, or if two differ in more than letter case
 */
export function cancelOrderCommand(
  address: Address,
  body: OrderIds,
  query: OrderIds,
): CommandOf<"cancelOrder"> {
  const given = [body.orderId, body.id, body.orderID, query.orderId, query.id, query.orderID];
  const ids = given.filter((id): id is string => id !== undefined && id !== "");
  if (new Set(ids.map((id) => id.toLowerCase())).size > 1) {
    throw new ApiError(
      "CONFLICTING_FIELDS",
      `different order ids are given: ${shortened([...new Set(ids)].join(", "), 200)}`,
      { hint: "name one order, in the body or in the query" },
    );
  }
  const [orderId] = ids;
  if (orderId !== undefined) return { kind: "cancelOrder", address, orderId };
  throw new ApiError(
    "ORDER_ID_REQUIRED",
    "no order id is given, expected orderId in the body or in the query",
    { hint: "DELETE /clob/orders/all cancels all of them" },
  );
}
