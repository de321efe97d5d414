import { describe, expect, it } from "vitest";
import { botsOf } from "../../src/bots/bot.ts";
import { MAX_BOT_MARKETS } from "../../src/bots/bots.ts";
import { BOT_PROFILES, type BotProfileName } from "../../src/bots/profiles.ts";
import type { Command } from "../../src/core/commands.ts";
import { violations } from "../../src/core/invariants.ts";
import { findAccount } from "../../src/core/state.ts";
import { millis, money } from "../../src/core/units.ts";
import type { Exchange } from "../../src/engine/exchange.ts";
import { emptyWorld } from "../../src/simulation/opening.ts";
import { addressOf, eventCommand, marketCommand } from "../support/commands.ts";
import { casesAtLevel } from "../support/runs.ts";
import { elapsed, HOUR_MS, MINUTE_MS, openExchange, openWithBots, trade } from "./open.ts";

/** Number of open orders of all possible bots. */
const openOrders = ({ state }: Exchange): number =>
  botsOf(state.config.seed, null).reduce(
    (sum, { address }) => sum + (findAccount(state, address)?.openCount ?? 0),
    0,
  );

/** Every book of the open markets. */
const booksOf = ({ state }: Exchange) =>
  [...state.markets]
    .filter(({ status }) => status === "ACTIVE")
    .flatMap(({ books }) => books.map(({ book }) => book));

/** Counts commands and collects the codes of refused ones. */
function countCommands(exchange: Exchange): { submitted: number; readonly refused: string[] } {
  const counts = { submitted: 0, refused: [] as string[] };
  const submit = exchange.submit.bind(exchange);
  exchange.submit = (command: Command) => {
    const decision = submit(command);
    counts.submitted += 1;
    if (!decision.ok) counts.refused.push(decision.refusal.code);
    return decision;
  };
  return counts;
}

const TERMS = [
  ["default settings", {}],
  ["settled balances", { balances: "settled" }],
  ["approvals of wallets", { approvals: "required" }],
  ["blocks at once", { settlement: "instant" }],
] as const;

describe.each(BOT_PROFILES)("bots of the profile %s", (profile: BotProfileName) => {
  it.each(profile === "normal" ? TERMS : casesAtLevel(TERMS))(
    "keep books two-sided, trade, and break no invariant: %s",
    (_terms, config) => {
      const { exchange } = openWithBots(profile, { config });
      const counts = countCommands(exchange);
      const before = exchange.state.trades.size;
      exchange.advanceTo(elapsed(HOUR_MS));
      for (const book of booksOf(exchange)) {
        expect(book?.bestBid).toBeGreaterThan(0);
        expect(book?.bestAsk).toBeLessThanOrEqual(book?.levels ?? 0);
      }
      expect(exchange.state.trades.size).toBeGreaterThan(before + 5);
      expect(counts.submitted).toBeGreaterThan(50);
      expect(counts.refused.length).toBeLessThan(counts.submitted / 100);
      expect(violations(exchange.state)).toEqual([]);
    },
  );

  it("cancel their orders when they end", () => {
    const { exchange, bots } = openWithBots(profile);
    exchange.advanceTo(elapsed(10 * MINUTE_MS));
    const open = openOrders(exchange);
    expect(open).toBeGreaterThan(0);
    expect(bots.end()).toBe(open);
    expect(openOrders(exchange)).toBe(0);
    const { sequence } = exchange;
    const orders = exchange.state.orders.size;
    exchange.advanceTo(elapsed(HOUR_MS));
    expect(exchange.state.orders.size).toBe(orders);
    expect(exchange.sequence - sequence).toBeLessThan(20);
  });
});

/** Opens an exchange without a world, with one event and its markets. */
function openMarkets(terms: readonly Parameters<typeof marketCommand>[1][], endDate: number | null = null) {
  const opened = openExchange({ world: emptyWorld("bots") });
  opened.exchange.submit(eventCommand("event"));
  for (const [index, each] of terms.entries()) {
    opened.exchange.submit({ ...marketCommand(`market-${index + 1}`, each), endDate } as Command);
  }
  return opened;
}

/** Numbers of the markets with bids. */
const quotedIn = ({ state }: Exchange): readonly number[] =>
  [...state.markets]
    .filter(({ books }) => books.some(({ book }) => book !== null && book.bestBid > 0))
    .map(({ number }) => number);

describe("bots", () => {
  it.each([
    { tickSize: 0.1 },
    { tickSize: 0.0001 },
    { feeRateBps: 1_000 },
    { minOrderSize: 5_000 },
    { matching: "independent" },
    { selfTrade: "cancel-both" },
    { selfTrade: "cancel-taker", matching: "independent" },
  ] as const)("make a market from an empty book with any terms: %o", (terms) => {
    const { exchange, bots } = openMarkets([terms]);
    bots.start("normal");
    const counts = countCommands(exchange);
    exchange.advanceTo(elapsed(2 * HOUR_MS));
    const books = booksOf(exchange);
    expect(books.length).toBe("matching" in terms && terms.matching === "independent" ? 2 : 1);
    for (const book of books)
      expect([book?.bestBid, book?.bestAsk].every((tick) => (tick ?? 0) > 0)).toBe(true);
    expect(exchange.state.trades.size).toBeGreaterThan(5);
    expect(counts.refused).toEqual([]);
    expect(violations(exchange.state)).toEqual([]);
  });

  it.each([0.01, 0.99])("start at the last price of YES: %s", (last) => {
    const { exchange, bots } = openMarkets([{}]);
    for (const order of [`alice BUY 100 YES @ ${last}`, `bob SELL 100 YES @ ${last}`]) trade(exchange, order);
    bots.start("normal");
    exchange.advanceTo(elapsed(2 * HOUR_MS));
    const [book] = booksOf(exchange);
    const middle = ((book?.bestBid ?? 0) + (book?.bestAsk ?? 0)) / 200;
    expect(Math.abs(middle - last)).toBeLessThan(0.05);
    expect(book?.bestBid).toBeGreaterThan(0);
    expect(book?.bestAsk).toBeLessThanOrEqual(99);
  });

  it("trade in the first 50 open markets", () => {
    const { exchange, bots } = openMarkets(Array.from({ length: MAX_BOT_MARKETS + 2 }, () => ({})));
    bots.start("normal");
    exchange.advanceTo(elapsed(5 * MINUTE_MS));
    expect(quotedIn(exchange)).toEqual(Array.from({ length: MAX_BOT_MARKETS }, (_, index) => index + 1));
    exchange.submit({ kind: "closeMarket", market: 7 });
    exchange.advanceTo(elapsed(10 * MINUTE_MS));
    expect(quotedIn(exchange)).not.toContain(7);
    expect(quotedIn(exchange)).toContain(MAX_BOT_MARKETS + 1);
  });

  it("trade in a market that is created later", () => {
    const { exchange, bots } = openMarkets([{}]);
    bots.start("normal");
    exchange.advanceTo(elapsed(HOUR_MS));
    exchange.submit(marketCommand("later"));
    exchange.advanceTo(elapsed(HOUR_MS + 5 * MINUTE_MS));
    expect(quotedIn(exchange)).toEqual([1, 2]);
  });

  it("cancel their orders before a market's end date", () => {
    const { exchange, bots } = openMarkets([{}], elapsed(3 * HOUR_MS));
    bots.start("normal");
    exchange.advanceTo(elapsed(2 * HOUR_MS - 1));
    expect(openOrders(exchange)).toBeGreaterThan(0);
    exchange.advanceTo(elapsed(2 * HOUR_MS + 15 * MINUTE_MS));
    expect(openOrders(exchange)).toBe(0);
    const orders = exchange.state.orders.size;
    exchange.advanceTo(elapsed(5 * HOUR_MS));
    expect(exchange.state.orders.size).toBe(orders);
  });

  it("cancel the orders of bots that a smaller profile does not have", () => {
    const { exchange, bots } = openWithBots("busy");
    exchange.advanceTo(elapsed(HOUR_MS));
    bots.start("thin");
    const left = botsOf(exchange.state.config.seed, null).filter(
      ({ address }) => (findAccount(exchange.state, address)?.openCount ?? 0) > 0,
    );
    const running = bots.running?.bots.map(({ name }) => name);
    expect(left.length).toBeGreaterThan(0);
    for (const { name } of left) expect(running).toContain(name);
  });

  it("take orders inside their spread, and earn it from orders that cross it", () => {
    const { exchange, bots } = openMarkets([{ tickSize: 0.001 }]);
    bots.start("normal");
    const spread = (): number => {
      const [book] = booksOf(exchange);
      return (book?.bestAsk ?? 0) - (book?.bestBid ?? 0);
    };
    do exchange.advanceTo(millis(exchange.now + MINUTE_MS));
    while (spread() < 5);
    const [book] = booksOf(exchange);
    const [bid, ask] = [(book?.bestBid ?? 0) / 1_000, (book?.bestAsk ?? 0) / 1_000];
    const account = () => findAccount(exchange.state, addressOf("alice"));

    trade(exchange, `alice BUY 10 YES @ ${ask} FAK`);
    trade(exchange, `alice SELL 10 YES @ ${bid} FAK`);
    const paid = money(1_000_000_000 - (account()?.collateral.balance ?? 0));
    expect(paid).toBe(Math.round((ask - bid) * 10 * 1_000_000));

    trade(exchange, `alice BUY 10 YES @ ${(bid + 0.001).toFixed(3)}`);
    trade(exchange, `alice SELL 10 YES @ ${(ask - 0.001).toFixed(3)}`);
    exchange.advanceTo(millis(exchange.now + 2 * HOUR_MS));
    expect(account()?.openCount).toBe(0);
    expect(account()?.collateral.balance).toBeGreaterThan(1_000_000_000 - paid);
  });
});
