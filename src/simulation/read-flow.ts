import { MAX_TERMS, ORDER_WIDTH } from "./flow.ts";
import type { FlowRow, WorldMarket } from "./world.ts";
import { isDecimal, isInteger, itemsOf, WorldFileError } from "./world-checks.ts";
import { MOST_ROWS, MOST_SHARES, OLDEST } from "./world-limits.ts";

const PRICE_UNITS = 10_000;
const SIZE_UNITS = 100;
const ROW_KEYS = ["at", "trader", "market", "side", "outcome", "price", "size", "orderType"];
const PACKED_KEYS = ["at", "trader", "market", "terms", "price", "size"];

/** A column that is wrong, and what it should hold. */
type Fault = readonly [column: number, expected: string];

/** The rows of a world that was written by hand or by an earlier version. @throws WorldFileError */
export function readRows(value: unknown, traders: number, markets: readonly WorldMarket[]): FlowRow[] {
  let earliest = OLDEST;
  return itemsOf(value, "flow", MOST_ROWS).map((item, index) => {
    const row = readRow(item, index, earliest, traders, markets);
    earliest = row[0];
    return row;
  });
}

/** A row of the flow; its path is put together only when it is wrong. */
function readRow(
  value: unknown,
  index: number,
  earliest: number,
  traders: number,
  markets: readonly WorldMarket[],
): FlowRow {
  if (!Array.isArray(value) || value.length !== ROW_KEYS.length) {
    throw new WorldFileError(`flow[${index}]`, `[${ROW_KEYS.join(", ")}]`, value);
  }
  const fault = faultIn(value, earliest, traders, markets);
  if (fault === null) return value as unknown as FlowRow;
  const [column, expected] = fault;
  throw new WorldFileError(`flow[${index}][${column}]`, `${ROW_KEYS[column]}, ${expected}`, value[column]);
}

/** The first wrong column of a row and what it should hold. */
function faultIn(
  row: readonly unknown[],
  earliest: number,
  traders: number,
  markets: readonly WorldMarket[],
): Fault | null {
  const [at, trader, index, side, outcome, price, size, orderType] = row;
  const market = typeof index === "number" ? markets[index] : undefined;
  if (market === undefined) return [2, `an index below ${markets.length}`];
  const { tickSize, minOrderSize } = market;
  const { first, last } = lifeOf(market, earliest);
  if (!isInteger(at, first, last)) return [0, `an integer from ${first} to ${last}`];
  if (!isInteger(trader, 0, traders - 1)) return [1, `an index below ${traders}`];
  if (side !== "BUY" && side !== "SELL") return [3, "BUY or SELL"];
  if (outcome !== "YES" && outcome !== "NO") return [4, "YES or NO"];
  if (!isOnTick(price, tickSize)) return [5, `a multiple of ${tickSize} above 0 and below 1`];
  if (!isDecimal(size, minOrderSize, MOST_SHARES, SIZE_UNITS)) {
    return [6, `a multiple of 0.01 from ${minOrderSize} to ${MOST_SHARES}`];
  }
  return orderType === "GTC" || orderType === "FAK" ? null : [7, "GTC or FAK"];
}

function isOnTick(value: unknown, tickSize: number): boolean {
  if (!isDecimal(value, tickSize, 1 - tickSize, PRICE_UNITS)) return false;
  return Math.round(value * PRICE_UNITS) % Math.round(tickSize * PRICE_UNITS) === 0;
}

/** The integers of a packed flow, six an order. @throws WorldFileError */
export function readPacked(value: unknown, traders: number, markets: readonly WorldMarket[]): number[] {
  const flow = itemsOf(value, "flow", MOST_ROWS * ORDER_WIDTH);
  if (flow.length % ORDER_WIDTH !== 0) {
    throw new WorldFileError(
      "flow",
      `${ORDER_WIDTH} integers an order: ${PACKED_KEYS.join(", ")}`,
      flow.length,
    );
  }
  let earliest = OLDEST;
  for (let place = 0; place < flow.length; place += ORDER_WIDTH) {
    const fault = packedFaultIn(flow, place, earliest, traders, markets);
    if (fault !== null) {
      const [column, expected] = fault;
      const index = place + column;
      throw new WorldFileError(`flow[${index}]`, `${PACKED_KEYS[column]}, ${expected}`, flow[index]);
    }
    earliest = flow[place] as number;
  }
  return flow as number[];
}

/** The first wrong column of a packed order. */
function packedFaultIn(
  flow: readonly unknown[],
  place: number,
  earliest: number,
  traders: number,
  markets: readonly WorldMarket[],
): Fault | null {
  const [at, trader, index] = [flow[place], flow[place + 1], flow[place + 2]];
  const [terms, price, size] = [flow[place + 3], flow[place + 4], flow[place + 5]];
  const market = typeof index === "number" ? markets[index] : undefined;
  if (market === undefined) return [2, `an index below ${markets.length}`];
  const { first, last } = lifeOf(market, earliest);
  if (!isInteger(at, first, last)) return [0, `an integer from ${first} to ${last}`];
  if (!isInteger(trader, 0, traders - 1)) return [1, `an index below ${traders}`];
  if (!isInteger(terms, 0, MAX_TERMS)) return [3, `an integer from 0 to ${MAX_TERMS}`];
  const tick = Math.round(market.tickSize * PRICE_UNITS);
  if (!isInteger(price, tick, PRICE_UNITS - tick) || price % tick !== 0) {
    return [4, `a multiple of ${tick} from ${tick} to ${PRICE_UNITS - tick}`];
  }
  const [least, most] = [Math.round(market.minOrderSize * SIZE_UNITS), MOST_SHARES * SIZE_UNITS];
  return isInteger(size, least, most) ? null : [5, `an integer from ${least} to ${most}`];
}

/** When orders of a market can be sent, after one that was sent before. */
const lifeOf = ({ createdAt, resolved }: WorldMarket, earliest: number) => ({
  first: Math.max(earliest, createdAt),
  last: (resolved?.at ?? 0) - 1,
});
