import { describe, expect, it } from "vitest";
import { numbersAs } from "../../../src/api/decimals.ts";
import { MarketRanking, SearchIndex } from "../../../src/api/market-search.ts";
import { BookPages } from "../../../src/api/order-book.ts";
import { runSteps } from "../../../src/core/steps.ts";
import { millis } from "../../../src/core/units.ts";
import { Clock, type ClockMode } from "../../../src/engine/clock.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { Keyring } from "../../../src/engine/keyring.ts";
import { Snapshots } from "../../../src/engine/snapshots.ts";
import { addressOf, eventCommand } from "../../support/commands.ts";
import { openFloor, START } from "../../support/exchange.ts";
import { ARENA } from "../properties/moves.ts";

/** Opens an exchange whose clock follows a wall clock that the test sets, with snapshots of both. */
function clockedFloor(mode: ClockMode, rate = 1) {
  const floor = openFloor();
  const wall = { now: 5_000_000 };
  const clock = new Clock(floor.exchange, { mode, rate }, () => wall.now);
  const later = (wallMs: number): number => {
    wall.now += wallMs;
    clock.settle();
    return floor.exchange.now - START;
  };
  return { floor, clock, later, snapshots: new Snapshots(floor.exchange, clock) };
}

describe("restoring an exchange", () => {
  it("gives another hash after the same number of other commands", () => {
    const { exchange } = openFloor();
    const snapshot = exchange.snapshot();
    const hashes = ["one", "two"].map((slug) => {
      exchange.restore(snapshot);
      exchange.submit(eventCommand(slug));
      return [exchange.sequence - snapshot.sequence, exchange.hash];
    });
    expect(hashes[0]?.[0]).toBe(hashes[1]?.[0]);
    expect(hashes[0]?.[1]).not.toBe(hashes[1]?.[1]);
    exchange.restore(snapshot);
    expect([hashes[0]?.[1], hashes[1]?.[1]]).not.toContain(exchange.hash);
  });

  it("keeps the watchers and continues from the restored sequence number", () => {
    const { exchange } = openFloor();
    const snapshot = exchange.snapshot();
    const received: number[] = [];
    exchange.watch((sequence) => void received.push(sequence - snapshot.sequence));
    for (const slug of ["one", "two"]) {
      exchange.restore(snapshot);
      exchange.submit(eventCommand(slug));
    }
    expect(received).toEqual([1, 1]);
  });

  it("changes nothing if the journal cannot be rewound", () => {
    const exchange = new Exchange(ARENA, START, {
      append: () => {},
      rewind: () => {
        throw new Error("disk full");
      },
    });
    const snapshot = exchange.snapshot();
    exchange.submit(eventCommand("one"));
    const { hash } = exchange;
    expect(() => exchange.restore(snapshot)).toThrow("disk full");
    expect(exchange).toMatchObject({ hash, sequence: 1 });
    expect(() => exchange.restart(START)).toThrow("disk full");
    expect(exchange).toMatchObject({ hash, sequence: 1 });
  });

  it("and restarting one rewind the journal to the sequence number and mark", () => {
    const received: unknown[] = [];
    const exchange = new Exchange(ARENA, START, {
      append: ({ sequence }) => void received.push(sequence),
      mark: () => `after ${received.length}`,
      rewind: (sequence, mark) => void received.push([sequence, mark]),
    });
    exchange.submit(eventCommand("one"));
    const snapshot = exchange.snapshot();
    exchange.submit(eventCommand("two"));
    exchange.restore(snapshot);
    exchange.restart(START);
    expect(received).toEqual([1, 2, [1, "after 1"], [0, undefined]]);
  });
});

describe("an exchange that continues from a snapshot", () => {
  it("shares its trades and ended orders with it, and no live ones", () => {
    const floor = openFloor();
    floor.send("alice BUY 2 YES @ 0.5", "bob SELL 1 YES @ 0.5", "carol BUY 1 YES @ 0.1");
    floor.cancel("carol", 3);
    const { state } = floor.exchange.snapshot();
    const isShared = (order: number): boolean => state.orders.get(order) === floor.state.orders.get(order);
    expect([1, 2, 3].map(isShared)).toEqual([false, true, true]);
    expect(state.trades.get(1)).toBe(floor.state.trades.get(1));
  });
});

describe("caches are invalidated by a restore:", () => {
  const numbers = numbersAs("number");

  it("pages of order books", () => {
    const floor = openFloor();
    const pages = new BookPages();
    const page = (): string => pages.json({ state: floor.state, numbers }, floor.state.markets.get(1), "YES");
    const snapshot = floor.exchange.snapshot();
    const empty = page();
    floor.send("alice BUY 1 YES @ 0.5");
    const one = page();
    floor.exchange.restore(snapshot);
    expect(page()).toBe(empty);
    floor.send("alice BUY 2 YES @ 0.4");
    expect([empty, one]).not.toContain(page());
  });

  it("the ranking of markets", () => {
    const floor = openFloor();
    floor.market();
    const ranking = new MarketRanking();
    const liquid = (): string[] =>
      ranking
        .ranked(floor.state, floor.exchange.sequence, "liquidity")
        .map(({ number, liquidity }) => `${number}: ${liquidity.usdc}`);
    const trade = (market: number): void =>
      floor.demand(floor.command(`alice BUY ${market * 10} YES @ 0.5`, market));
    floor.fund("alice", { everyMarket: 100 });
    expect(liquid()).toEqual(["1: 0", "2: 0"]);
    const snapshot = floor.exchange.snapshot();
    expect(liquid()).toEqual(["1: 0", "2: 0"]);
    trade(2);
    expect(liquid()).toEqual(["2: 10", "1: 0"]);
    floor.exchange.restore(snapshot);
    trade(1);
    expect(liquid()).toEqual(["1: 5", "2: 0"]);
  });

  it("the search index", () => {
    const floor = openFloor();
    const index = new SearchIndex();
    const found = (word: string): number => index.search(floor.state, word).length;
    const snapshot = floor.exchange.snapshot();
    floor.demand(eventCommand("rain"));
    expect([found("rain"), found("snow")]).toEqual([1, 0]);
    floor.exchange.restore(snapshot);
    floor.demand(eventCommand("snow"));
    expect([found("rain"), found("snow")]).toEqual([0, 1]);
  });

  it("the keyring", () => {
    const floor = openFloor();
    const keyring = new Keyring(floor.exchange, "test");
    const derive = (): string => {
      floor.demand({ kind: "deriveCredentials", address: addressOf("alice") });
      return keyring.latest(addressOf("alice")).apiKey;
    };
    const first = derive();
    const before = floor.exchange.snapshot();
    const second = derive();
    const after = floor.exchange.snapshot();
    const known = (): boolean[] => [first, second].map((apiKey) => keyring.find(apiKey) !== undefined);
    floor.exchange.restore(before);
    expect(known()).toEqual([true, false]);
    floor.exchange.restore(after);
    expect(known()).toEqual([true, true]);
    floor.exchange.restore(before);
    expect(derive()).toBe(second);
  });
});

describe("the clock of a restored snapshot", () => {
  it("returns to the time of the snapshot if frozen", () => {
    const { floor, clock, later, snapshots } = clockedFloor("frozen");
    const stored = snapshots.take(null);
    runSteps(clock.moveInSteps({ mode: "frozen", rate: 1 }, millis(START + 9000)));
    snapshots.restore(stored);
    expect([floor.exchange.now - START, later(1000)]).toEqual([0, 0]);
  });

  it("advances from there in the mode and at the rate of the snapshot", () => {
    const { floor, clock, later, snapshots } = clockedFloor("scaled", 10);
    later(100);
    const stored = snapshots.take(null);
    runSteps(clock.moveInSteps({ mode: "frozen", rate: 0 }, millis(START + 50_000)));
    later(7000);
    snapshots.restore(stored);
    expect([clock.mode, clock.rate, floor.exchange.now - START]).toEqual(["scaled", 10, 1000]);
    expect(later(5)).toBe(1050);
  });

  it("does not add the wall time that passed since the snapshot if real", () => {
    const { later, snapshots } = clockedFloor("real");
    later(1000);
    const stored = snapshots.take(null);
    later(100_000);
    snapshots.restore(stored);
    expect(later(1)).toBe(1001);
  });
});

describe("stored snapshots", () => {
  it("are numbered in order, and found by id or as the latest with a name", () => {
    const { snapshots } = clockedFloor("frozen");
    const stored = [null, "before", "before", null].map((name) => snapshots.take(name));
    expect(stored.map(({ id }) => id)).toEqual(["snapshot-1", "snapshot-2", "snapshot-3", "snapshot-4"]);
    expect(snapshots.all).toEqual(stored);
    expect(snapshots.find("snapshot-2")).toBe(stored[1]);
    expect(snapshots.find("before")).toBe(stored[2]);
    for (const unknown of ["after", "snapshot-5", "null", ""])
      expect(snapshots.find(unknown)).toBe(undefined);
  });

  it("never reuse the number of a removed one until all are removed", () => {
    const { snapshots } = clockedFloor("frozen");
    const [first, second] = ["a", "a"].map((name) => snapshots.take(name)) as [never, never];
    snapshots.forget(second);
    expect(snapshots.find("a")).toBe(first);
    expect(snapshots.take("a").id).toBe("snapshot-3");
    snapshots.clear();
    expect(snapshots.all).toEqual([]);
    expect(snapshots.take("a").id).toBe("snapshot-1");
  });

  it("have the hash that the exchange has after a restore", () => {
    const { floor, snapshots } = clockedFloor("frozen");
    const stored = snapshots.take(null);
    expect(stored.hash).toBe(floor.exchange.hash);
    floor.send("alice BUY 1 YES @ 0.5");
    expect(stored.hash).not.toBe(floor.exchange.hash);
    snapshots.restore(stored);
    expect(floor.exchange.hash).toBe(stored.hash);
  });
});
