import { describe, expect, it } from "vitest";
import { addressOf } from "../../support/commands.ts";
import { openFundedExchange, type TestExchange, verdictOf } from "../../support/exchange.ts";

describe("canceling one order", () => {
  it.each<[string, (exchange: TestExchange) => string]>([
    ["the empty text", () => ""],
    ["a number", () => "1"],
    [
      "the id of a market",
      (exchange) => exchange.orderId(1).replace(/^.{24}/, exchange.state.idPrefixes.market),
    ],
    ["an id with a space", (exchange) => `${exchange.orderId(1)} `],
    ["an id cut short", (exchange) => exchange.orderId(1).slice(0, -1)],
    ["the id of number 0", (exchange) => exchange.orderId(0)],
    ["an id with a sign in its counter", (exchange) => exchange.orderId(1).replace(/000001$/, "-00001")],
    ["the id of a number 2^32 higher", (exchange) => exchange.orderId(2 ** 32 + 1)],
    ["the id of a number 2^44 higher", (exchange) => exchange.orderId(2 ** 44 + 1)],
    ["the highest id", (exchange) => exchange.orderId(2 ** 48 - 1)],
  ])("is refused as ORDER_NOT_FOUND for %s", (_case, id) => {
    const exchange = openFundedExchange();
    exchange.send("alice BUY 10 YES @ 0.5");
    const command = { kind: "cancelOrder", address: addressOf("alice"), orderId: id(exchange) } as const;
    expect(verdictOf(exchange.submit(command))).toBe("ORDER_NOT_FOUND");
    expect(exchange.order(1)).toBe("LIVE 0/10");
  });
});

describe("canceling all orders", () => {
  it("is one command of the sequence", () => {
    const exchange = openFundedExchange();
    exchange.send("alice BUY 1 YES @ 0.5", "alice BUY 2 YES @ 0.5");
    const { sequence } = exchange.exchange;
    exchange.cancelAll("alice");
    expect(exchange.exchange.sequence).toBe(sequence + 1);
  });

  it.each(["alice", "nobody"])("succeeds without a change if %s has no live order", (name) => {
    const exchange = openFundedExchange();
    const { hash, sequence } = exchange.exchange;
    expect(exchange.cancelAll(name)).toEqual({ ok: true, events: [] });
    expect(exchange.exchange).toMatchObject({ hash, sequence });
  });
});
