import { NO_SLOT } from "../book/order-pool.ts";
import type { OrderType, Side } from "../commands.ts";
import type { CancelReason, MatchType } from "../events.ts";
import type { Order, OrderStatus, Trade } from "../order.ts";
import {
  FULL_PRICE,
  MAX_MILLIS,
  MAX_SIZE,
  type Millis,
  type Money,
  type Price,
  type Size,
} from "../units.ts";
import type { Where } from "./document-error.ts";
import { Fields } from "./fields.ts";
import type { Scan } from "./scan.ts";

const SIDES: readonly Side[] = ["BUY", "SELL"];
const TYPES: readonly OrderType[] = ["GTC", "GTD", "FOK", "FAK"];
const STATUSES: readonly OrderStatus[] = ["LIVE", "MATCHED", "CANCELED", "EXPIRED"];
const REASONS: readonly CancelReason[] = [
  "USER",
  "FOK_UNFILLED",
  "FAK_UNFILLED",
  "FAK_REMAINDER",
  "SELF_TRADE",
  "MARKET_CLOSED",
  "SETTLEMENT_FAILED",
];
const MATCH_TYPES: readonly MatchType[] = ["COMPLEMENTARY", "MINT", "MERGE"];
const HIGHEST = FULL_PRICE - 1;
/** Tokens count from 2, for markets count from 1. */
const FIRST_TOKEN = 2;
const MOST = Number.MAX_SAFE_INTEGER;

const ORDER_KEYS = [
  "number",
  "account",
  "token",
  "side",
  "price",
  "size",
  "orderType",
  "expiration",
  "createdAt",
  "touch",
  "crossable",
  "ownInWay",
  "rested",
  "ordersAhead",
  "sizeAhead",
  "status",
  "cancelReason",
  "matched",
  "notional",
  "fee",
  "updatedAt",
] as const;

const TRADE_KEYS = [
  "number",
  "taker",
  "maker",
  "price",
  "size",
  "fee",
  "matchType",
  "at",
  "transaction",
] as const;

/** An order as its record tells it, not yet in any book or list. @throws DocumentError where it is none. */
export function readOrder(value: unknown, where: Where, number: number): Order {
  const fields = new Fields(value, where, "", ORDER_KEYS);
  const size = fields.integer("size", 1, MAX_SIZE) as Size;
  return {
    number: fields.integer("number", number, number),
    account: fields.integer("account", 1),
    token: fields.integer("token", FIRST_TOKEN),
    side: fields.oneOf("side", SIDES),
    price: fields.integer("price", 1, HIGHEST) as Price,
    size,
    orderType: fields.oneOf("orderType", TYPES),
    expiration: fields.millisOrNull("expiration"),
    createdAt: fields.millis("createdAt"),
    touch: fields.integerOrNull("touch", 1, HIGHEST) as Price | null,
    crossable: fields.integer("crossable", 0, size) as Size,
    ownInWay: fields.integer("ownInWay", 0, number - 1),
    rested: fields.boolean("rested"),
    ordersAhead: fields.integer("ordersAhead", 0, number - 1),
    sizeAhead: fields.integer("sizeAhead") as Size,
    status: fields.oneOf("status", STATUSES),
    cancelReason: fields.oneOfOrNull("cancelReason", REASONS),
    matched: fields.integer("matched", 0, size) as Size,
    notional: fields.integer("notional") as Money,
    fee: fields.integer("fee") as Money,
    updatedAt: fields.millis("updatedAt"),
    slot: NO_SLOT,
    lastTrade: 0,
    nextOpen: 0,
    previousOpen: 0,
  };
}

/** The same of a line that is written as documents are; null when it is not, or is no order. */
export function scanOrder(scan: Scan, number: number): Order | null {
  const order: Order = {
    number: scan.integer('{"number":', number, number),
    account: scan.integer(',"account":', 1, MOST),
    token: scan.integer(',"token":', FIRST_TOKEN, MOST),
    side: scan.oneOf(',"side":', SIDES),
    price: scan.integer(',"price":', 1, HIGHEST) as Price,
    size: scan.integer(',"size":', 1, MAX_SIZE) as Size,
    orderType: scan.oneOf(',"orderType":', TYPES),
    expiration: scan.integerOrNull(',"expiration":', 0, MAX_MILLIS) as Millis | null,
    createdAt: scan.integer(',"createdAt":', 0, MAX_MILLIS) as Millis,
    touch: scan.integerOrNull(',"touch":', 1, HIGHEST) as Price | null,
    crossable: scan.integer(',"crossable":', 0, MAX_SIZE) as Size,
    ownInWay: scan.integer(',"ownInWay":', 0, number - 1),
    rested: scan.boolean(',"rested":'),
    ordersAhead: scan.integer(',"ordersAhead":', 0, number - 1),
    sizeAhead: scan.integer(',"sizeAhead":', 0, MOST) as Size,
    status: scan.oneOf(',"status":', STATUSES),
    cancelReason: scan.oneOfOrNull(',"cancelReason":', REASONS),
    matched: scan.integer(',"matched":', 0, MAX_SIZE) as Size,
    notional: scan.integer(',"notional":', 0, MOST) as Money,
    fee: scan.integer(',"fee":', 0, MOST) as Money,
    updatedAt: scan.integer(',"updatedAt":', 0, MAX_MILLIS) as Millis,
    slot: NO_SLOT,
    lastTrade: 0,
    nextOpen: 0,
    previousOpen: 0,
  };
  scan.expect("}");
  const isOrder = scan.isWhole && order.crossable <= order.size && order.matched <= order.size;
  return isOrder ? order : null;
}

/** A trade that can still be linked to those before it. */
export type LooseTrade = { -readonly [Key in keyof Trade]: Trade[Key] };

/** A trade as its record tells it, not yet linked to those before it. @throws DocumentError where it is none. */
export function readTrade(value: unknown, where: Where, number: number): LooseTrade {
  const fields = new Fields(value, where, "", TRADE_KEYS);
  return {
    number: fields.integer("number", number, number),
    taker: fields.integer("taker", 1),
    maker: fields.integer("maker", 1),
    price: fields.integer("price", 1, HIGHEST) as Price,
    size: fields.integer("size", 1, MAX_SIZE) as Size,
    fee: fields.integer("fee") as Money,
    matchType: fields.oneOf("matchType", MATCH_TYPES),
    at: fields.millis("at"),
    transaction: fields.integer("transaction", 1),
    takerPrevious: 0,
    makerPrevious: 0,
  };
}

/** The same of a line that is written as documents are; null when it is not, or is no trade. */
export function scanTrade(scan: Scan, number: number): LooseTrade | null {
  const trade: LooseTrade = {
    number: scan.integer('{"number":', number, number),
    taker: scan.integer(',"taker":', 1, MOST),
    maker: scan.integer(',"maker":', 1, MOST),
    price: scan.integer(',"price":', 1, HIGHEST) as Price,
    size: scan.integer(',"size":', 1, MAX_SIZE) as Size,
    fee: scan.integer(',"fee":', 0, MOST) as Money,
    matchType: scan.oneOf(',"matchType":', MATCH_TYPES),
    at: scan.integer(',"at":', 0, MAX_MILLIS) as Millis,
    transaction: scan.integer(',"transaction":', 1, MOST),
    takerPrevious: 0,
    makerPrevious: 0,
  };
  scan.expect("}");
  return scan.isWhole ? trade : null;
}
