import type { z } from "zod";
import type { OrderType, Side } from "../core/terms.ts";
import { parseIso } from "../core/time.ts";
import {
  MAX_MILLIS,
  MAX_SIZE,
  type Millis,
  millis,
  type Price,
  price,
  type Size,
  size,
} from "../core/units.ts";
import { PRICE_PLACES, plain, SIZE_PLACES, unitsOf } from "./decimals.ts";
import type { BodySpec } from "./endpoint.ts";
import { ApiError, type ErrorCode } from "./errors.ts";
import { type JsonObject, nameOf } from "./json-body.ts";
import { meantOrderType } from "./meant-order-type.ts";
import { nearest } from "./nearest.ts";
import { MAX_SHARES, newOrder } from "./schemas/trading.ts";

/** An order as sent, read as far as that goes without knowing its market. */
export interface OrderRequest {
  readonly tokenId: string;
  readonly side: Side;
  readonly orderType: OrderType;
  /** The price as sent, USDC. */
  readonly price: number;
  /** The same in price units, or null when it is finer than any grid. */
  readonly priceUnits: Price | null;
  readonly size: Size;
  readonly expiration: Millis | null;
}

/** Fields in the order in which they are checked. */
const FIELDS = ["tokenId", "side", "orderType", "price", "size", "expiration"] as const;
type Field = (typeof FIELDS)[number];

const WORDS: Partial<Record<Field, readonly string[]>> = {
  side: ["BUY", "SELL"],
  orderType: ["GTC", "GTD", "FOK", "FAK"],
};

const EXPECTED: Record<Field, string> = {
  tokenId: "a string, the id of an outcome token",
  side: "BUY or SELL",
  orderType: "GTC, GTD, FOK or FAK",
  price: "a JSON number strictly between 0 and 1",
  size: `a JSON number above 0, at most ${MAX_SHARES}`,
  expiration: "a string: Unix seconds, Unix milliseconds or ISO-8601 with a zone",
};

/** What a value of the right type but outside its range is called. */
const OUT_OF_RANGE: Record<Field, ErrorCode> = {
  tokenId: "INVALID_ORDER",
  side: "INVALID_SIDE",
  orderType: "INVALID_ORDER_TYPE",
  price: "PRICE_OUT_OF_RANGE",
  size: "INVALID_SIZE",
  expiration: "INVALID_EXPIRATION",
};

/** The order in which an order is checked, as the API's document describes it (contract, section 1). */
export const ORDER_OF_CHECKS = `Of several faults, the first of these is answered:

1. the signature and its headers, then the body as JSON, then unknown fields where they are refused;
2. each field alone, its type before its range, in the order ${FIELDS.join(", ")}; that of expiration includes whether \`orderType\` asks for one or forbids it;
3. whether the token is known;
4. the tick size, the minimum size, an expiration in the past;
5. whether the market is open;
6. the funds.`;

/** The body of POST /clob/order. */
export const orderBody: BodySpec<OrderRequest> = {
  schema: newOrder,
  fields: FIELDS,
  required: true,
  read: readOrder,
};

function readOrder(body: JsonObject): OrderRequest {
  const parsed = newOrder.safeParse(body);
  if (!parsed.success) throw firstProblem(body, parsed.error.issues);
  const order = parsed.data;
  const orderSize = sizeOf(order.size);
  const priceUnits = unitsOf(order.price, PRICE_PLACES);
  return {
    tokenId: order.tokenId,
    side: order.side,
    orderType: order.orderType,
    price: order.price,
    priceUnits: priceUnits === null ? null : price(priceUnits),
    size: orderSize,
    expiration: readExpiration(order.orderType, order.expiration || NO_EXPIRATION),
  };
}

/** @throws ApiError `INVALID_SIZE` when the shares, which are within their bounds, are no multiple of 0.01. */
function sizeOf(shares: number): Size {
  const units = unitsOf(shares, SIZE_PLACES);
  if (units !== null && units <= MAX_SIZE) return size(units);
  throw new ApiError("INVALID_SIZE", `size ${plain(shares)} is not a multiple of 0.01`);
}

/** The first field in the order of checks that is wrong, and why. */
function firstProblem(body: JsonObject, issues: readonly z.core.$ZodIssue[]): ApiError {
  const wrong = new Map<Field, z.core.$ZodIssue>();
  for (const issue of issues) {
    const field = issue.path[0] as Field;
    if (!wrong.has(field)) wrong.set(field, issue);
  }
  const isMistyped = (field: Field): boolean => {
    const issue = wrong.get(field);
    if (issue === undefined) return false;
    return (
      issue.code === "invalid_type" ||
      issue.code === "invalid_union" ||
      (issue.code === "invalid_value" && typeof body[field] !== "string")
    );
  };
  const first = FIELDS.find((field) => wrong.has(field));
  if (first === undefined) throw new Error("the order's schema names a field that the order does not have");
  // What the schema cannot see of the size is checked before the expiration all the same.
  if (first === "expiration") sizeOf(body.size as number);
  const found = nameOf(body[first]);
  if (!isMistyped(first)) {
    return new ApiError(OUT_OF_RANGE[first], `${first} must be ${EXPECTED[first]}, found ${found}`, {
      hint: hintForWord(first, body[first]),
      details: { [first]: echoed(body[first]) },
    });
  }
  return new ApiError("INVALID_ORDER", `${first} must be ${EXPECTED[first]}, found ${found}`, {
    hint: hintForType(first, body[first]),
    details: { fields: FIELDS.filter(isMistyped) },
  });
}

/** A refused value as details repeat it, however long it was. */
const echoed = (value: unknown): unknown => (typeof value === "string" ? value.slice(0, 80) : value);

function hintForWord(field: Field, value: unknown): string | undefined {
  const words = WORDS[field];
  if (words === undefined || typeof value !== "string") return undefined;
  const like = (field === "orderType" ? meantOrderType(value) : undefined) ?? nearest(value, words);
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

const SECONDS = /^(0|[1-9][0-9]{0,11})$/;
const MILLISECONDS = /^[1-9][0-9]{12}$/;

/** What clients send of an order that does not expire. */
const NO_EXPIRATION = "0";

function readExpiration(orderType: OrderType, text: string): Millis | null {
  if (orderType !== "GTD") {
    if (text === NO_EXPIRATION) return null;
    throw new ApiError("EXPIRATION_NOT_ALLOWED", `expiration is given with order type ${orderType}`, {
      hint: "only GTD orders expire: leave expiration out, or send orderType GTD",
    });
  }
  if (text === NO_EXPIRATION) {
    throw new ApiError("EXPIRATION_REQUIRED", "expiration is required with order type GTD", {
      hint: `expected ${EXPECTED.expiration}`,
    });
  }
  const at = momentOf(text);
  if (at === null || at > MAX_MILLIS) {
    throw new ApiError(
      "INVALID_EXPIRATION",
      `expiration must be ${EXPECTED.expiration}, found ${nameOf(text)}`,
      {
        hint: 'for example "1767225600", "1767225600000" or "2026-01-01T00:00:00Z"',
      },
    );
  }
  return at;
}

function momentOf(text: string): Millis | null {
  if (SECONDS.test(text)) return millis(Number(text) * 1000);
  if (MILLISECONDS.test(text)) return millis(Number(text));
  return parseIso(text);
}
