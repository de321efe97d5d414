import { describe, expect, it } from "vitest";
import { addressOf } from "../../support/commands.ts";
import { openFloor, type TestExchange, verdictOf } from "../../support/exchange.ts";

const canceledIn = (floor: TestExchange): number[] =>
  floor.events.flatMap((event) => (event.kind === "orderCanceled" ? [event.order] : []));

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
  ])("that is named by %s is unknown", (_what, id) => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.5");
    const command = { kind: "cancelOrder", address: addressOf("alice"), orderId: id(floor) } as const;
    expect(verdictOf(floor.submit(command))).toBe("ORDER_NOT_FOUND");
    expect(floor.order(1)).toBe("LIVE 0/10");
  });

  it("may be named in upper case", () => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.5");
    const orderId = floor.orderId(1).toUpperCase();
    floor.demand({ kind: "cancelOrder", address: addressOf("alice"), orderId });
    expect(floor.order(1)).toBe("CANCELED 0/10 USER");
  });
});

describe("canceling all orders", () => {
  it("takes out oldest first also after others have ended in between", () => {
    const floor = openFloor();
    for (let order = 1; order <= 6; order += 1) floor.send(`alice BUY 1 YES @ 0.${order}`);
    floor.cancel("alice", 3);
    floor.cancel("alice", 1);
    floor.cancel("alice", 6);
    floor.send("alice BUY 1 YES @ 0.1");
    floor.cancelAll("alice");
    expect(canceledIn(floor).slice(3)).toEqual([2, 4, 5, 7]);
  });

  it("is one step of the sequence", () => {
    const floor = openFloor();
    floor.send("alice BUY 1 YES @ 0.5", "alice BUY 2 YES @ 0.5");
    const { sequence } = floor.exchange;
    floor.cancelAll("alice");
    expect(floor.exchange.sequence).toBe(sequence + 1);
  });

  it.each(["alice", "nobody"])("is a success without a trace when there is nothing, for %s", (name) => {
    const floor = openFloor();
    const { hash, sequence } = floor.exchange;
    expect(floor.cancelAll(name)).toEqual({ ok: true, events: [] });
    expect(floor.exchange).toMatchObject({ hash, sequence });
  });
});
