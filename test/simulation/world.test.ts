import { faker } from "@faker-js/faker/locale/en";
import { privateKeyToAddress } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { seededRandom } from "../../src/core/random.ts";
import {
  EVENT_TEMPLATES,
  FictionalNames,
  slugOf,
  uniqueSlug,
  writeStory,
} from "../../src/simulation/event-story.ts";
import { generateWorld, type WorldOptions } from "../../src/simulation/generate-world.ts";
import { drawFairPaths, drawFairPrices } from "../../src/simulation/price-paths.ts";
import { type World, type WorldMarket, writeWorld } from "../../src/simulation/world.ts";
import { devPrivateKey, fundedTraders } from "../../src/simulation/world-accounts.ts";
import { worldOrders } from "../../src/simulation/world-orders.ts";

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/** A date, or words whose date depends on the current day. */
const DATED =
  /\b(?:this|next|end of the) (?:week|month|quarter|year)\b|\b(19|20)\d\d\b|\b(January|February|March|April|May|June|July|August|September|October|November|December|[A-Z]?[a-z]+day)\b/;
const TINY: WorldOptions = { seed: "tiny-334", events: 2, markets: 3, rowsPerMarket: 60 };
const SMALL: WorldOptions = { seed: "small-4", events: 4, rowsPerMarket: 100 };

const marketsOf = (world: World): WorldMarket[] => world.events.flatMap((event) => event.markets);

describe("a generated world", async () => {
  const large = await generateWorld({ seed: "7", markets: 3000, rowsPerMarket: 24 });

  test("depends only on its options, not on the time zone or other generated worlds", async () => {
    const alone = await generateWorld({ seed: "7" });
    const zone = process.env.TZ;
    process.env.TZ = "Pacific/Chatham";
    const [first, other, again] = await Promise.all(["7", "8", "7"].map((seed) => generateWorld({ seed })));
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
    expect(first).toEqual(alone);
    expect(again).toEqual(alone);
    expect(other?.events).not.toEqual(alone.events);
    expect(other?.devAccounts).not.toEqual(alone.devAccounts);
  });

  test.each([
    ["tiny", TINY],
    ["small", SMALL],
  ])("is the stored one, byte by byte: %s", async (name, options) => {
    const text = writeWorld(await generateWorld(options));
    await expect(text).toMatchFileSnapshot(`../../fixtures/worlds/${name}.json`);
  });

  test("does not use the shared faker", async () => {
    faker.seed(1);
    const undisturbed = [faker.number.int(), faker.number.int()];
    faker.seed(1);
    const before = faker.number.int();
    await generateWorld({ seed: "7" });
    expect([before, faker.number.int()]).toEqual(undisturbed);
  });

  test("begins with the same events and history if more are requested", async () => {
    const few = await generateWorld({ seed: "7", events: 5 });
    const many = await generateWorld({ seed: "7", events: 20 });
    const count = marketsOf(few).length;
    expect(many.events.slice(0, 5)).toEqual(few.events);
    expect([...worldOrders(many)].filter(({ market }) => market < count)).toEqual([...worldOrders(few)]);
  });

  test.each<Partial<WorldOptions>>([
    ...[1, 2, 9, 250].map((markets) => ({ markets })),
    ...[1, 30].map((events) => ({ events })),
    ...[5, 13, 39, 40].map((markets) => ({ events: 5, markets })),
  ])("has exactly the requested markets and events, at most eight markets each: %o", async (size) => {
    const world = await generateWorld({ seed: "7", ...size, rowsPerMarket: 24 });
    const found = { events: world.events.length, markets: marketsOf(world).length };
    expect(found).toMatchObject(size);
    for (const event of world.events) expect([1, 2, 3, 4, 5, 6, 7, 8]).toContain(event.markets.length);
  });

  test.each([
    [{ markets: 0 }, "markets expects an integer from 1 to 20000, found 0"],
    [{ markets: 20_001 }, "markets expects an integer from 1 to 20000, found 20001"],
    [{ events: 1.5 }, "events expects an integer from 1 to 20000, found 1.5"],
    [{ events: 3, markets: 25 }, "markets expects 3 to 24 for 3 events, found 25"],
    [{ events: 3, markets: 2 }, "markets expects 3 to 24 for 3 events, found 2"],
    [{ markets: 1, rowsPerMarket: 23 }, "rowsPerMarket expects an integer from 24 to 2500000, found 23"],
  ])("cannot have a size out of range: %o", async (size, message) => {
    await expect(generateWorld({ seed: "7", ...size })).rejects.toThrow(new RangeError(message));
  });

  test("has eight categories in its first eight events", async () => {
    const { events } = await generateWorld({ seed: "7" });
    expect(new Set(events.slice(0, 8).map((event) => event.category)).size).toBe(8);
  });

  test("has slugs that are short, ASCII and unique, also among thousands of markets", () => {
    for (const slugs of [large.events, marketsOf(large)].map((named) => named.map(({ slug }) => slug))) {
      expect(new Set(slugs).size).toBe(slugs.length);
      for (const slug of slugs) expect(slug.length <= 80 && SLUG.test(slug), slug).toBe(true);
    }
    for (const { category, tags, markets } of large.events) {
      for (const list of [tags, ...markets.map((market) => market.tags)]) {
        expect(list).toContain(category);
        expect(list.every((tag) => SLUG.test(tag))).toBe(true);
      }
    }
  });

  test("seldom has two equal stories", () => {
    const titles = large.events.map(({ title }) => title);
    expect(new Set(titles).size).toBeGreaterThan(0.98 * titles.length);
  });

  test("has questions without any date but that of their end, and two sentences about the decision", () => {
    for (const { title, description, markets, endsInDays, endOf } of large.events) {
      expect(`${title} ${description}`).not.toMatch(DATED);
      expect(`${title} ${description}`).toContain("{endDate}");
      expect(endsInDays >= 1 && endsInDays <= 365).toBe(true);
      for (const market of markets) {
        expect(market.question).toMatch(/^Will .*[^?]\?$/);
        expect(`${market.question} ${market.description}`).not.toMatch(DATED);
        expect(market.description).toContain("{endDate}");
        expect(market).toMatchObject({ endsInDays, endOf });
        expect(market.description).toMatch(
          /^This market resolves to YES if .*, and to NO otherwise\. [A-Z].*\.$/,
        );
        expect(market.description).not.toContain("undefined");
      }
    }
  });

  test("mixes trading rules as real exchanges do", () => {
    const markets = marketsOf(large);
    const share = (has: (market: WorldMarket) => boolean): number =>
      markets.filter(has).length / markets.length;
    const shares: [number, number, number][] = [
      [0.65, share((market) => market.tickSize === 0.01), 0.8],
      [0.2, share((market) => market.tickSize === 0.001), 0.3],
      [0.02, share((market) => market.tickSize === 0.0001), 0.045],
      [0.75, share((market) => market.minOrderSize === 1), 0.95],
      [0.75, share((market) => market.feeRateBps === 0), 0.95],
      [0.03, share((market) => market.matching === "independent"), 0.1],
      [0.03, share((market) => market.resolved !== null), 0.08],
    ];
    for (const [low, found, high] of shares) expect(low <= found && found <= high, `${found}`).toBe(true);
  });

  test.each(["1", "2", "3", "4", "5", "6", "", "Ünï\ud800"])(
    "begins with a plain open market and knows the finest tick and a resolution: seed %j",
    async (seed) => {
      const markets = marketsOf(await generateWorld({ seed }));
      expect(markets[0]).toMatchObject({ tickSize: 0.01, matching: "complementary", resolved: null });
      expect(markets.some((market) => market.tickSize === 0.0001)).toBe(true);
      expect(markets.some((market) => market.resolved !== null)).toBe(true);
    },
  );
});

/** The fields of a template in event-templates.json, which the compiler cannot check. */
const TEMPLATE = (() => {
  const [text, set, range] = [z.string().min(1), z.literal(true).optional(), z.tuple([z.int(), z.int()])];
  const spans = z.array(z.enum(["week", "month", "quarter", "season", "year"])).min(1);
  const kind = { spans, isScheduled: set };
  const step = z.union([z.int(), z.array(z.int()).min(1)]);
  const [times, as] = [z.int().optional(), text.optional()];
  const levels = z.strictObject({ first: range, times, step, tenths: set, as });
  const names = z.record(text, text);
  const question = { names, question: text, condition: text, source: text, tags: z.array(text) };
  const several = { ...question, title: text, about: text };
  return z.union([
    z.strictObject({
      ...question,
      kind: z.strictObject({ ...kind, shape: z.literal("single"), chance: range }),
    }),
    z.strictObject({
      ...several,
      kind: z.strictObject({ ...kind, shape: z.literal("choice"), resolvesEarly: set, isRanked: set }),
      subjects: z.union([text, z.array(text).min(1)]),
      inCondition: z.tuple([text, text]).optional(),
    }),
    z.strictObject({
      ...several,
      kind: z.strictObject({ ...kind, shape: z.literal("ladder"), resolvesEarly: set }),
      subjects: z.array(levels).min(1),
    }),
  ]);
})();

describe("the texts of an event", async () => {
  const names = await FictionalNames.load();
  const templates = Object.values(EVENT_TEMPLATES).flat();

  test.each(templates)("have a template of a known form: $question", (template) => {
    expect(TEMPLATE.safeParse(template).error).toBeUndefined();
  });

  test.each(templates)("fill every slot but the end date: $question", (template) => {
    const random = seededRandom(template.question, "story");
    names.drawFrom(random);
    const count = template.kind.shape === "single" ? 1 : 8;
    const story = writeStory(template, names, random, count);
    expect(new Set(story.markets.map(({ question }) => question)).size).toBe(count);
    expect(JSON.stringify(story).replaceAll("{endDate}", "")).not.toMatch(/\{\w+\}|undefined/);
  });

  test("use only known kinds of names", () => {
    expect(() => names.draw("dragon")).toThrow("there are no names of the kind dragon");
  });
});

describe("the prices within an event", () => {
  const shapes = {
    choice: { shape: "choice", resolvesEarly: true },
    ladder: { shape: "ladder", resolvesEarly: true },
  } as const;
  const resolutions = {
    choice: { position: 2, winningOutcome: "NO" },
    ladder: { position: 0, winningOutcome: "YES" },
  } as const;
  const cases = Array.from({ length: 50 }, (_, seed) => [seed, seed % 2 === 0] as const);

  test.each(cases)("are consistent at every moment: seed %i, one resolved early: %s", (seed, isResolved) => {
    const pathsOf = (shape: "choice" | "ladder"): readonly (readonly number[])[] => {
      const random = seededRandom(`${seed}`, shape);
      const resolution = isResolved ? resolutions[shape] : null;
      const prices = drawFairPrices(random, shapes[shape], 5, resolution, false);
      const terms = { steps: 100, volatility: 150, resolvedStep: 70 };
      return drawFairPaths(random, { shape, prices, resolution, ...terms });
    };
    const [candidates, thresholds] = [pathsOf("choice"), pathsOf("ladder")];
    for (let step = 0; step <= 100; step += 1) {
      const sum = candidates.reduce((total, path) => total + (path[step] ?? 0), 0);
      expect(sum > 9500 && sum < 10_700, `${sum}`).toBe(true);
      const steps = thresholds.map((path) => path[step] ?? 0);
      expect(steps).toEqual([...steps].sort((a, b) => b - a));
    }
    const last = thresholds.map((path) => path[100] ?? 0);
    for (const [level, price] of last.slice(1).entries()) expect(last[level]).toBeGreaterThan(price + 100);
  });
});

describe("the accounts of a world", () => {
  test("are the addresses of ten keys derived from the seed", async () => {
    const { devAccounts } = await generateWorld({ seed: "7", markets: 1 });
    const keys = Array.from({ length: 10 }, (_, index) => devPrivateKey("7", index));
    expect(devAccounts).toEqual(keys.map((key) => privateKeyToAddress(key).toLowerCase()));
    expect(new Set(keys).size).toBe(10);
  });

  test("and the traders are all different, and change with the seed", () => {
    const found = ["7", "8", "1/7"].flatMap((seed) =>
      fundedTraders(seed, [], [])
        .slice(0, 3)
        .map(({ address }) => address),
    );
    expect(new Set(found).size).toBe(9);
    for (const address of found) expect(address).toMatch(/^0x[0-9a-f]{40}$/);
  });
});

describe("a slug", () => {
  test.each([
    ["Will Zoë Çelik’s team win?", "will-zoe-celiks-team-win"],
    ["Above $1,250,000, or 3.5%?", "above-1250000-or-3-5-percent"],
    ["Will it reach 38°C in Port O'Hara?", "will-it-reach-38c-in-port-ohara"],
    ["???", "untitled"],
    [`${"word ".repeat(15)}longer`, `${"word-".repeat(15)}`.slice(0, -1)],
    ["x".repeat(100), "x".repeat(80)],
  ])("of %j", (text, slug) => {
    expect(slugOf(text)).toBe(slug);
  });

  test("that is taken gets the next free number, and has at most 80 characters", () => {
    const taken = new Set<string>();
    const long = "word ".repeat(16);
    const slugs = ["a b", "A, b?", "a-b-2", "a b", long, long].map((text) => uniqueSlug(text, taken));
    expect(slugs.slice(0, 4)).toEqual(["a-b", "a-b-2", "a-b-2-2", "a-b-3"]);
    expect(slugs.slice(4)).toEqual(["word-".repeat(16).slice(0, -1), `${"word-".repeat(15)}2`]);
  });
});
