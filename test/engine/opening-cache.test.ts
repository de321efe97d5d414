import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CacheFolder } from "../../src/cache-folder.ts";
import { DEFAULT_CONFIG } from "../../src/config.ts";
import { violations } from "../../src/core/invariants/invariants.ts";
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

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "clobsim-openings-"));
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const at = (iso: string): Millis => millis(parseIso(iso) as number);
/** A world that opens much faster than the default one. */
const SMALL = { markets: 9 };
const BEGIN = at("2026-01-01T00:00:00Z");
const cache = (program = "this program"): OpeningCache => new OpeningCache(new CacheFolder(folder), program);

/** Opens an exchange: played or, with a cache, from that. */
function openingOf(
  world: World,
  start: Millis,
  cached: OpeningCache | null,
  terms: Partial<typeof DEFAULT_CONFIG> = {},
): Exchange {
  const config = exchangeConfigOf({ ...DEFAULT_CONFIG, ...terms }, world.seed);
  const origin = originOfWorld(world, config, start, cached);
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
/** Whether an opening came from the cache, because no command was submitted. */
function isFromCache(open: () => Exchange): boolean {
  const play = vi.spyOn(Exchange.prototype, "submit");
  open();
  const isPlayed = play.mock.calls.length > 0;
  play.mockRestore();
  return !isPlayed;
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
    ["1", "2026-01-01T00:00:00Z", {}],
    ["1", "2026-03-29T00:59:59Z", SMALL],
    ["1", "2024-02-28T23:59:58Z", SMALL],
    ["1", "1999-12-31T12:34:56Z", SMALL],
    ["1", "9998-06-30T18:00:01Z", SMALL],
    ["7", "2026-11-23T05:44:30Z", SMALL],
    ["late", "2026-12-31T23:59:00Z", SMALL],
  ])("of seed %s at %s equals a played one, then and later", async (seed, start, size) => {
    const world = await generateWorld({ seed, ...size });
    fillCache(world);
    const [played, found] = [openingOf(world, at(start), null), openingOf(world, at(start), cache())];
    expect(isFromCache(() => openingOf(world, at(start), cache()))).toBe(true);
    expect([found.hash, found.now, found.sequence]).toEqual([played.hash, played.now, played.sequence]);
    expect(contentOf(found.state)).toEqual(contentOf(played.state));
    expect(violations(found.state)).toEqual([]);
    expect(continued(found)).toEqual(continued(played));
  });

  it.each([
    { settlement: "instant" },
    { settlement: "manual" },
    { balances: "settled" },
    { credentials: "once" },
  ] as const)("belongs to its settings: %j", async (terms) => {
    const world = await generateWorld({ seed: "1", markets: 9 });
    fillCache(world);
    fillCache(world, BEGIN, terms);
    expect(files().length).toBe(2);
    const start = millis(BEGIN + 987_654_000);
    expect(isFromCache(() => openingOf(world, start, cache(), terms))).toBe(true);
    const contents = [cache(), null].map((each) => contentOf(openingOf(world, start, each, terms).state));
    expect(contents[0]).toEqual(contents[1]);
  });

  it.each([
    ["between two full seconds", "2026-01-01T00:00:00.500Z"],
    ["after the end of an event", "2026-01-02T23:59:59Z"],
  ])("is not used for a start %s", async (_, start) => {
    const generated = await generateWorld({ seed: "1", markets: 3 });
    const today = { endsInDays: 0, endOf: "day" } as const;
    const events = generated.events.map((event) => ({
      ...event,
      ...today,
      markets: event.markets.map((market) => ({ ...market, ...today })),
    }));
    const world = { ...generated, events };
    fillCache(world);
    expect(isFromCache(() => openingOf(world, millis(BEGIN + 1_000), cache()))).toBe(true);
    expect(isFromCache(() => openingOf(world, at(start), cache()))).toBe(false);
  });

  it("is not used if there is no room before a start, which is an error", async () => {
    const world = await generateWorld({ seed: "1", markets: 3 });
    fillCache(world);
    expect(() => openingOf(world, millis(1_000), cache())).toThrow("leaves no room for the world's history");
  });

  it("belongs to one world and one program", async () => {
    const world = await generateWorld({ seed: "1", markets: 3 });
    const other = await generateWorld({ seed: "2", markets: 3 });
    fillCache(world);
    expect(isFromCache(() => openingOf(world, BEGIN, cache()))).toBe(true);
    expect(isFromCache(() => openingOf(other, BEGIN, cache()))).toBe(false);
    expect(isFromCache(() => openingOf(world, BEGIN, cache("another program")))).toBe(false);
    const [event] = world.events;
    const changed = { ...world, events: [{ ...event, title: "another title" }, ...world.events.slice(1)] };
    expect(isFromCache(() => openingOf(changed as World, BEGIN, cache()))).toBe(false);
  });

  it("that is damaged is played and written again", async () => {
    const world = await generateWorld({ seed: "1", markets: 3 });
    fillCache(world);
    const path = join(folder, files()[0] as string);
    const whole = readFileSync(path);
    const damaged = Buffer.from(whole);
    damaged[whole.length >> 1] = (damaged[whole.length >> 1] as number) ^ 1;
    for (const wrong of [damaged, whole.subarray(0, 100), withCheck(Buffer.from("no opening"))]) {
      writeFileSync(path, wrong);
      expect(isFromCache(() => openingOf(world, BEGIN, cache()))).toBe(false);
      vi.runAllTimers();
      expect(isFromCache(() => openingOf(world, BEGIN, cache()))).toBe(true);
    }
  });

  it("is not written for a history with calls of wallets", async () => {
    fillCache(await generateWorld({ seed: "1", markets: 3 }), BEGIN, { approvals: "required" });
    expect(files()).toEqual([]);
  });
});

describe("a cached world", () => {
  it("is the generated one", async () => {
    const generate = vi.fn(() => generateWorld({ seed: "3", markets: 5 }));
    const first = await cache().world("3 5", generate);
    vi.runAllTimers();
    expect(await cache().world("3 5", generate)).toEqual(first);
    expect(generate).toHaveBeenCalledTimes(1);
    await cache("another program").world("3 5", generate);
    expect(generate).toHaveBeenCalledTimes(2);
  });
});

function withCheck(bytes: Buffer): Buffer {
  const check = Buffer.alloc(4);
  check.writeUInt32LE(crc32(bytes));
  return Buffer.concat([check, bytes]);
}
