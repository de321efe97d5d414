import MiniSearch from "minisearch";
import { describe, expect, it, vi } from "vitest";
import { MarketRanking, SearchIndex } from "../../../src/api/market-search.ts";
import { BookTexts } from "../../../src/api/order-book.ts";
import { numbersAs } from "../../../src/api/view.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { Keyring } from "../../../src/engine/keyring.ts";
import { addressOf, eventCommand } from "../../support/commands.ts";
import { openFundedExchange, START } from "../../support/exchange.ts";
import { ARENA } from "../properties/moves.ts";

describe("restoring an exchange", () => {
  it("keeps the watchers, and gives another hash after the same number of other commands", () => {
    const { exchange } = openFundedExchange();
    const snapshot = exchange.snapshot();
    const received: number[] = [];
    exchange.watch((sequence) => void received.push(sequence - snapshot.sequence));
    const hashes = ["one", "two"].map((slug) => {
      exchange.restore(snapshot);
      exchange.submit(eventCommand(slug));
      return exchange.hash;
    });
    expect(received).toEqual([1, 1]);
    exchange.restore(snapshot);
    expect(new Set([...hashes, exchange.hash]).size).toBe(3);
  });

  it("shares the state of snapshots without a command between them, also after a restore", () => {
    const { exchange } = openFundedExchange();
    const [first, second] = [exchange.snapshot(), exchange.snapshot()];
    exchange.submit(eventCommand("one"));
    const changed = exchange.snapshot();
    exchange.restore(second);
    const restored = exchange.snapshot();
    expect([second.state, restored.state].every((state) => state === first.state)).toBe(true);
    expect(changed.state).not.toBe(first.state);
    expect([first.state, changed.state].map(({ events }) => events.size)).toEqual([1, 2]);
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

describe("caches are invalidated by a restore:", () => {
  const numbers = numbersAs("number");

  it("pages of order books", () => {
    const testExchange = openFundedExchange();
    const texts = new BookTexts();
    const page = (): string =>
      texts.json({ state: testExchange.state, numbers }, testExchange.state.markets.get(1), "YES");
    const snapshot = testExchange.exchange.snapshot();
    const empty = page();
    testExchange.send("alice BUY 1 YES @ 0.5");
    const one = page();
    testExchange.exchange.restore(snapshot);
    expect(page()).toBe(empty);
    testExchange.send("alice BUY 2 YES @ 0.4");
    expect([empty, one]).not.toContain(page());
  });

  it("the ranking of markets", () => {
    const testExchange = openFundedExchange();
    testExchange.market();
    const ranking = new MarketRanking();
    const liquid = (): string[] =>
      ranking
        .ranked(testExchange.state, testExchange.exchange.sequence, "liquidity")
        .map(({ number, liquidity }) => `${number}: ${liquidity.usdc}`);
    testExchange.fund("alice", { everyMarket: 100 });
    expect(liquid()).toEqual(["1: 0", "2: 0"]);
    const snapshot = testExchange.exchange.snapshot();
    expect(liquid()).toEqual(["1: 0", "2: 0"]);
    testExchange.act("alice BUY 20 YES @ 0.5 in 2");
    expect(liquid()).toEqual(["2: 10", "1: 0"]);
    testExchange.exchange.restore(snapshot);
    testExchange.act("alice BUY 10 YES @ 0.5");
    expect(liquid()).toEqual(["1: 5", "2: 0"]);
  });

  it("the search index", () => {
    const testExchange = openFundedExchange();
    const index = new SearchIndex();
    const found = (word: string): number => index.search(testExchange.state, word).length;
    const snapshot = testExchange.exchange.snapshot();
    testExchange.mustSubmit(eventCommand("rain"));
    expect([found("rain"), found("snow")]).toEqual([1, 0]);
    testExchange.exchange.restore(snapshot);
    testExchange.mustSubmit(eventCommand("snow"));
    expect([found("rain"), found("snow")]).toEqual([0, 1]);
  });

  it("the keyring", () => {
    const testExchange = openFundedExchange();
    const keyring = new Keyring(testExchange.exchange, "test");
    const derive = (): string => {
      testExchange.derive("alice");
      return keyring.latest(addressOf("alice")).apiKey;
    };
    const first = derive();
    const before = testExchange.exchange.snapshot();
    const second = derive();
    const after = testExchange.exchange.snapshot();
    const known = (): boolean[] => [first, second].map((apiKey) => keyring.find(apiKey) !== undefined);
    testExchange.exchange.restore(before);
    expect(known()).toEqual([true, false]);
    testExchange.exchange.restore(after);
    expect(known()).toEqual([true, true]);
    testExchange.exchange.restore(before);
    expect(derive()).toBe(second);
  });
});

it("the search index continues after a snapshot, and after a restore to the same events and markets", () => {
  const testExchange = openFundedExchange();
  const { exchange } = testExchange;
  testExchange.mustSubmit(eventCommand("rain"));
  const index = new SearchIndex();
  const add = vi.spyOn(MiniSearch.prototype, "add");
  const found = (word: string): number => index.search(exchange.state, word).length;
  expect(found("rain")).toBe(1);
  const indexed = add.mock.calls.length;
  const snapshot = exchange.snapshot();
  testExchange.send("alice BUY 1 YES @ 0.5");
  expect(found("rain")).toBe(1);
  exchange.restore(snapshot);
  expect([found("rain"), add.mock.calls.length]).toEqual([1, indexed]);
  testExchange.mustSubmit(eventCommand("snow"));
  expect([found("snow"), add.mock.calls.length]).toEqual([1, indexed + 1]);
  add.mockRestore();
});
