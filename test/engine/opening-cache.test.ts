import { deepStrictEqual } from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CacheFolder } from "../../src/cache-folder.ts";
import { DEFAULT_CONFIG } from "../../src/config.ts";
import { violations } from "../../src/core/invariants.ts";
import { ORDER_PACKING } from "../../src/core/order.ts";
import { PackedTable } from "../../src/core/packed-table.ts";
import type { State } from "../../src/core/state.ts";
import { documentLines } from "../../src/core/state-document.ts";
import { parseIso } from "../../src/core/time.ts";
import { type Millis, millis } from "../../src/core/units.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import { contentHash } from "../../src/engine/hashes.ts";
import { OpeningCache } from "../../src/engine/opening-cache.ts";
import { exchangeConfigOf, originOfWorld } from "../../src/engine/origin.ts";
import { imageOf } from "../../src/engine/state-image.ts";
import { generateWorld } from "../../src/simulation/generate-world.ts";
import type { World } from "../../src/simulation/world.ts";
import { orderCommand } from "../support/commands.ts";
import { temporaryFolder } from "../support/folder.ts";
import { withoutCompiler } from "../support/no-compiler.ts";
import { atLevel } from "../support/runs.ts";

const parent = temporaryFolder();
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(parent, "openings-"));
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

const at = (iso: string): Millis => millis(parseIso(iso) as number);
const worlds = new Map<string, Promise<World>>();
/** Generates a world once. One of few markets opens much faster than the default one. */
function worldOf(seed = "1", markets = 3): Promise<World> {
  const key = `${seed} ${markets}`;
  const world = worlds.get(key) ?? generateWorld({ seed, markets });
  worlds.set(key, world);
  return world;
}
const BEGIN = at("2026-01-01T00:00:00Z");
const cache = (program = "this program"): OpeningCache => new OpeningCache(new CacheFolder(folder), program);

type Opened = [world: World, start: Millis, cached?: OpeningCache, terms?: Partial<typeof DEFAULT_CONFIG>];

/** Opens an exchange: played or, with a cache, from that. */
function openingOf(...[world, start, cached, terms]: Opened): Exchange {
  const config = exchangeConfigOf({ ...DEFAULT_CONFIG, ...terms }, world.seed);
  const origin = originOfWorld(world, config, start, cached ?? null);
  const exchange = new Exchange(origin.config, start);
  origin.play(exchange);
  return exchange;
}

/** Opens a world and writes its opening to the cache, as a server does after its first response. */
function fillCache(world: World, start: Millis = BEGIN, terms: Partial<typeof DEFAULT_CONFIG> = {}): void {
  openingOf(world, start, cache(), terms);
  vi.runAllTimers();
}

const files = (): string[] => readdirSync(folder);
/** Opens an exchange with the cache, and expects that it came from there: then no command is submitted. */
function cachedOpening(isCached: boolean, ...[world, start, cached = cache(), terms]: Opened): Exchange {
  const play = vi.spyOn(Exchange.prototype, "submit");
  const exchange = openingOf(world, start, cached, terms);
  expect(play.mock.calls.length === 0).toBe(isCached);
  play.mockRestore();
  return exchange;
}

/** Returns the content of a state: its document and its indexes. The slots of orders may differ. */
const contentOf = (state: State): unknown => [
  [...documentLines(state)].join("\n"),
  contentHash(state),
  withoutSlots(imageOf(state)),
  [...state.chain.heights],
];

function withoutSlots(image: ReturnType<typeof imageOf>) {
  if (image === null) throw new Error("expected a state that can be cached");
  const table = PackedTable.of(ORDER_PACKING, image.orders, 0);
  const orders = Array.from(table, (order) => ({ ...order, slot: 0 }));
  return { ...image, orders };
}

/** Continues an exchange with trades and blocks, and returns the events, hash and content. */
function continued(exchange: Exchange): unknown {
  const { state } = exchange;
  const [market] = [...state.markets].filter(({ status }) => status === "ACTIVE");
  const trader = [...state.accounts].findLast(({ collateral }) => collateral.balance > 100_000_000);
  if (market === undefined || trader === undefined) throw new Error("expected a market and a trader");
  const watched: unknown[] = [];
  const stop = exchange.watch((...each) => watched.push(each));
  for (const side of ["BUY", "SELL"] as const) {
    const sentence = `trader ${side} 50 YES @ ${side === "BUY" ? 0.99 : 0.01} FAK`;
    const order = orderCommand(sentence, exchange.now, () => market.tokenIds[0]);
    exchange.submit({ ...order, address: trader.address });
  }
  exchange.advanceTo(millis(exchange.now + 4 * 86_400_000));
  stop();
  return [watched, exchange.hash, contentOf(exchange.state), violations(exchange.state)];
}

describe("a cached opening", () => {
  it.each([
    ["1", "2026-01-01T00:00:00Z", atLevel(35)],
    ["1", "2026-03-29T00:59:59Z", 9],
    ["1", "2024-02-28T23:59:58Z", 9],
    ["1", "1999-12-31T12:34:56Z", 9],
    ["1", "9998-06-30T18:00:01Z", 9],
    ["7", "2026-11-23T05:44:30Z", 9],
    ["late", "2026-12-31T23:59:00Z", 9],
  ])("of seed %s at %s equals a played one, then and later", async (seed, start, markets) => {
    const world = await worldOf(seed, markets);
    fillCache(world);
    const [played, found] = [openingOf(world, at(start)), cachedOpening(true, world, at(start))];
    expect([found.hash, found.now, found.sequence]).toEqual([played.hash, played.now, played.sequence]);
    // Compares large contents many times faster than toEqual.
    deepStrictEqual(contentOf(found.state), contentOf(played.state));
    expect(violations(found.state)).toEqual([]);
    deepStrictEqual(continued(found), continued(played));
  });

  it("equals a played one where code cannot be compiled", async () => {
    const world = await worldOf();
    fillCache(world);
    const found = await withoutCompiler(() => cachedOpening(true, world, BEGIN));
    deepStrictEqual(contentOf(found.state), contentOf(openingOf(world, BEGIN).state));
  });

  it.each([
    { settlement: "instant" },
    { settlement: "manual" },
    { balances: "settled" },
    { credentials: "once" },
  ] as const)("belongs to its settings: %j", async (terms) => {
    const world = await worldOf();
    fillCache(world);
    fillCache(world, BEGIN, terms);
    expect(files().length).toBe(2);
    const start = millis(BEGIN + 987_654_000);
    const found = cachedOpening(true, world, start, cache(), terms);
    deepStrictEqual(contentOf(found.state), contentOf(openingOf(world, start, undefined, terms).state));
  });

  it.each([
    ["between two full seconds", "2026-01-01T00:00:00.500Z"],
    ["after the end of an event", "2026-01-02T23:59:59Z"],
  ])("is not used for a start %s", async (_, start) => {
    const generated = await worldOf();
    const today = { endsInDays: 0, endOf: "day" } as const;
    const ending = (markets: World["events"][number]["markets"]) =>
      markets.map((market) => ({ ...market, ...today }));
    const events = generated.events.map((event) => ({ ...event, ...today, markets: ending(event.markets) }));
    const world = { ...generated, events };
    fillCache(world);
    cachedOpening(true, world, millis(BEGIN + 1_000));
    cachedOpening(false, world, at(start));
  });

  it("is not used if there is no room before a start, which is an error", async () => {
    const world = await worldOf();
    fillCache(world);
    expect(() => openingOf(world, millis(1_000), cache())).toThrow("leaves no room for the world's history");
  });

  it("belongs to one world and one program", async () => {
    const [world, other] = [await worldOf(), await worldOf("2")];
    fillCache(world);
    cachedOpening(true, world, BEGIN);
    cachedOpening(false, other, BEGIN);
    cachedOpening(false, world, BEGIN, cache("another program"));
    const [event] = world.events;
    const changed = { ...world, events: [{ ...event, title: "another title" }, ...world.events.slice(1)] };
    cachedOpening(false, changed as World, BEGIN);
  });

  it("that is damaged is played and written again", async () => {
    const world = await worldOf();
    fillCache(world);
    const path = join(folder, files()[0] as string);
    const whole = readFileSync(path);
    const damaged = Buffer.from(whole);
    damaged[whole.length >> 1] = (damaged[whole.length >> 1] as number) ^ 1;
    for (const wrong of [damaged, whole.subarray(0, 100), withCheck(Buffer.from("no opening"))]) {
      writeFileSync(path, wrong);
      cachedOpening(false, world, BEGIN);
      vi.runAllTimers();
      cachedOpening(true, world, BEGIN);
    }
  });

  it("is not written for a history with calls of wallets", async () => {
    fillCache(await worldOf(), BEGIN, { approvals: "required" });
    expect(files()).toEqual([]);
  });
});

it("a cached world is the generated one", async () => {
  const generate = vi.fn(() => generateWorld({ seed: "3", markets: 5 }));
  const first = await cache().world("3 5", generate);
  vi.runAllTimers();
  expect(await cache().world("3 5", generate)).toEqual(first);
  expect(generate).toHaveBeenCalledTimes(1);
  await cache("another program").world("3 5", generate);
  expect(generate).toHaveBeenCalledTimes(2);
});

function withCheck(bytes: Buffer): Buffer {
  const check = Buffer.alloc(4);
  check.writeUInt32LE(crc32(bytes));
  return Buffer.concat([check, bytes]);
}
