import type { Outcome, Side } from "../core/terms.ts";
import { FULL_PRICE, type Price, price, SHARE_UNITS, type Size, size } from "../core/units.ts";

/** Orders of a world, oldest first. */
export type OpeningHistory =
  | {
      /** Written by hand or by earlier versions. */
      readonly format: "clobsim-world/1";
      readonly flow: readonly WorldRow[];
    }
  | {
      readonly format: "clobsim-world/2";
      /** Six integers for each order: see `packOrders`. */
      readonly flow: readonly number[];
    };

/**
 * Moment (milliseconds relative to the start, negative), index into `traders`, index into the markets of all events in
 * order, side, outcome, price in USDC, size in shares, time in force.
 */
export type WorldRow = readonly [
  at: number,
  trader: number,
  market: number,
  side: "BUY" | "SELL",
  outcome: "YES" | "NO",
  price: number,
  size: number,
  orderType: "GTC" | "FAK",
];

export const MAX_MARKETS = 20_000;
export const MAX_ORDERS = 5_000_000;
/** Earliest time of a history: ten years before the start, in milliseconds. */
export const EARLIEST = -315_576_000_000;

export interface WorldOrder {
  /** Milliseconds before the start, negative. */
  readonly at: number;
  /** Index into the traders of the world. */
  readonly trader: number;
  /** Index into the markets of all events in order. */
  readonly market: number;
  readonly side: Side;
  readonly outcome: Outcome;
  readonly price: Price;
  readonly size: Size;
  readonly orderType: "GTC" | "FAK";
}

export const ORDER_WIDTH = 6;
const SELL = 1;
const NO = 2;
const FAK = 4;
/** Maximum of the integer that encodes side, outcome and order type. */
export const MAX_TERMS = SELL + NO + FAK;

/** Packs orders into six integers each: at, trader, market, terms (1 SELL, 2 NO, 4 FAK, added up), price, size. */
export function packOrders(orders: readonly WorldOrder[]): number[] {
  const packed: number[] = [];
  for (const { at, trader, market, side, outcome, price, size, orderType } of orders) {
    const terms =
      (side === "SELL" ? SELL : 0) + (outcome === "NO" ? NO : 0) + (orderType === "FAK" ? FAK : 0);
    packed.push(at, trader, market, terms, price, size);
  }
  return packed;
}

export function* worldOrders(history: OpeningHistory): Generator<WorldOrder> {
  const count = orderCount(history);
  for (let index = 0; index < count; index += 1) yield orderIn(history, index);
}

export const orderCount = ({ format, flow }: OpeningHistory): number =>
  format === "clobsim-world/1" ? flow.length : flow.length / ORDER_WIDTH;

/** Returns an order of a history. Decimals are rounded to the core's units. */
export function orderIn({ format, flow }: OpeningHistory, index: number): WorldOrder {
  if (format === "clobsim-world/1") {
    const [at, trader, market, side, outcome, usdc, shares, orderType] = flow[index] as WorldRow;
    const units = {
      price: price(Math.round(usdc * FULL_PRICE)),
      size: size(Math.round(shares * SHARE_UNITS)),
    };
    return { at, trader, market, side, outcome, ...units, orderType };
  }
  const offset = index * ORDER_WIDTH;
  const terms = flow[offset + 3] as number;
  return {
    at: flow[offset] as number,
    trader: flow[offset + 1] as number,
    market: flow[offset + 2] as number,
    side: (terms & SELL) === 0 ? "BUY" : "SELL",
    outcome: (terms & NO) === 0 ? "YES" : "NO",
    price: price(flow[offset + 4] as number),
    size: size(flow[offset + 5] as number),
    orderType: (terms & FAK) === 0 ? "GTC" : "FAK",
  };
}
