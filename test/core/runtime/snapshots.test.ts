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

/** A floor whose time follows a wall clock that the test moves by hand, with snapshots of both. */
function keptFloor(mode: ClockMode, rate = 1) {
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
  it("tells another hash where the same number of other commands follows", () => {
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

  it("keeps those who watch, and numbers what they are told anew", () => {
    const { exchange } = openFloor();
    const snapshot = exchange.snapshot();
    const told: number[] = [];
    exchange.watch((sequence) => void told.push(sequence - snapshot.sequence));
    for (const slug of ["one", "two"]) {
      exchange.restore(snapshot);
      exchange.submit(eventCommand(slug));
    }
    expect(told).toEqual([1, 1]);
  });

  it("leaves everything as it is when the journal cannot go back", () => {
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

  it("and restarting one tell the journal where it stands", () => {
    const told: unknown[] = [];
    const exchange = new Exchange(ARENA, START, {
      append: ({ sequence }) => void told.push(sequence),
      mark: () => `after ${told.length}`,
      rewind: (sequence, mark) => void told.push([sequence, mark]),
    });
    exchange.submit(eventCommand("one"));
    const snapshot = exchange.snapshot();
    exchange.submit(eventCommand("two"));
    exchange.restore(snapshot);
    exchange.restart(START);
    expect(told).toEqual([1, 2, [1, "after 1"], [0, undefined]]);
  });
});

describe("an exchange that goes on from a snapshot", () => {
  it("shares with it the orders and trades that are at their end, and no others", () => {
    const floor = openFloor();
    floor.send("alice BUY 2 YES @ 0.5", "bob SELL 1 YES @ 0.5", "carol BUY 1 YES @ 0.1");
    floor.cancel("carol", 3);
    const { state } = floor.exchange.snapshot();
    const isShared = (order: number): boolean => state.orders.get(order) === floor.state.orders.get(order);
    expect([1, 2, 3].map(isShared)).toEqual([false, true, true]);
    expect(state.trades.get(1)).toBe(floor.state.trades.get(1));
  });
});

describe("whoever remembers something of an exchange notices that it was restored", () => {
  const numbers = numbersAs("number");

  it("the pages of the books", () => {
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
  it("stands where it stood when it was frozen, earlier than now", () => {
    const { floor, clock, later, snapshots } = keptFloor("frozen");
    const kept = snapshots.take(null);
    runSteps(clock.moveInSteps({ mode: "frozen", rate: 1 }, millis(START + 9000)));
    snapshots.restore(kept);
    expect([floor.exchange.now - START, later(1000)]).toEqual([0, 0]);
  });

  it("runs on from there in its mode and at its rate", () => {
    const { floor, clock, later, snapshots } = keptFloor("scaled", 10);
    later(100);
    const kept = snapshots.take(null);
    runSteps(clock.moveInSteps({ mode: "frozen", rate: 0 }, millis(START + 50_000)));
    later(7000);
    snapshots.restore(kept);
    expect([clock.mode, clock.rate, floor.exchange.now - START]).toEqual(["scaled", 10, 1000]);
    expect(later(5)).toBe(1050);
  });

  it("makes no leap for what went by since, when it is real", () => {
    const { later, snapshots } = keptFloor("real");
    later(1000);
    const kept = snapshots.take(null);
    later(100_000);
    snapshots.restore(kept);
    expect(later(1)).toBe(1001);
  });
});

describe("snapshots that are kept", () => {
  it("are numbered in order, found by id, or as the latest of a name", () => {
    const { snapshots } = keptFloor("frozen");
    const kept = [null, "before", "before", null].map((name) => snapshots.take(name));
    expect(kept.map(({ id }) => id)).toEqual(["snapshot-1", "snapshot-2", "snapshot-3", "snapshot-4"]);
    expect(snapshots.all).toEqual(kept);
    expect(snapshots.find("snapshot-2")).toBe(kept[1]);
    expect(snapshots.find("before")).toBe(kept[2]);
    for (const nobody of ["after", "snapshot-5", "null", ""]) expect(snapshots.find(nobody)).toBe(undefined);
  });

  it("never share a number with one that was forgotten, until all are", () => {
    const { snapshots } = keptFloor("frozen");
    const [first, second] = ["a", "a"].map((name) => snapshots.take(name)) as [never, never];
    snapshots.forget(second);
    expect(snapshots.find("a")).toBe(first);
    expect(snapshots.take("a").id).toBe("snapshot-3");
    snapshots.clear();
    expect(snapshots.all).toEqual([]);
    expect(snapshots.take("a").id).toBe("snapshot-1");
  });

  it("know their hash, which is the one that a restore brings back", () => {
    const { floor, snapshots } = keptFloor("frozen");
    const kept = snapshots.take(null);
    expect(kept.hash).toBe(floor.exchange.hash);
    floor.send("alice BUY 1 YES @ 0.5");
    expect(kept.hash).not.toBe(floor.exchange.hash);
    snapshots.restore(kept);
    expect(floor.exchange.hash).toBe(kept.hash);
  });
});
