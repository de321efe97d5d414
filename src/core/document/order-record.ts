import { NO_SLOT } from "../book/order-pool.ts";
import type { OrderType, Side } from "../commands.ts";
import { CANCEL_REASONS, type MatchType } from "../events.ts";
import { ORDER_STATUSES, type Order, type OrderStatus, type Trade } from "../order.ts";
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
  BOOLEAN,
  byText,
  INTEGER,
  INTEGER_OR_NULL,
  integerIn,
  integerOrNullIn,
  lineForm,
  oneOf,
  oneOfOrNull,
} from "./line-form.ts";

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

const ORDER_FORM = lineForm(ORDER_KEYS, {
  number: INTEGER,
  account: INTEGER,
  token: INTEGER,
  side: oneOf(SIDES),
  price: INTEGER,
  size: INTEGER,
  orderType: oneOf(TYPES),
  expiration: INTEGER_OR_NULL,
  createdAt: INTEGER,
  touch: INTEGER_OR_NULL,
  crossable: INTEGER,
  ownInWay: INTEGER,
  rested: BOOLEAN,
  ordersAhead: INTEGER,
  sizeAhead: INTEGER,
  status: oneOf(ORDER_STATUSES),
  cancelReason: oneOfOrNull(CANCEL_REASONS),
  matched: INTEGER,
  notional: INTEGER,
  fee: INTEGER,
  updatedAt: INTEGER,
});
const SIDE_OF = byText(SIDES);
const TYPE_OF = byText(TYPES);
const STATUS_OF = byText(ORDER_STATUSES);
const REASON_OF = byText(CANCEL_REASONS);
const MATCH_TYPE_OF = byText(MATCH_TYPES);

/** The same of a line that is written as documents are; null when it is not, or is no such order. */
export function orderOfLine(line: string, number: number): Order | null {
  const groups = ORDER_FORM.exec(line);
  if (groups === null) return null;
  const order: Order = {
    number: integerIn(groups[1]),
    account: integerIn(groups[2]),
    token: integerIn(groups[3]),
    side: SIDE_OF.get(groups[4] as string) as Side,
    price: integerIn(groups[5]) as Price,
    size: integerIn(groups[6]) as Size,
    orderType: TYPE_OF.get(groups[7] as string) as OrderType,
    expiration: integerOrNullIn(groups[8]) as Millis | null,
    createdAt: integerIn(groups[9]) as Millis,
    touch: integerOrNullIn(groups[10]) as Price | null,
    crossable: integerIn(groups[11]) as Size,
    ownInWay: integerIn(groups[12]),
    rested: groups[13] === "true",
    ordersAhead: integerIn(groups[14]),
    sizeAhead: integerIn(groups[15]) as Size,
    status: STATUS_OF.get(groups[16] as string) as OrderStatus,
    cancelReason: REASON_OF.get(groups[17] as string) ?? null,
    matched: integerIn(groups[18]) as Size,
    notional: integerIn(groups[19]) as Money,
    fee: integerIn(groups[20]) as Money,
    updatedAt: integerIn(groups[21]) as Millis,
    slot: NO_SLOT,
    lastTrade: 0,
    nextOpen: 0,
    previousOpen: 0,
  };
  return order.number === number && isInRange(order) ? order : null;
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

const TRADE_FORM = lineForm(TRADE_KEYS, {
  number: INTEGER,
  taker: INTEGER,
  maker: INTEGER,
  price: INTEGER,
  size: INTEGER,
  fee: INTEGER,
  matchType: oneOf(MATCH_TYPES),
  at: INTEGER,
  transaction: INTEGER,
});

/** The same of a line that is written as documents are; null when it is not, or is no such trade. */
export function tradeOfLine(line: string, number: number): LooseTrade | null {
  const groups = TRADE_FORM.exec(line);
  if (groups === null) return null;
  const trade: LooseTrade = {
    number: integerIn(groups[1]),
    taker: integerIn(groups[2]),
    maker: integerIn(groups[3]),
    price: integerIn(groups[4]) as Price,
    size: integerIn(groups[5]) as Size,
    fee: integerIn(groups[6]) as Money,
    matchType: MATCH_TYPE_OF.get(groups[7] as string) as MatchType,
    at: integerIn(groups[8]) as Millis,
    transaction: integerIn(groups[9]),
    takerPrevious: 0,
    makerPrevious: 0,
  };
  const { taker, maker, price, size, at, transaction } = trade;
  const isPriced = price >= 1 && price <= HIGHEST && size >= 1 && size <= MAX_SIZE;
  const isPlaced =
    trade.number === number && taker >= 1 && maker >= 1 && transaction >= 1 && at <= MAX_MILLIS;
  return isPriced && isPlaced ? trade : null;
}
