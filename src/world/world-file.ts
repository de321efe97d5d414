import type { FlowRow, World, WorldEvent, WorldMarket, WorldTrader } from "./world.ts";
import {
  addressOf,
  decimalOf,
  fieldsOf,
  firstOf,
  integerOf,
  isDecimal,
  isInteger,
  itemsOf,
  listOf,
  oneOf,
  slugIn,
  textOf,
  WorldFileError,
  wordsOf,
} from "./world-checks.ts";
import { MOST_MARKETS, MOST_ROWS } from "./world-limits.ts";

const MOST_TRADERS = 10_000;
const MOST_TAGS = 100;
const MOST_USDC = 4_000_000_000;
const MOST_SHARES = 10_000_000;
/** Ten years, in milliseconds and in days. */
const OLDEST = -315_576_000_000;
const LATEST_DAYS = 3652;
const PRICE_UNITS = 10_000;
const SIZE_UNITS = 100;
const MONEY_UNITS = 1_000_000;
const TICK_SIZES = [0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001];
const ROW_KEYS = ["at", "trader", "market", "side", "outcome", "price", "size", "orderType"];

const WORLD_KEYS = ["format", "seed", "devAccounts", "traders", "events", "flow"] as const;
const TRADER_KEYS = ["address", "collateral", "shares"] as const;
const EVENT_KEYS = [
  "title",
  "slug",
  "description",
  "category",
  "tags",
  "createdAt",
  "endsInDays",
  "markets",
] as const;
const MARKET_KEYS = [
  "question",
  "slug",
  "description",
  "tags",
  "tickSize",
  "minOrderSize",
  "feeRateBps",
  "matching",
  "createdAt",
  "endsInDays",
  "resolved",
] as const;
const RESOLVED_KEYS = ["at", "winningOutcome"] as const;

/** A world from the text of its file. @throws WorldFileError as `checkedWorld` */
export const readWorld = (text: string): World => checkedWorld(parsed(text));

/**
 * A world from what a file of JSON holds, checked through and through: every price on its market's ticks, every index
 * pointing at something, slugs unique, the flow in order and within the life of its markets.
 * @throws WorldFileError that names the place, what was expected there and what was found.
 */
export function checkedWorld(value: unknown): World {
  const fields = fieldsOf(value, "world", WORLD_KEYS);
  const format = oneOf(fields.format, "format", ["clobsim-world/1"]);
  const taken = { events: new Set<string>(), markets: new Set<string>() };
  const dev = new Set<string>();
  const addresses = new Set<string>();
  const devAccounts = listOf(fields.devAccounts, "devAccounts", MOST_TRADERS, (item, path) =>
    firstOf(addressOf(item, path), path, dev, "an address"),
  );
  const traders = listOf(fields.traders, "traders", MOST_TRADERS, (item, path) =>
    readTrader(item, path, addresses),
  );
  const events = listOf(fields.events, "events", MOST_MARKETS, (item, path) => readEvent(item, path, taken));
  if (taken.markets.size > MOST_MARKETS) {
    throw new WorldFileError("events", `at most ${MOST_MARKETS} markets`, taken.markets.size);
  }
  const markets = events.flatMap((event) => event.markets);
  const flow = readFlow(fields.flow, traders.length, markets);
  return { format, seed: textOf(fields.seed, "seed"), devAccounts, traders, events, flow };
}

/** The file of a world: JSON with its keys in a fixed order and one line for each account and each order. */
export function writeWorld(world: World): string {
  const devAccounts = world.devAccounts.map((address) => JSON.stringify(address));
  const traders = world.traders.map((trader) => inline(ordered(trader, TRADER_KEYS)));
  const events = world.events.map((event) => {
    const markets = event.markets.map((market) => ordered(market, MARKET_KEYS));
    return indented(JSON.stringify({ ...ordered(event, EVENT_KEYS), markets }, null, 2));
  });
  const flow = world.flow.map((row) => JSON.stringify(row));
  return `{
  "format": ${JSON.stringify(world.format)},
  "seed": ${JSON.stringify(world.seed)},
  "devAccounts": ${lines(devAccounts)},
  "traders": ${lines(traders)},
  "events": ${lines(events)},
  "flow": ${lines(flow)}
}
`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new WorldFileError("world", "JSON", reason);
  }
}

function readTrader(value: unknown, path: string, taken: Set<string>): WorldTrader {
  const { address, collateral, shares } = fieldsOf(value, path, TRADER_KEYS);
  return {
    address: firstOf(addressOf(address, `${path}.address`), `${path}.address`, taken, "an address"),
    collateral: decimalOf(collateral, `${path}.collateral`, 0, MOST_USDC, MONEY_UNITS),
    shares: decimalOf(shares, `${path}.shares`, 0, MOST_SHARES, SIZE_UNITS),
  };
}

interface TakenSlugs {
  readonly events: Set<string>;
  readonly markets: Set<string>;
}

function readEvent(value: unknown, path: string, taken: TakenSlugs): WorldEvent {
  const fields = fieldsOf(value, path, EVENT_KEYS);
  const createdAt = integerOf(fields.createdAt, `${path}.createdAt`, OLDEST, -1);
  return {
    title: wordsOf(fields.title, `${path}.title`),
    slug: firstOf(slugIn(fields.slug, `${path}.slug`), `${path}.slug`, taken.events, "a slug"),
    description: textOf(fields.description, `${path}.description`),
    category: slugIn(fields.category, `${path}.category`),
    tags: listOf(fields.tags, `${path}.tags`, MOST_TAGS, slugIn),
    createdAt,
    endsInDays: integerOf(fields.endsInDays, `${path}.endsInDays`, 1, LATEST_DAYS),
    markets: listOf(fields.markets, `${path}.markets`, MOST_MARKETS, (item, at) =>
      readMarket(item, at, createdAt, taken.markets),
    ),
  };
}

function readMarket(value: unknown, path: string, earliest: number, taken: Set<string>): WorldMarket {
  const fields = fieldsOf(value, path, MARKET_KEYS);
  const createdAt = integerOf(fields.createdAt, `${path}.createdAt`, earliest, -1);
  return {
    question: wordsOf(fields.question, `${path}.question`),
    slug: firstOf(slugIn(fields.slug, `${path}.slug`), `${path}.slug`, taken, "a slug"),
    description: textOf(fields.description, `${path}.description`),
    tags: listOf(fields.tags, `${path}.tags`, MOST_TAGS, slugIn),
    tickSize: oneOf(fields.tickSize, `${path}.tickSize`, TICK_SIZES),
    minOrderSize: decimalOf(fields.minOrderSize, `${path}.minOrderSize`, 0.01, MOST_SHARES, SIZE_UNITS),
    feeRateBps: integerOf(fields.feeRateBps, `${path}.feeRateBps`, 0, 10_000),
    matching: oneOf(fields.matching, `${path}.matching`, ["complementary", "independent"]),
    createdAt,
    endsInDays: integerOf(fields.endsInDays, `${path}.endsInDays`, 1, LATEST_DAYS),
    resolved: fields.resolved === null ? null : readResolved(fields.resolved, `${path}.resolved`, createdAt),
  };
}

function readResolved(value: unknown, path: string, earliest: number): WorldMarket["resolved"] {
  const { at, winningOutcome } = fieldsOf(value, path, RESOLVED_KEYS);
  return {
    at: integerOf(at, `${path}.at`, earliest, -1),
    winningOutcome: oneOf(winningOutcome, `${path}.winningOutcome`, ["YES", "NO"]),
  };
}

function readFlow(value: unknown, traders: number, markets: readonly WorldMarket[]): FlowRow[] {
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
): [column: number, expected: string] | null {
  const [at, trader, index, side, outcome, price, size, orderType] = row;
  const market = typeof index === "number" ? markets[index] : undefined;
  if (market === undefined) return [2, `an index below ${markets.length}`];
  const { tickSize, minOrderSize } = market;
  const first = Math.max(earliest, market.createdAt);
  const last = (market.resolved?.at ?? 0) - 1;
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

/** The same value with its keys in the order of the file. */
function ordered<Value extends object>(value: Value, keys: readonly (keyof Value)[]): Value {
  return Object.fromEntries(keys.map((key) => [key, value[key]])) as Value;
}

const inline = (value: object): string => JSON.stringify(value, null, 1).replace(/\n */g, " ");
const indented = (text: string): string => text.replaceAll("\n", "\n    ");
const lines = (items: readonly string[]): string =>
  items.length === 0 ? "[]" : `[\n    ${items.join(",\n    ")}\n  ]`;
