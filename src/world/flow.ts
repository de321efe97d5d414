import type { Outcome, Side } from "../core/commands.ts";
import { FULL_PRICE, type Price, price, type Size, size } from "../core/units.ts";
import type { FlowRow, World } from "./world.ts";

/** One order of an opening history, in the units of the core. */
export interface FlowOrder {
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

/** How many integers an order takes in a packed flow. */
export const ORDER_WIDTH = 6;
const SELL = 1;
const NO = 2;
const FAK = 4;
/** The highest of the integers that tell side, outcome and order type. */
export const MAX_TERMS = SELL + NO + FAK;
const SIZE_UNITS = 100;

/** Orders as integers, six each: at, trader, market, terms (1 SELL, 2 NO, 4 FAK, added up), price, size. */
export function packFlow(orders: readonly FlowOrder[]): number[] {
  const packed: number[] = [];
  for (const { at, trader, market, side, outcome, price, size, orderType } of orders) {
    const terms =
      (side === "SELL" ? SELL : 0) + (outcome === "NO" ? NO : 0) + (orderType === "FAK" ? FAK : 0);
    packed.push(at, trader, market, terms, price, size);
  }
  return packed;
}

/** The opening history of a world, oldest first. */
export function* flowOf(world: World): Generator<FlowOrder> {
  if (world.format === "clobsim-world/1") {
    for (const row of world.flow) yield orderOf(row);
    return;
  }
  const { flow } = world;
  for (let place = 0; place < flow.length; place += ORDER_WIDTH) yield orderAt(flow, place);
}

/** When the history of a world begins, in milliseconds before its start; null when there is none. */
export const flowStart = ({ flow }: World): number | null => {
  const [first] = flow;
  return (typeof first === "number" ? first : first?.[0]) ?? null;
};

function orderAt(flow: readonly number[], place: number): FlowOrder {
  const terms = flow[place + 3] as number;
  return {
    at: flow[place] as number,
    trader: flow[place + 1] as number,
    market: flow[place + 2] as number,
    side: (terms & SELL) === 0 ? "BUY" : "SELL",
    outcome: (terms & NO) === 0 ? "YES" : "NO",
    price: price(flow[place + 4] as number),
    size: size(flow[place + 5] as number),
    orderType: (terms & FAK) === 0 ? "GTC" : "FAK",
  };
}

/** Decimals are rounded to the core's units. */
function orderOf([
  at,
  trader,
  market,
  side,
  outcome,
  decimalPrice,
  decimalSize,
  orderType,
]: FlowRow): FlowOrder {
  return {
    at,
    trader,
    market,
    side,
    outcome,
    price: price(Math.round(decimalPrice * FULL_PRICE)),
    size: size(Math.round(decimalSize * SIZE_UNITS)),
    orderType,
  };
}
