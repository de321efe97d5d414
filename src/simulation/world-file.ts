import { shown } from "../core/document/document-error.ts";
import { type End, PERIODS } from "./calendar.ts";
import {
  EARLIEST,
  MAX_MARKETS,
  MAX_ORDERS,
  MAX_SHARES,
  MAX_TERMS,
  ORDER_WIDTH,
  type World,
  type WorldEvent,
  type WorldMarket,
  type WorldRow,
  type WorldTrader,
} from "./world.ts";

/** A world file that cannot be read: where, what was expected and what was found, in one line. */
export class WorldFileError extends Error {
  override readonly name = "WorldFileError";
  /** JSON path of the value at fault, such as `events[3].markets[0].tickSize`. */
  readonly path: string;

  constructor(path: string, expected: string, found: unknown) {
    super(`${path}: expected ${expected}, found ${shown(found)}`);
    this.path = path;
  }
}

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/**
 * The fields of an object that has these keys, its own and no others; some may be left out.
 * @throws WorldFileError otherwise.
 */
function fieldsOf<Key extends string>(
  value: unknown,
  path: string,
  keys: readonly Key[],
  optional: readonly Key[] = [],
): Readonly<Record<Key, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new WorldFileError(path, "an object", value);
  }
  const known: readonly string[] = keys;
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new WorldFileError(path, `only the keys ${keys.join(", ")}`, unknown);
  const missing = keys.find((key) => !Object.hasOwn(value, key) && !optional.includes(key));
  if (missing !== undefined) throw new WorldFileError(path, `the key ${missing}`, undefined);
  return value as Record<Key, unknown>;
}

/** An array, each item read at its own path. @throws WorldFileError when it is none or too long. */
function listOf<Item>(
  value: unknown,
  path: string,
  most: number,
  read: (item: unknown, path: string) => Item,
): Item[] {
  const items = itemsOf(value, path, most);
  return items.map((item, index) => read(item, `${path}[${index}]`));
}

/** An array of any items. @throws WorldFileError when it is none or too long. */
function itemsOf(value: unknown, path: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new WorldFileError(path, "an array", value);
  if (value.length > most) throw new WorldFileError(path, `at most ${most} items`, value.length);
  return value;
}

/** One of a few values. @throws WorldFileError otherwise. */
function oneOf<Value extends string | number>(value: unknown, path: string, values: readonly Value[]): Value {
  const found = values.find((candidate) => candidate === value);
  if (found === undefined) throw new WorldFileError(path, `one of ${values.join(", ")}`, value);
  return found;
}

/** Whether a value is a whole number in a range. */
function isInteger(value: unknown, low: number, high: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
}

/** Whether a value is a decimal in a range and the nearest number to a whole count of units. */
function isDecimal(value: unknown, low: number, high: number, unitsPerOne: number): value is number {
  if (typeof value !== "number" || !(value >= low && value <= high)) return false;
  return Math.round(value * unitsPerOne) / unitsPerOne === value;
}

/** A whole number in a range. @throws WorldFileError otherwise. */
function integerOf(value: unknown, path: string, low: number, high: number): number {
  if (isInteger(value, low, high)) return value;
  throw new WorldFileError(path, `an integer from ${low} to ${high}`, value);
}

/** A decimal in a range with no more digits than its unit has. @throws WorldFileError otherwise. */
function decimalOf(value: unknown, path: string, low: number, high: number, unitsPerOne: number): number {
  if (isDecimal(value, low, high, unitsPerOne)) return value;
  throw new WorldFileError(path, `a multiple of ${1 / unitsPerOne} from ${low} to ${high}`, value);
}

/** Any text. @throws WorldFileError otherwise. */
function textOf(value: unknown, path: string): string {
  if (typeof value === "string") return value;
  throw new WorldFileError(path, "a text", value);
}

/** A text of at least one character. @throws WorldFileError otherwise. */
function wordsOf(value: unknown, path: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new WorldFileError(path, "a text that is not empty", value);
}

/** Lower-case words joined by hyphens. @throws WorldFileError otherwise. */
function slugIn(value: unknown, path: string): string {
  if (typeof value === "string" && value.length <= 80 && SLUG.test(value)) return value;
  throw new WorldFileError(path, "a slug of at most 80 characters", value);
}

/** An address in lower case. @throws WorldFileError otherwise. */
function addressOf(value: unknown, path: string): string {
  if (typeof value === "string" && ADDRESS.test(value)) return value;
  throw new WorldFileError(path, "an address, 0x and 40 lower-case hex digits", value);
}

/** A value that none before had. @throws WorldFileError otherwise. */
function firstOf(value: string, path: string, taken: Set<string>, what: string): string {
  if (taken.has(value)) throw new WorldFileError(path, `${what} that none before has`, value);
  taken.add(value);
  return value;
}

const MAX_TRADERS = 10_000;
const MAX_TAGS = 100;
const MAX_USDC = 4_000_000_000;
/** Ten years. */
const LATEST_DAYS = 3652;
const MONEY_UNITS = 1_000_000;
const TICK_SIZES = [0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001];

const FORMATS = ["clobsim-world/1", "clobsim-world/2"] as const;
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
  "endOf",
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
  "endOf",
  "resolved",
] as const;
/** What a world of an earlier version leaves out. */
const OPTIONAL_KEYS = ["endOf"] as const;
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
  const format = oneOf(fields.format, "format", FORMATS);
  const taken = { events: new Set<string>(), markets: new Set<string>() };
  const dev = new Set<string>();
  const addresses = new Set<string>();
  const devAccounts = listOf(fields.devAccounts, "devAccounts", MAX_TRADERS, (item, path) =>
    firstOf(addressOf(item, path), path, dev, "an address"),
  );
  const traders = listOf(fields.traders, "traders", MAX_TRADERS, (item, path) =>
    readTrader(item, path, addresses),
  );
  const events = listOf(fields.events, "events", MAX_MARKETS, (item, path) => readEvent(item, path, taken));
  if (taken.markets.size > MAX_MARKETS) {
    throw new WorldFileError("events", `at most ${MAX_MARKETS} markets`, taken.markets.size);
  }
  const markets = events.flatMap((event) => event.markets);
  const content = { seed: textOf(fields.seed, "seed"), devAccounts, traders, events };
  return format === "clobsim-world/1"
    ? { format, ...content, flow: readRows(fields.flow, traders.length, markets) }
    : { format, ...content, flow: readPacked(fields.flow, traders.length, markets) };
}

/** The file of a world: JSON with its keys in a fixed order and one line for each account and each order. */
export function writeWorld(world: World): string {
  const devAccounts = world.devAccounts.map((address) => JSON.stringify(address));
  const traders = world.traders.map((trader) => inline(ordered(trader, TRADER_KEYS)));
  const events = world.events.map((event) => {
    const markets = event.markets.map((market) => ordered(market, MARKET_KEYS));
    return indented(JSON.stringify({ ...ordered(event, EVENT_KEYS), markets }, null, 2));
  });
  const flow =
    world.format === "clobsim-world/1"
      ? world.flow.map((row) => JSON.stringify(row))
      : packedLines(world.flow);
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
    collateral: decimalOf(collateral, `${path}.collateral`, 0, MAX_USDC, MONEY_UNITS),
    shares: decimalOf(shares, `${path}.shares`, 0, MAX_SHARES, SIZE_UNITS),
  };
}

interface TakenSlugs {
  readonly events: Set<string>;
  readonly markets: Set<string>;
}

function readEvent(value: unknown, path: string, taken: TakenSlugs): WorldEvent {
  const fields = fieldsOf(value, path, EVENT_KEYS, OPTIONAL_KEYS);
  const createdAt = integerOf(fields.createdAt, `${path}.createdAt`, EARLIEST, -1);
  return {
    title: wordsOf(fields.title, `${path}.title`),
    slug: firstOf(slugIn(fields.slug, `${path}.slug`), `${path}.slug`, taken.events, "a slug"),
    description: textOf(fields.description, `${path}.description`),
    category: slugIn(fields.category, `${path}.category`),
    tags: listOf(fields.tags, `${path}.tags`, MAX_TAGS, slugIn),
    createdAt,
    ...readEnd(fields, path),
    markets: listOf(fields.markets, `${path}.markets`, MAX_MARKETS, (item, at) =>
      readMarket(item, at, createdAt, taken.markets),
    ),
  };
}

function readMarket(value: unknown, path: string, earliest: number, taken: Set<string>): WorldMarket {
  const fields = fieldsOf(value, path, MARKET_KEYS, OPTIONAL_KEYS);
  const createdAt = integerOf(fields.createdAt, `${path}.createdAt`, earliest, -1);
  return {
    question: wordsOf(fields.question, `${path}.question`),
    slug: firstOf(slugIn(fields.slug, `${path}.slug`), `${path}.slug`, taken, "a slug"),
    description: textOf(fields.description, `${path}.description`),
    tags: listOf(fields.tags, `${path}.tags`, MAX_TAGS, slugIn),
    tickSize: oneOf(fields.tickSize, `${path}.tickSize`, TICK_SIZES),
    minOrderSize: decimalOf(fields.minOrderSize, `${path}.minOrderSize`, 0.01, MAX_SHARES, SIZE_UNITS),
    feeRateBps: integerOf(fields.feeRateBps, `${path}.feeRateBps`, 0, 10_000),
    matching: oneOf(fields.matching, `${path}.matching`, ["complementary", "independent"]),
    createdAt,
    ...readEnd(fields, path),
    resolved: fields.resolved === null ? null : readResolved(fields.resolved, `${path}.resolved`, createdAt),
  };
}

function readEnd(fields: Readonly<Record<"endsInDays" | "endOf", unknown>>, path: string): End {
  const endsInDays = integerOf(fields.endsInDays, `${path}.endsInDays`, 1, LATEST_DAYS);
  if (fields.endOf === undefined) return { endsInDays };
  return { endsInDays, endOf: oneOf(fields.endOf, `${path}.endOf`, PERIODS) };
}

function readResolved(value: unknown, path: string, earliest: number): WorldMarket["resolved"] {
  const { at, winningOutcome } = fieldsOf(value, path, RESOLVED_KEYS);
  return {
    at: integerOf(at, `${path}.at`, earliest, -1),
    winningOutcome: oneOf(winningOutcome, `${path}.winningOutcome`, ["YES", "NO"]),
  };
}

/** The same value with its keys in the order of the file, as far as it has them. */
function ordered<Value extends object>(value: Value, keys: readonly (keyof Value)[]): Value {
  const own = keys.filter((key) => Object.hasOwn(value, key));
  return Object.fromEntries(own.map((key) => [key, value[key]])) as Value;
}

/** A packed flow with one line for each order. */
function packedLines(flow: readonly number[]): string[] {
  return Array.from({ length: flow.length / ORDER_WIDTH }, (_, order) =>
    flow.slice(order * ORDER_WIDTH, (order + 1) * ORDER_WIDTH).join(","),
  );
}

const inline = (value: object): string => JSON.stringify(value, null, 1).replace(/\n */g, " ");
const indented = (text: string): string => text.replaceAll("\n", "\n    ");
const lines = (items: readonly string[]): string =>
  items.length === 0 ? "[]" : `[\n    ${items.join(",\n    ")}\n  ]`;

const SIZE_UNITS = 100;
const PRICE_UNITS = 10_000;
const ROW_KEYS = ["at", "trader", "market", "side", "outcome", "price", "size", "orderType"];
const PACKED_KEYS = ["at", "trader", "market", "terms", "price", "size"];

/** A column that is wrong, and what it should hold. */
type Fault = readonly [column: number, expected: string];

/** The rows of a world that was written by hand or by an earlier version. @throws WorldFileError */
function readRows(value: unknown, traders: number, markets: readonly WorldMarket[]): WorldRow[] {
  let earliest = EARLIEST;
  return itemsOf(value, "flow", MAX_ORDERS).map((item, index) => {
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
): WorldRow {
  if (!Array.isArray(value) || value.length !== ROW_KEYS.length) {
    throw new WorldFileError(`flow[${index}]`, `[${ROW_KEYS.join(", ")}]`, value);
  }
  const fault = faultIn(value, earliest, traders, markets);
  if (fault === null) return value as unknown as WorldRow;
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
  if (!isDecimal(size, minOrderSize, MAX_SHARES, SIZE_UNITS)) {
    return [6, `a multiple of 0.01 from ${minOrderSize} to ${MAX_SHARES}`];
  }
  return orderType === "GTC" || orderType === "FAK" ? null : [7, "GTC or FAK"];
}

function isOnTick(value: unknown, tickSize: number): boolean {
  if (!isDecimal(value, tickSize, 1 - tickSize, PRICE_UNITS)) return false;
  return Math.round(value * PRICE_UNITS) % Math.round(tickSize * PRICE_UNITS) === 0;
}

/** The integers of a packed flow, six an order. @throws WorldFileError */
function readPacked(value: unknown, traders: number, markets: readonly WorldMarket[]): number[] {
  const flow = itemsOf(value, "flow", MAX_ORDERS * ORDER_WIDTH);
  if (flow.length % ORDER_WIDTH !== 0) {
    throw new WorldFileError(
      "flow",
      `${ORDER_WIDTH} integers an order: ${PACKED_KEYS.join(", ")}`,
      flow.length,
    );
  }
  let earliest = EARLIEST;
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
  const [least, most] = [Math.round(market.minOrderSize * SIZE_UNITS), MAX_SHARES * SIZE_UNITS];
  return isInteger(size, least, most) ? null : [5, `an integer from ${least} to ${most}`];
}

/** When orders of a market can be sent, after one that was sent before. */
const lifeOf = ({ createdAt, resolved }: WorldMarket, earliest: number) => ({
  first: Math.max(earliest, createdAt),
  last: (resolved?.at ?? 0) - 1,
});
