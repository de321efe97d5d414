import { describe, expect, it } from "vitest";
import { canonicalLines } from "../../../src/core/state-document.ts";
import { openFundedExchange, type TestExchange } from "../../support/exchange.ts";
import { listed, rowsOf } from "../../support/table.ts";

/** Returns the canonical state without its orders. */
function stateWithoutOrders({ state }: TestExchange): string[] {
  const lines = [...canonicalLines(state)];
  const from = lines.indexOf('"orders":[');
  return lines.toSpliced(from, lines.indexOf("],", from) - from);
}

/** Asks of 4 at 0.5 and 6 at 0.6, and a bid of 9 at 0.4. */
function quotedExchange(): TestExchange {
  const exchange = openFundedExchange();
  exchange.send("alice SELL 4 YES @ 0.5", "bob SELL 6 YES @ 0.6", "alice BUY 9 YES @ 0.4");
  return exchange;
}

const UNTOUCHED = { bids: ["9 @ 0.4"], asks: ["4 @ 0.5", "6 @ 0.6"] };

/** Rule, incoming order, its status, its trades; then bids and asks. */
const RULES = rowsOf(`
GTC that crosses nothing rests completely | carol BUY 10 YES @ 0.49 | LIVE 0/10 | none | 10 @ 0.49, 9 @ 0.4 | 4 @ 0.5, 6 @ 0.6
GTC matches what crosses, and its remainder rests at its limit | carol BUY 10 YES @ 0.5 | LIVE 4/10 | #4 x #1: 4 @ 0.5 | 6 @ 0.5, 9 @ 0.4 | 6 @ 0.6
GTC that is completely filled does not rest | carol BUY 10 YES @ 0.7 | MATCHED 10/10 | #4 x #1: 4 @ 0.5, #4 x #2: 6 @ 0.6 | 9 @ 0.4 | none
GTD matches and rests like GTC | carol BUY 10 YES @ 0.5 GTD 1h | LIVE 4/10 | #4 x #1: 4 @ 0.5 | 6 @ 0.5, 9 @ 0.4 | 6 @ 0.6
FAK matches what crosses, and its remainder is canceled | carol BUY 10 YES @ 0.5 FAK | MATCHED 4/10 FAK_REMAINDER | #4 x #1: 4 @ 0.5 | 9 @ 0.4 | 6 @ 0.6
FAK that is completely filled is not canceled | carol BUY 4 YES @ 0.5 FAK | MATCHED 4/4 | #4 x #1: 4 @ 0.5 | 9 @ 0.4 | 6 @ 0.6
FAK that crosses nothing is canceled completely | carol BUY 10 YES @ 0.49 FAK | CANCELED 0/10 FAK_UNFILLED | none | 9 @ 0.4 | 4 @ 0.5, 6 @ 0.6
FOK is filled over several levels if completely possible | carol BUY 10 YES @ 0.6 FOK | MATCHED 10/10 | #4 x #1: 4 @ 0.5, #4 x #2: 6 @ 0.6 | 9 @ 0.4 | none
FOK can fill part of a level | carol BUY 5 YES @ 0.6 FOK | MATCHED 5/5 | #4 x #1: 4 @ 0.5, #4 x #2: 1 @ 0.6 | 9 @ 0.4 | 5 @ 0.6
FOK that lacks 0.01 share is canceled | carol BUY 10.01 YES @ 0.99 FOK | CANCELED 0/10.01 FOK_UNFILLED | none | 9 @ 0.4 | 4 @ 0.5, 6 @ 0.6
FOK does not count orders beyond its limit | carol BUY 5 YES @ 0.59 FOK | CANCELED 0/5 FOK_UNFILLED | none | 9 @ 0.4 | 4 @ 0.5, 6 @ 0.6
FOK that crosses nothing is canceled | carol SELL 10 YES @ 0.41 FOK | CANCELED 0/10 FOK_UNFILLED | none | 9 @ 0.4 | 4 @ 0.5, 6 @ 0.6
`);

describe("an incoming order", () => {
  it.each(RULES)("%s", (_rule, order = "", ...expected) => {
    const exchange = quotedExchange();
    exchange.send(order);
    const { bids, asks } = exchange.book();
    expect([exchange.order(4), listed(exchange.trades()), listed(bids), listed(asks)]).toEqual(expected);
  });
});

describe("an order that is canceled completely on arrival", () => {
  it.each(["FOK", "FAK"])("as %s changes only the list of orders", (type) => {
    const exchange = quotedExchange();
    const before = stateWithoutOrders(exchange);
    const limit = type === "FOK" ? "0.99" : "0.49";
    expect(exchange.try(`carol BUY 11 YES @ ${limit} ${type}`).ok).toBe(true);
    expect(stateWithoutOrders(exchange)).toEqual(before);
    expect(exchange.book()).toEqual(UNTOUCHED);
  });

  it("does not change the sequence and the time of the book", () => {
    const exchange = quotedExchange();
    const [{ sequence, updatedAt }] = exchange.state.markets.get(1).books;
    exchange.advance("1s");
    exchange.send("carol BUY 11 YES @ 0.99 FOK");
    expect(exchange.state.markets.get(1).books[0]).toMatchObject({ sequence, updatedAt });
  });

  it("is in the list of orders with its own number", () => {
    const exchange = quotedExchange();
    expect(exchange.send("carol BUY 11 YES @ 0.99 FOK")).toBe(4);
    expect(exchange.send("carol BUY 1 YES @ 0.01")).toBe(5);
  });
});

describe("the sequence of a book", () => {
  it("increases by one for each order that rests, each fill and each order removed", () => {
    const exchange = openFundedExchange();
    const [book] = exchange.state.markets.get(1).books;
    const sequences = [
      "alice SELL 4 YES @ 0.5",
      "bob SELL 6 YES @ 0.6",
      "carol BUY 5 YES @ 0.6 FAK",
      "carol BUY 7 YES @ 0.6",
      "carol BUY 7 YES @ 0.2 FOK",
    ].map((order) => {
      exchange.send(order);
      return book.sequence;
    });
    exchange.cancel("carol", 4);
    expect([...sequences, book.sequence]).toEqual([1, 2, 4, 6, 6, 7]);
  });
});
