import { NO_SLOT } from "../book/order-pool.ts";
import type { OrderType, Side } from "../commands.ts";
import type { CancelReason, MatchType } from "../events.ts";
import type { Order, OrderStatus, Trade } from "../order.ts";
import { FULL_PRICE, MAX_SIZE, type Money, type Price, type Size } from "../units.ts";
import type { Where } from "./document-error.ts";
import { Fields } from "./fields.ts";

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
