import { DocumentError, within } from "../core/document-error.ts";
import { readJson } from "../core/json.ts";
import {
  address,
  custom,
  type Infer,
  integer,
  list,
  numberIn,
  oneOf,
  optional,
  orNull,
  record,
  refined,
  type Type,
  text,
  textLike,
} from "../core/schema.ts";
import { MATCHINGS, OUTCOMES, TICK_SIZES } from "../core/terms.ts";
import { FULL_PRICE, MAX_SHARES, MAX_USDC, SHARE_UNITS, USDC_UNITS } from "../core/units.ts";
import { FILE_LIMITS, readFailure, readText } from "../regular-file.ts";
import { PERIODS } from "./event-story.ts";
import {
  EARLIEST,
  MAX_MARKETS,
  MAX_ORDERS,
  MAX_TERMS,
  type OpeningHistory,
  ORDER_WIDTH,
  orderCount,
} from "./world-orders.ts";

const MAX_TRADERS = 10_000;
const MAX_TAGS = 100;
/** Ten years. */
const MAX_DAYS = 3652;

const words = (): Type<string> => textLike(/./s, "a text that is not empty");
const slug = (): Type<string> =>
  textLike(/^(?=.{1,80}$)[a-z0-9]+(?:-[a-z0-9]+)*$/, "a slug of at most 80 characters");

const isDecimal = (value: number, unitsPerOne: number): boolean =>
  Math.round(value * unitsPerOne) / unitsPerOne === value;

/** A decimal in a range, with at most the digits of its unit. */
const decimalIn = (low: number, high: number, unitsPerOne: number): Type<number> =>
  refined(numberIn(low, high), (value) => {
    if (isDecimal(value, unitsPerOne)) return;
    throw new DocumentError(`a multiple of ${1 / unitsPerOne} from ${low} to ${high}`, value);
  });

function requireAtMost(max: number, items: unknown): void {
  if (Array.isArray(items) && items.length > max)
    throw new DocumentError(`at most ${max} items`, items.length);
}

const listUpTo = <Item>(max: number, type: Type<Item>): Type<readonly Item[]> => {
  const items = list(type);
  return {
    ...items,
    parse: (value) => {
      requireAtMost(max, value);
      return items.parse(value);
    },
  };
};

type ValueWithPath = readonly [value: string, ...path: (string | number)[]];

/** Requires unique values of items. @throws DocumentError at the path of a repeated one. */
function requireUnique<Item>(
  what: string,
  items: readonly Item[],
  pathedValue: (item: Item, index: number) => ValueWithPath,
): void {
  const taken = new Set<string>();
  for (const [value, ...path] of items.map(pathedValue)) {
    if (taken.has(value)) throw new DocumentError(`${what} that none before has`, value, ...path);
    taken.add(value);
  }
}

export const WorldTrader = record({
  address: address(),
  /** USDC. */
  collateral: decimalIn(0, MAX_USDC, USDC_UNITS),
  /** Shares of both outcomes of every market, minted as full sets when the trader first touches a market. */
  shares: decimalIn(0, MAX_SHARES, SHARE_UNITS),
});
export type WorldTrader = Infer<typeof WorldTrader>;

/** The fields of `End`; worlds of earlier versions have no `endOf`. */
const END = { endsInDays: integer(1, MAX_DAYS), endOf: optional(oneOf(...PERIODS)) };
/** Milliseconds before the start, negative. */
const past = (): Type<number> => integer(EARLIEST, -1);

export const WorldMarket = record({
  question: words(),
  slug: slug(),
  description: text(),
  tags: listUpTo(MAX_TAGS, slug()),
  /** USDC per share. */
  tickSize: refined(numberIn(0, 1), (value) => {
    if (!TICK_SIZES.some((step) => step === value))
      throw new DocumentError(`one of ${TICK_SIZES.join(", ")}`, value);
  }),
  /** Shares. */
  minOrderSize: decimalIn(0.01, MAX_SHARES, SHARE_UNITS),
  feeRateBps: integer(0, 10_000),
  matching: oneOf(...MATCHINGS),
  createdAt: past(),
  ...END,
  /** Set if the market was resolved before the start. */
  resolved: orNull(record({ at: past(), winningOutcome: oneOf(...OUTCOMES) })),
});
export type WorldMarket = Infer<typeof WorldMarket>;

/** In the texts of an event and its markets, `{endDate}` is replaced by the day on which it ends: "November 30, 2026". */
export const WorldEvent = record({
  title: words(),
  slug: slug(),
  description: text(),
  category: slug(),
  tags: listUpTo(MAX_TAGS, slug()),
  createdAt: past(),
  ...END,
  markets: listUpTo(MAX_MARKETS, WorldMarket),
});
export type WorldEvent = Infer<typeof WorldEvent>;

const WorldContent = record({
  format: oneOf("clobsim-world/1", "clobsim-world/2"),
  /** Seed of the ids, secrets and dev accounts of the exchange that opens this world. */
  seed: text(),
  /** Addresses of the dev accounts, whose private keys are derived from the seed. */
  devAccounts: refined(listUpTo(MAX_TRADERS, address()), (addresses) =>
    requireUnique("an address", addresses, (each, index) => [each, index]),
  ),
  traders: refined(listUpTo(MAX_TRADERS, WorldTrader), (traders) =>
    requireUnique("an address", traders, (each, index) => [each.address, index, "address"]),
  ),
  events: refined(listUpTo(MAX_MARKETS, WorldEvent), checkEvents),
  // `checkHistory` checks the orders with their traders and markets.
  flow: custom((value) => value),
});

/** Initial content of an exchange. All times are relative to the start, so that a file can be opened at any `--start`. */
export type World = Omit<Infer<typeof WorldContent>, keyof OpeningHistory> & OpeningHistory;

export function readWorldFile(path: string): World {
  try {
    return readWorld(readText(path, FILE_LIMITS.world));
  } catch (error) {
    throw new Error(readFailure(error), { cause: error });
  }
}

/** Parses the text of a world file. @throws Error if it is not JSON, with the place; DocumentError as `checkedWorld` */
export const readWorld = (json: string): World => checkedWorld(readJson(json));

/**
 * Checks a world: prices on their ticks, valid indexes, unique slugs, orders sorted and within the life of their markets.
 * @throws DocumentError with the path, what was expected and what was found.
 */
export function checkedWorld(value: unknown): World {
  try {
    const world = WorldContent.parse(value) as World;
    within("flow", () => checkHistory(world));
    return world;
  } catch (error) {
    throw error instanceof DocumentError && error.path === "" ? error.within("world") : error;
  }
}

function checkEvents(events: readonly WorldEvent[]): void {
  const markets = events.flatMap(({ createdAt, markets }, index) =>
    markets.map((market, position) => ({ market, opened: createdAt, path: [index, "markets", position] })),
  );
  requireUnique("a slug", events, ({ slug }, index) => [slug, index, "slug"]);
  requireUnique("a slug", markets, ({ market, path }) => [market.slug, ...path, "slug"]);
  for (const { market, opened, path } of markets) {
    requireNotBefore(opened, market.createdAt, ...path, "createdAt");
    if (market.resolved !== null)
      requireNotBefore(market.createdAt, market.resolved.at, ...path, "resolved", "at");
  }
  if (markets.length > MAX_MARKETS) throw new DocumentError(`at most ${MAX_MARKETS} markets`, markets.length);
}

function requireNotBefore(earliest: number, at: number, ...path: readonly (string | number)[]): void {
  if (at < earliest) throw new DocumentError(`an integer from ${earliest} to -1`, at, ...path);
}

const ROW_COLUMNS = ["at", "trader", "market", "side", "outcome", "price", "size", "orderType"];
const PACKED_COLUMNS = ["at", "trader", "market", "terms", "price", "size"];

type Wrong = readonly [column: number, expected: string];

/** Checks the orders of a world. @throws DocumentError relative to the flow. */
function checkHistory({ format, flow, traders, events }: World): void {
  const markets = events.flatMap((event) => event.markets);
  const isPacked = format === "clobsim-world/2";
  const [columns, wrongTerms] = isPacked ? [PACKED_COLUMNS, wrongInPacked] : [ROW_COLUMNS, wrongInRow];
  if (!Array.isArray(flow)) throw new DocumentError("a list", flow);
  requireAtMost(isPacked ? MAX_ORDERS * ORDER_WIDTH : MAX_ORDERS, flow);
  if (isPacked && flow.length % ORDER_WIDTH !== 0)
    throw new DocumentError(`${ORDER_WIDTH} integers an order: ${columns.join(", ")}`, flow.length);
  let earliest = EARLIEST;
  for (let index = 0; index < flow.length; index += isPacked ? ORDER_WIDTH : 1) {
    const order: unknown = isPacked ? flow.slice(index, index + ORDER_WIDTH) : flow[index];
    if (!Array.isArray(order) || order.length !== columns.length)
      throw new DocumentError(`[${columns.join(", ")}]`, order, index);
    const market = typeof order[2] === "number" ? markets[order[2]] : undefined;
    const wrong: Wrong | null =
      market === undefined
        ? [2, `an index below ${markets.length}`]
        : (wrongOrigin(order, earliest, traders.length, market) ?? wrongTerms(order, market));
    if (wrong !== null) {
      const [column, expected] = wrong;
      const path = isPacked ? [index + column] : [index, column];
      throw new DocumentError(`${columns[column]}, ${expected}`, order[column], ...path);
    }
    earliest = order[0];
  }
}

const isInteger = (value: unknown, low: number, high: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
const isDecimalIn = (value: unknown, low: number, high: number, units: number): value is number =>
  typeof value === "number" && value >= low && value <= high && isDecimal(value, units);

/** Checks the time and the trader of an order. */
function wrongOrigin(
  [at, trader]: readonly unknown[],
  earliest: number,
  traders: number,
  { createdAt, resolved }: WorldMarket,
): Wrong | null {
  const [first, last] = [Math.max(earliest, createdAt), (resolved?.at ?? 0) - 1];
  if (!isInteger(at, first, last)) return [0, `an integer from ${first} to ${last}`];
  return isInteger(trader, 0, traders - 1) ? null : [1, `an index below ${traders}`];
}

function wrongInRow(row: readonly unknown[], { tickSize, minOrderSize }: WorldMarket): Wrong | null {
  const [, , , side, outcome, price, size, orderType] = row;
  if (side !== "BUY" && side !== "SELL") return [3, "BUY or SELL"];
  if (outcome !== "YES" && outcome !== "NO") return [4, "YES or NO"];
  const isOnTick =
    isDecimalIn(price, tickSize, 1 - tickSize, FULL_PRICE) &&
    Math.round(price * FULL_PRICE) % Math.round(tickSize * FULL_PRICE) === 0;
  if (!isOnTick) return [5, `a multiple of ${tickSize} above 0 and below 1`];
  if (!isDecimalIn(size, minOrderSize, MAX_SHARES, SHARE_UNITS))
    return [6, `a multiple of 0.01 from ${minOrderSize} to ${MAX_SHARES}`];
  return orderType === "GTC" || orderType === "FAK" ? null : [7, "GTC or FAK"];
}

function wrongInPacked(order: readonly unknown[], { tickSize, minOrderSize }: WorldMarket): Wrong | null {
  const [, , , terms, price, size] = order;
  const tick = Math.round(tickSize * FULL_PRICE);
  if (!isInteger(terms, 0, MAX_TERMS)) return [3, `an integer from 0 to ${MAX_TERMS}`];
  if (!isInteger(price, tick, FULL_PRICE - tick) || price % tick !== 0)
    return [4, `a multiple of ${tick} from ${tick} to ${FULL_PRICE - tick}`];
  const [min, max] = [Math.round(minOrderSize * SHARE_UNITS), MAX_SHARES * SHARE_UNITS];
  return isInteger(size, min, max) ? null : [5, `an integer from ${min} to ${max}`];
}

/** Writes a world as JSON with a fixed order of keys, and one line for each account and each order. */
export function writeWorld(world: World): string {
  const devAccounts = world.devAccounts.map((address) => JSON.stringify(address));
  const traders = world.traders.map((trader) => inline(WorldTrader.write(trader)));
  const events = world.events.map((event) => indented(WorldEvent.write(event)));
  const { flow } = world;
  const orders = Array.from({ length: orderCount(world) }, (_, order) =>
    world.format === "clobsim-world/1"
      ? JSON.stringify(flow[order])
      : flow.slice(order * ORDER_WIDTH, (order + 1) * ORDER_WIDTH).join(","),
  );
  return `{
  "format": ${JSON.stringify(world.format)},
  "seed": ${JSON.stringify(world.seed)},
  "devAccounts": ${lines(devAccounts)},
  "traders": ${lines(traders)},
  "events": ${lines(events)},
  "flow": ${lines(orders)}
}
`;
}

const inline = (json: string): string => JSON.stringify(JSON.parse(json), null, 1).replace(/\n */g, " ");
const indented = (json: string): string =>
  JSON.stringify(JSON.parse(json), null, 2).replaceAll("\n", "\n    ");
const lines = (items: readonly string[]): string =>
  items.length === 0 ? "[]" : `[\n    ${items.join(",\n    ")}\n  ]`;
