import { describe, expect, test } from "vitest";
import { DocumentError } from "../../src/core/document-error.ts";
import { generateWorld } from "../../src/simulation/generate-world.ts";
import {
  readWorld,
  type World,
  type WorldEvent,
  type WorldMarket,
  writeWorld,
} from "../../src/simulation/world.ts";

type Draft = { [key: string]: unknown };

const DAY = 86_400_000;
const ROW: readonly unknown[] = [-10, 0, 0, "BUY", "YES", 0.5, 10, "GTC"];
/** The same order, packed into six integers. */
const PACKED: readonly unknown[] = [-10, 0, 0, 0, 5000, 1000];

/** Changes one value of a parsed file, by a path of keys and indexes; undefined removes it. */
function set(file: Draft, path: string, value: unknown): void {
  const keys = path.split(".");
  const last = keys.pop() as string;
  const parent = keys.reduce((inner, key) => inner[key] as Draft, file);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}

/** Returns why a text is not a valid world. */
function refusalOf(broken: string): string {
  try {
    readWorld(broken);
    throw new Error(`nothing is wrong with ${broken.slice(0, 100)}`);
  } catch (error) {
    if (error instanceof DocumentError) return error.message;
    throw error;
  }
}

describe("a world file", async () => {
  const size = { events: 3, markets: 5, rowsPerMarket: 24 };
  const world = await generateWorld({ seed: 'a "quoted"\n\ud800 seed', ...size });
  const [firstEvent] = world.events as [WorldEvent];
  const [firstMarket] = firstEvent.markets as [WorldMarket];
  const text = writeWorld(world);

  test("is read as the same world, and written as the same text", () => {
    expect(readWorld(text)).toStrictEqual(world);
    // The order of keys is part of the state hash.
    expect(JSON.stringify(readWorld(text))).toBe(JSON.stringify(world));
    expect(writeWorld(readWorld(text))).toBe(text);
  });

  test("has a fixed order of keys", () => {
    const reversed = Object.fromEntries(Object.entries(world).reverse()) as unknown as World;
    expect(writeWorld(reversed)).toBe(text);
  });

  const REFUSED: readonly (readonly [path: string, ...values: unknown[]])[] = [
    ["format", "clobsim-world/3"],
    ["seed", undefined],
    ["extra", 1],
    ["events", {}],
    ["events.0", []],
    ["events.1.markets.0.tickSize", 0.02],
    ["events.0.slug", "a b", "a".repeat(81)],
    ["events.1.slug", firstEvent.slug],
    ["events.1.markets.0.slug", firstMarket.slug],
    ["events.0.markets.0.question", ""],
    ["events.0.markets.0.createdAt", -8 * DAY],
    ["events.0.markets.0.resolved", { at: 5, winningOutcome: "YES" }],
    ["traders.0.address", `0x${"A".repeat(40)}`],
    ["traders.1.address", world.traders[0]?.address],
    ["traders.0.collateral", 0.0000005],
    ["events.0.tags.0", null],
    ["events.0.markets", Array(20_001).fill(null)],
    ["events.0.endOf", "week"],
    ["flow", [ROW], PACKED.slice(1), PACKED.with(1, 40), PACKED.with(2, 5), PACKED.with(0, 0)],
    ["flow", [...PACKED, ...PACKED.with(0, -11)], PACKED.with(3, 8), PACKED.with(5, 99)],
    // Off the tick, a decimal, one.
    ["flow", PACKED.with(4, 5050), PACKED.with(4, 0.5), PACKED.with(4, 10_000)],
  ];
  /** For a world with rows of decimals, the format of earlier versions. */
  const REFUSED_ROWS: readonly (readonly unknown[])[] = [
    Array(5_000_001).fill(0),
    [ROW.slice(1)],
    [ROW, ROW.with(0, -11)],
    [ROW.with(0, 0)],
    [ROW.with(1, 40)],
    ...[5, "length"].map((market) => [ROW.with(2, market)]),
    [ROW.with(3, "buy")],
    [ROW.with(4, "MAYBE")],
    ...[0.555, 0, 1, 0.1 + 0.2].map((price) => [ROW.with(5, price)]),
    ...[10.005, 0.99].map((size) => [ROW.with(6, size)]),
    [ROW.with(7, "GTD")],
  ];

  test("that is invalid is refused with the path, what was expected and what was found", async () => {
    const values = REFUSED.flatMap(([path, ...found]) => found.map((value) => [path, value] as const));
    const files = [
      ...values.map(([path, value]) => ({ path, value, format: world.format })),
      ...REFUSED_ROWS.map((value) => ({ path: "flow", value, format: "clobsim-world/1" })),
    ].map(({ path, value, format }) => {
      const file = { ...(JSON.parse(text) as Draft), format };
      set(file, path, value);
      const shown = `${path} ${JSON.stringify(value) ?? "left out"}`;
      return { shown: shown.slice(0, 100), broken: JSON.stringify(file) };
    });
    const page = files.map(({ shown, broken }) => `${shown}\n  ${refusalOf(broken)}\n`);
    await expect(page.join("")).toMatchFileSnapshot("wrong-worlds.txt");
  });

  test("is read and written in the format of an earlier version", () => {
    const draft = JSON.parse(text) as Draft;
    const old = { ...draft, format: "clobsim-world/1", flow: [ROW] } as unknown as World;
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

  test("is refused if it is not JSON", () => {
    expect(() => readWorld(text.slice(0, -3))).toThrow(
      /^line \d+, column 4: expected "," or "}", found its end$/,
    );
  });

  test("is refused with a key named __proto__", () => {
    const hidden = text.replace('"seed":', '"__proto__": {}, "seed":');
    expect(() => readWorld(hidden)).toThrow('found "__proto__"');
    expect(Object.hasOwn(Object.prototype, "seed")).toBe(false);
  });
});
