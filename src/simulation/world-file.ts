import { type End, PERIODS } from "./calendar.ts";
import { ORDER_WIDTH } from "./flow.ts";
import { readPacked, readRows } from "./read-flow.ts";
import type { World, WorldEvent, WorldMarket, WorldTrader } from "./world.ts";
import {
  addressOf,
  decimalOf,
  fieldsOf,
  firstOf,
  integerOf,
  listOf,
  oneOf,
  slugIn,
  textOf,
  WorldFileError,
  wordsOf,
} from "./world-checks.ts";
import { MOST_MARKETS, MOST_SHARES, OLDEST } from "./world-limits.ts";

const MOST_TRADERS = 10_000;
const MOST_TAGS = 100;
const MOST_USDC = 4_000_000_000;
/** Ten years. */
const LATEST_DAYS = 3652;
const SIZE_UNITS = 100;
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
    collateral: decimalOf(collateral, `${path}.collateral`, 0, MOST_USDC, MONEY_UNITS),
    shares: decimalOf(shares, `${path}.shares`, 0, MOST_SHARES, SIZE_UNITS),
  };
}

interface TakenSlugs {
  readonly events: Set<string>;
  readonly markets: Set<string>;
}

function readEvent(value: unknown, path: string, taken: TakenSlugs): WorldEvent {
  const fields = fieldsOf(value, path, EVENT_KEYS, OPTIONAL_KEYS);
  const createdAt = integerOf(fields.createdAt, `${path}.createdAt`, OLDEST, -1);
  return {
    title: wordsOf(fields.title, `${path}.title`),
    slug: firstOf(slugIn(fields.slug, `${path}.slug`), `${path}.slug`, taken.events, "a slug"),
    description: textOf(fields.description, `${path}.description`),
    category: slugIn(fields.category, `${path}.category`),
    tags: listOf(fields.tags, `${path}.tags`, MOST_TAGS, slugIn),
    createdAt,
    ...readEnd(fields, path),
    markets: listOf(fields.markets, `${path}.markets`, MOST_MARKETS, (item, at) =>
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
    tags: listOf(fields.tags, `${path}.tags`, MOST_TAGS, slugIn),
    tickSize: oneOf(fields.tickSize, `${path}.tickSize`, TICK_SIZES),
    minOrderSize: decimalOf(fields.minOrderSize, `${path}.minOrderSize`, 0.01, MOST_SHARES, SIZE_UNITS),
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
