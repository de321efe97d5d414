import { NO_SLOT } from "../book/order-pool.ts";
import type { ByteCursor } from "../bytes/byte-cursor.ts";
import { ORDER_STATUSES, type Order, type Trade } from "../order.ts";
import type { OrderType, Side } from "../terms.ts";
import { CANCEL_REASONS, type MatchType } from "../terms.ts";
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
import {
  booleanAt,
  choiceAt,
  choiceOrNullAt,
  choices,
  fieldTexts,
  integerAt,
  integerOrNullAt,
} from "./line-fields.ts";

const SIDES: readonly Side[] = ["BUY", "SELL"];
const TYPES: readonly OrderType[] = ["GTC", "GTD", "FOK", "FAK"];
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
    status: fields.oneOf("status", ORDER_STATUSES),
    cancelReason: fields.oneOfOrNull("cancelReason", CANCEL_REASONS),
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

const ORDER = fieldTexts(ORDER_KEYS);
const SIDE_TEXTS = choices(SIDES);
const TYPE_TEXTS = choices(TYPES);
const STATUS_TEXTS = choices(ORDER_STATUSES);
const REASON_TEXTS = choices(CANCEL_REASONS);
const MATCH_TYPE_TEXTS = choices(MATCH_TYPES);

/** The same of a line that is written as documents are; null when it is not, or is no such order. */
export function orderAt(cursor: ByteCursor, number: number): Order | null {
  const order: Order = {
    number: integerAt(cursor, ORDER.number),
    account: integerAt(cursor, ORDER.account),
    token: integerAt(cursor, ORDER.token),
    side: choiceAt(cursor, ORDER.side, SIDE_TEXTS),
    price: integerAt(cursor, ORDER.price) as Price,
    size: integerAt(cursor, ORDER.size) as Size,
    orderType: choiceAt(cursor, ORDER.orderType, TYPE_TEXTS),
    expiration: integerOrNullAt(cursor, ORDER.expiration) as Millis | null,
    createdAt: integerAt(cursor, ORDER.createdAt) as Millis,
    touch: integerOrNullAt(cursor, ORDER.touch) as Price | null,
    crossable: integerAt(cursor, ORDER.crossable) as Size,
    ownInWay: integerAt(cursor, ORDER.ownInWay),
    rested: booleanAt(cursor, ORDER.rested),
    ordersAhead: integerAt(cursor, ORDER.ordersAhead),
    sizeAhead: integerAt(cursor, ORDER.sizeAhead) as Size,
    status: choiceAt(cursor, ORDER.status, STATUS_TEXTS),
    cancelReason: choiceOrNullAt(cursor, ORDER.cancelReason, REASON_TEXTS),
    matched: integerAt(cursor, ORDER.matched) as Size,
    notional: integerAt(cursor, ORDER.notional) as Money,
    fee: integerAt(cursor, ORDER.fee) as Money,
    updatedAt: integerAt(cursor, ORDER.updatedAt) as Millis,
    slot: NO_SLOT,
    lastTrade: 0,
    nextOpen: 0,
    previousOpen: 0,
  };
  const isWhole = !cursor.isLost && cursor.isAtEnd;
  return isWhole && order.number === number && isInRange(order) ? order : null;
}

/** Whether all numbers of an order are from 0 and within the bounds that `readOrder` sets. */
const isInRange = (order: Order): boolean =>
  order.account >= 1 &&
  order.token >= FIRST_TOKEN &&
  order.price >= 1 &&
  order.price <= HIGHEST &&
  order.size >= 1 &&
  order.size <= MAX_SIZE &&
  (order.expiration ?? 0) <= MAX_MILLIS &&
  order.createdAt <= MAX_MILLIS &&
  (order.touch ?? 1) >= 1 &&
  (order.touch ?? 1) <= HIGHEST &&
  order.crossable <= order.size &&
  order.ownInWay < order.number &&
  order.ordersAhead < order.number &&
  order.matched <= order.size &&
  order.updatedAt <= MAX_MILLIS;

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

const TRADE = fieldTexts(TRADE_KEYS);

/** The same of a line that is written as documents are; null when it is not, or is no such trade. */
export function tradeAt(cursor: ByteCursor, number: number): LooseTrade | null {
  const trade: LooseTrade = {
    number: integerAt(cursor, TRADE.number),
    taker: integerAt(cursor, TRADE.taker),
    maker: integerAt(cursor, TRADE.maker),
    price: integerAt(cursor, TRADE.price) as Price,
    size: integerAt(cursor, TRADE.size) as Size,
    fee: integerAt(cursor, TRADE.fee) as Money,
    matchType: choiceAt(cursor, TRADE.matchType, MATCH_TYPE_TEXTS),
    at: integerAt(cursor, TRADE.at) as Millis,
    transaction: integerAt(cursor, TRADE.transaction),
    takerPrevious: 0,
    makerPrevious: 0,
  };
  if (cursor.isLost || !cursor.isAtEnd) return null;
  const { taker, maker, price, size, at, transaction } = trade;
  const isPriced = price >= 1 && price <= HIGHEST && size >= 1 && size <= MAX_SIZE;
  const isPlaced =
    trade.number === number && taker >= 1 && maker >= 1 && transaction >= 1 && at <= MAX_MILLIS;
  return isPriced && isPlaced ? trade : null;
}
