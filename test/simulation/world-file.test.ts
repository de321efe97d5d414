import { describe, expect, test } from "vitest";
import { DocumentError } from "../../src/core/schema.ts";
import { generateWorld } from "../../src/simulation/generate-world.ts";
import type { World, WorldEvent, WorldMarket } from "../../src/simulation/world.ts";
import { readWorld, writeWorld } from "../../src/simulation/world.ts";
import { ORDER_WIDTH } from "../../src/simulation/world-orders.ts";

type Draft = { [key: string]: unknown };

const DAY = 86_400_000;
const ROW: readonly unknown[] = [-10, 0, 0, "BUY", "YES", 0.5, 10, "GTC"];
/** The same order as a world packs it: six integers. */
const PACKED: readonly unknown[] = [-10, 0, 0, 0, 5000, 1000];
const NONE_BEFORE = "expected a slug that none before has, found";
const TICKS = "0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001";
const COLUMNS = "[at, trader, market, side, outcome, price, size, orderType]";
const KEYS = "format, seed, devAccounts, traders, events, flow";

/** A flow of one row with one column replaced. */
const rowWith = (column: number, value: unknown): unknown[][] => [ROW.with(column, value)];

/** Changes one value of a parsed file, by a path of keys and indexes; undefined takes it out. */
function set(file: Draft, path: string, value: unknown): void {
  const keys = path.split(".");
  const last = keys.pop() as string;
  const parent = keys.reduce((inner, key) => inner[key] as Draft, file);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}

describe("a world file", async () => {
  const world = await generateWorld({
    seed: 'a "quoted"\n\ud800 seed',
    events: 3,
    markets: 5,
    rowsPerMarket: 24,
  });
  const [firstEvent] = world.events as [WorldEvent];
  const [firstMarket] = firstEvent.markets as [WorldMarket];
  const text = writeWorld(world);

  test("gives back exactly the world that was written, and the same text again", () => {
    expect(readWorld(text)).toStrictEqual(world);
    expect(writeWorld(readWorld(text))).toBe(text);
  });

  test("has a line for each order and ends with one line feed", () => {
    expect(text.match(/^ {4}-\d+(?:,\d+){5},?$/gm)).toHaveLength(world.flow.length / ORDER_WIDTH);
    expect(text).toMatch(/[^\n]\n$/);
  });

  test("writes its keys in one order, whatever order they came in", () => {
    const reversed = Object.fromEntries(Object.entries(world).reverse()) as unknown as World;
    expect(writeWorld(reversed)).toBe(text);
  });

  test.each<[string, string, unknown, string]>([
    [
      "another format",
      "format",
      "clobsim-world/3",
      'format: expected one of clobsim-world/1, clobsim-world/2, found "clobsim-world/3"',
    ],
    ["a missing key", "seed", undefined, "seed: expected a text, found nothing"],
    ["an unknown key", "extra", 1, `world: expected only the fields ${KEYS}, found "extra"`],
    ["a list as an event", "events.0", [], "events[0]: expected an object, found []"],
    [
      "an unknown tick",
      "events.1.markets.0.tickSize",
      0.02,
      `events[1].markets[0].tickSize: expected one of ${TICKS}, found 0.02`,
    ],
    [
      "a slug with spaces",
      "events.0.slug",
      "a b",
      'events[0].slug: expected a slug of at most 80 characters, found "a b"',
    ],
    [
      "a slug too long",
      "events.0.slug",
      "a".repeat(81),
      "events[0].slug: expected a slug of at most 80 characters",
    ],
    ["an event slug twice", "events.1.slug", firstEvent.slug, `events[1].slug: ${NONE_BEFORE}`],
    [
      "a market slug twice",
      "events.1.markets.0.slug",
      firstMarket.slug,
      `events[1].markets[0].slug: ${NONE_BEFORE}`,
    ],
    [
      "an empty question",
      "events.0.markets.0.question",
      "",
      "events[0].markets[0].question: expected a text that is not empty",
    ],
    [
      "a market before its event",
      "events.0.markets.0.createdAt",
      -8 * DAY,
      "events[0].markets[0].createdAt: expected an integer from",
    ],
    [
      "a resolution to come",
      "events.0.markets.0.resolved",
      { at: 5, winningOutcome: "YES" },
      "events[0].markets[0].resolved.at: expected an integer from",
    ],
    [
      "an upper-case address",
      "traders.0.address",
      `0x${"A".repeat(40)}`,
      "traders[0].address: expected an address",
    ],
    [
      "a trader twice",
      "traders.1.address",
      world.traders[0]?.address,
      "traders[1].address: expected an address that none before has",
    ],
    [
      "half a micro-USDC",
      "traders.0.collateral",
      0.0000005,
      "traders[0].collateral: expected a multiple of 0.000001 from 0 to 4000000000, found 5e-7",
    ],
    [
      "a tag that is no text",
      "events.0.tags.0",
      null,
      "events[0].tags[0]: expected a slug of at most 80 characters, found null",
    ],
    ["events that are no list", "events", {}, "events: expected a list, found {}"],
    [
      "too many markets",
      "events.0.markets",
      Array(20_001).fill(null),
      "events[0].markets: expected at most 20000 items, found 20001",
    ],
    [
      "a period that is none",
      "events.0.endOf",
      "week",
      "events[0].endOf: expected one of day, month, quarter, year",
    ],
    [
      "a flow of rows",
      "flow",
      [ROW],
      "flow: expected 6 integers an order: at, trader, market, terms, price, size, found 1",
    ],
    ["half an order", "flow", PACKED.slice(1), "flow: expected 6 integers an order"],
    [
      "an unknown trader",
      "flow",
      PACKED.with(1, 40),
      "flow[1]: expected trader, an index below 40, found 40",
    ],
    ["an unknown market", "flow", PACKED.with(2, 5), "flow[2]: expected market, an index below 5, found 5"],
    [
      "an order out of order",
      "flow",
      [...PACKED, ...PACKED.with(0, -11)],
      "flow[6]: expected at, an integer from -10 to -1, found -11",
    ],
    ["an order after the start", "flow", PACKED.with(0, 0), "flow[0]: expected at, an integer from"],
    ["unknown terms", "flow", PACKED.with(3, 8), "flow[3]: expected terms, an integer from 0 to 7, found 8"],
    [
      "a price off the tick",
      "flow",
      PACKED.with(4, 5050),
      "flow[4]: expected price, a multiple of 100 from 100 to 9900, found 5050",
    ],
    ["a decimal price", "flow", PACKED.with(4, 0.5), "flow[4]: expected price, a multiple of 100"],
    ["a price of one", "flow", PACKED.with(4, 10_000), "found 10000"],
    [
      "a size below the minimum",
      "flow",
      PACKED.with(5, 99),
      "flow[5]: expected size, an integer from 100 to 1000000000, found 99",
    ],
  ])("is refused with %s", (_, path, value, message) => {
    const file = JSON.parse(text) as Draft;
    set(file, path, value);
    const broken = JSON.stringify(file);
    expect(() => readWorld(broken)).toThrow(DocumentError);
    expect(() => readWorld(broken)).toThrow(message);
  });

  test.each<[string, readonly unknown[], string]>([
    ["too many rows", Array(5_000_001).fill(0), "flow: expected at most 5000000 items, found 5000001"],
    ["a short row", [ROW.slice(1)], `flow[0]: expected ${COLUMNS}, found [0,`],
    ["an unknown trader", rowWith(1, 40), "flow[0][1]: expected trader, an index below 40, found 40"],
    ["an unknown market", rowWith(2, 5), "flow[0][2]: expected market, an index below 5, found 5"],
    [
      "a market by name",
      rowWith(2, "length"),
      'flow[0][2]: expected market, an index below 5, found "length"',
    ],
    [
      "a row out of order",
      [ROW, ROW.with(0, -11)],
      "flow[1][0]: expected at, an integer from -10 to -1, found -11",
    ],
    ["a row after the start", rowWith(0, 0), "flow[0][0]: expected at, an integer from"],
    ["a side of another case", rowWith(3, "buy"), 'flow[0][3]: expected side, BUY or SELL, found "buy"'],
    ["a third outcome", rowWith(4, "MAYBE"), 'flow[0][4]: expected outcome, YES or NO, found "MAYBE"'],
    [
      "a price off the tick",
      rowWith(5, 0.555),
      "flow[0][5]: expected price, a multiple of 0.01 above 0 and below 1, found 0.555",
    ],
    ["a price of zero", rowWith(5, 0), "above 0 and below 1, found 0"],
    ["a price of one", rowWith(5, 1), "above 0 and below 1, found 1"],
    ["a price with noise", rowWith(5, 0.1 + 0.2), "found 0.30000000000000004"],
    [
      "a size of thousandths",
      rowWith(6, 10.005),
      "flow[0][6]: expected size, a multiple of 0.01 from 1 to 10000000, found 10.005",
    ],
    ["a size below the minimum", rowWith(6, 0.99), "a multiple of 0.01 from 1 to 10000000, found 0.99"],
    [
      "an order that waits for a date",
      rowWith(7, "GTD"),
      'flow[0][7]: expected orderType, GTC or FAK, found "GTD"',
    ],
  ])("with rows of decimals, as earlier versions wrote them, is refused with %s", (_, flow, message) => {
    const broken = JSON.stringify({ ...JSON.parse(text), format: "clobsim-world/1", flow });
    expect(() => readWorld(broken)).toThrow(DocumentError);
    expect(() => readWorld(broken)).toThrow(message);
  });

  test("gives back a world of an earlier version as it was", () => {
    const old = {
      ...(JSON.parse(text) as Draft),
      format: "clobsim-world/1",
      flow: [ROW],
    } as unknown as World;
    const { endOf: _, ...event } = old.events[0] as WorldEvent;
    const older: World = { ...old, events: [event, ...old.events.slice(1)] };
    expect(readWorld(writeWorld(older))).toEqual(older);
    expect(writeWorld(older)).toContain('\n    [-10,0,0,"BUY","YES",0.5,10,"GTC"]\n');
  });

  test("is refused with more markets than a world may have, spread over events", () => {
    const file = JSON.parse(text) as { events: { slug: string; markets: { slug: string }[] }[] };
    const [event] = file.events;
    const [market] = event?.markets ?? [];
    file.events = [0, 1].map((half) => ({
      ...(event as NonNullable<typeof event>),
      slug: `event-${half}`,
      markets: Array.from({ length: 10_001 }, (_, index) => ({ ...market, slug: `market-${half}-${index}` })),
    }));
    expect(() => readWorld(JSON.stringify(file))).toThrow(
      "events: expected at most 20000 markets, found 20002",
    );
  });

  test("is refused when it is no JSON", () => {
    expect(() => readWorld(text.slice(0, -3))).toThrow(/^world: expected JSON, found /);
  });

  test("gains nothing from a key named __proto__", () => {
    const hidden = text.replace('"seed":', '"__proto__": {}, "seed":');
    expect(() => readWorld(hidden)).toThrow('found "__proto__"');
    expect(Object.hasOwn(Object.prototype, "seed")).toBe(false);
  });
});
