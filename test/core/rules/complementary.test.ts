import { describe, expect, it } from "vitest";
import { openFundedExchange, TestExchange } from "../../support/exchange.ts";
import { rowsOf } from "../../support/table.ts";

/** Rule, maker, taker, trade, supply; then USDC, YES and NO of alice and of bob, who began with 100 of each; last price of YES. */
const SETTLEMENTS = rowsOf(`
BUY YES x SELL YES transfers shares | alice SELL 10 YES @ 0.3 | bob BUY 10 YES @ 0.4 | #2 x #1: 10 @ 0.3 | 400 | 103 90 100 | 97 110 100 | 0.3 BUY
SELL NO x BUY NO transfers shares | alice BUY 10 NO @ 0.3 | bob SELL 10 NO @ 0.2 | #2 x #1: 10 @ 0.3 | 400 | 97 100 110 | 103 100 90 | 0.7 BUY
BUY YES x BUY NO splits full sets, which both pay for | alice BUY 10 NO @ 0.65 | bob BUY 10 YES @ 0.4 | #2 x #1: 10 @ 0.35 MINT | 410 | 93.5 100 110 | 96.5 110 100 | 0.35 BUY
BUY NO x BUY YES splits full sets; the taker gets the price improvement | alice BUY 10 YES @ 0.4 | bob BUY 10 NO @ 0.65 | #2 x #1: 10 @ 0.6 MINT | 410 | 96 110 100 | 94 100 110 | 0.4 SELL
SELL YES x SELL NO merges full sets, which pay both | alice SELL 10 NO @ 0.6 | bob SELL 10 YES @ 0.35 | #2 x #1: 10 @ 0.4 MERGE | 390 | 106 100 90 | 104 90 100 | 0.4 SELL
SELL NO x SELL YES merges full sets | alice SELL 10 YES @ 0.4 | bob SELL 10 NO @ 0.5 | #2 x #1: 10 @ 0.6 MERGE | 390 | 104 90 100 | 106 100 90 | 0.4 BUY
`);

function openSmallExchange(): TestExchange {
  const exchange = new TestExchange();
  exchange.market();
  for (const name of ["alice", "bob"]) exchange.fund(name, { usdc: 100, yes: 100, no: 100 });
  return exchange;
}

describe("a fill in a complementary market", () => {
  it.each(SETTLEMENTS)("%s", (_rule, maker = "", taker = "", trade, supply, alice, bob, last) => {
    const exchange = openSmallExchange();
    exchange.send(maker, taker);
    const balancesOf = (name: string): string =>
      [exchange.usdc(name), exchange.shares(name, "YES"), exchange.shares(name, "NO")]
        .map(({ balance }) => balance)
        .join(" ");
    const market = exchange.state.markets.get(1);
    const [price, side] = [market.books[0].last?.price, market.books[0].last?.side];
    expect(exchange.trades()).toEqual([trade]);
    const sets = Number(supply);
    expect(market.supply).toEqual({ yes: sets * 100, no: sets * 100, collateral: sets * 1_000_000 });
    expect({ alice: balancesOf("alice"), bob: balancesOf("bob") }).toEqual({ alice, bob });
    expect(`${Number(price) / 10_000} ${side}`).toBe(last);
  });

  it("adds to the volume what the taker paid or received", () => {
    const exchange = openSmallExchange();
    exchange.send("alice BUY 10 YES @ 0.4", "bob BUY 10 NO @ 0.65");
    expect(exchange.figures().volume).toBe(6_000_000n);
  });

  it("sets the last price of the book, in terms of YES", () => {
    const exchange = openSmallExchange();
    exchange.send("alice BUY 10 YES @ 0.4", "bob BUY 10 NO @ 0.65");
    const [{ last, history }] = exchange.state.markets.get(1).books;
    expect(last?.price).toBe(4000);
    expect([history.size, history.priceAt(0)]).toEqual([1, 4000]);
  });

  it("is one of the market's YES trades only if the taker traded YES", () => {
    const exchange = openSmallExchange();
    exchange.send("alice BUY 10 YES @ 0.4", "bob BUY 4 NO @ 0.6", "bob SELL 4 YES @ 0.4");
    const { trades, yesTrades } = exchange.state.markets.get(1);
    expect([[...trades], [...yesTrades]]).toEqual([[1, 2], [2]]);
  });
});

describe("the liquidity of a complementary market", () => {
  it("is price x size of the resting orders in terms of YES", () => {
    const exchange = openFundedExchange();
    exchange.send("alice BUY 10 YES @ 0.3", "bob BUY 20 NO @ 0.6");
    expect(exchange.figures().liquidity).toBe(3_000_000n + 8_000_000n);
  });

  it.each(["0.0001", "0.9999"])("is 0 after all orders at %s are filled or canceled", (price) => {
    const exchange = openFundedExchange({ tickSize: 0.0001 });
    exchange.send(`alice BUY 10 NO @ ${price}`, `alice SELL 3 YES @ ${price}`, `bob SELL 4 NO @ ${price}`);
    exchange.cancelAll("alice");
    exchange.cancelAll("bob");
    expect(exchange.figures().liquidity).toBe(0n);
  });
});
