import { describe, expect, it } from "vitest";
import { addressOf } from "../../support/commands.ts";
import { openFloor, type TestExchange, verdictOf } from "../../support/exchange.ts";

describe("canceling one order", () => {
  it.each<[string, (floor: TestExchange) => string]>([
    ["the empty text", () => ""],
    ["a number", () => "1"],
    ["the id of a market", (floor) => floor.orderId(1).replace(/^.{24}/, floor.state.idPrefixes.market)],
    ["an id with a space", (floor) => `${floor.orderId(1)} `],
    ["an id cut short", (floor) => floor.orderId(1).slice(0, -1)],
    ["the id of number 0", (floor) => floor.orderId(0)],
    ["an id with a sign in its counter", (floor) => floor.orderId(1).replace(/000001$/, "-00001")],
    ["the id of a number 2^32 higher", (floor) => floor.orderId(2 ** 32 + 1)],
    ["the id of a number 2^44 higher", (floor) => floor.orderId(2 ** 44 + 1)],
    ["the highest id", (floor) => floor.orderId(2 ** 48 - 1)],
  ])("is refused as ORDER_NOT_FOUND for %s", (_case, id) => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.5");
    const command = { kind: "cancelOrder", address: addressOf("alice"), orderId: id(floor) } as const;
    expect(verdictOf(floor.submit(command))).toBe("ORDER_NOT_FOUND");
    expect(floor.order(1)).toBe("LIVE 0/10");
  });
});

describe("canceling all orders", () => {
  it("is one command of the sequence", () => {
    const floor = openFloor();
    floor.send("alice BUY 1 YES @ 0.5", "alice BUY 2 YES @ 0.5");
    const { sequence } = floor.exchange;
    floor.cancelAll("alice");
    expect(floor.exchange.sequence).toBe(sequence + 1);
  });

  it.each(["alice", "nobody"])("succeeds without a change if %s has no live order", (name) => {
    const floor = openFloor();
    const { hash, sequence } = floor.exchange;
    expect(floor.cancelAll(name)).toEqual({ ok: true, events: [] });
    expect(floor.exchange).toMatchObject({ hash, sequence });
  });
});
