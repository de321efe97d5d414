import { describe, expect, it } from "vitest";
import { addressOf } from "../../support/commands.ts";
import { openFloor, type TestExchange, verdictOf } from "../../support/exchange.ts";

const canceledIn = (floor: TestExchange): number[] =>
  floor.events.flatMap((event) => (event.kind === "orderCanceled" ? [event.order] : []));

describe("canceling one order", () => {
  it("takes it out of the book", () => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.5", "alice BUY 5 YES @ 0.5");
    expect(verdictOf(floor.cancel("alice", 1))).toBe("ok");
    expect(floor.order(1)).toBe("CANCELED 0/10 USER");
    expect(floor.book().bids).toEqual(["5 @ 0.5"]);
  });

  it("keeps what it had matched", () => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.5", "bob SELL 4 YES @ 0.5");
    floor.cancel("alice", 1);
    expect(floor.order(1)).toBe("CANCELED 4/10 USER");
    expect(floor.shares("alice", "YES").balance).toBe(1_000_004);
  });

  it("is for its owner only: to others it is as unknown as one that never was", () => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.5");
    expect(verdictOf(floor.cancel("bob", 1))).toBe("ORDER_NOT_FOUND");
    expect(verdictOf(floor.cancel("nobody", 1))).toBe("ORDER_NOT_FOUND");
    expect(floor.order(1)).toBe("LIVE 0/10");
  });

  it.each<[string, (floor: TestExchange) => void]>([
    ["matched", (floor) => void floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5")],
    ["matched and FAK", (floor) => void floor.send("alice BUY 10 YES @ 0.5 FAK")],
    ["killed", (floor) => void floor.send("alice BUY 10 YES @ 0.5 FOK")],
    [
      "canceled",
      (floor) => {
        floor.send("alice BUY 10 YES @ 0.5");
        floor.cancel("alice", 1);
      },
    ],
    [
      "expired",
      (floor) => {
        floor.send("alice BUY 10 YES @ 0.5 GTD 1s");
        floor.advance("1s");
      },
    ],
  ])("that has ended is refused as not live: %s", (_how, end) => {
    const floor = openFloor();
    end(floor);
    expect(verdictOf(floor.cancel("alice", 1))).toBe("ORDER_NOT_LIVE");
  });

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
  it("takes out the caller's, oldest first, in every market, and nobody else's", () => {
    const floor = openFloor();
    floor.market();
    floor.send("alice BUY 1 YES @ 0.5", "bob BUY 1 YES @ 0.5");
    floor.demand(floor.command("alice BUY 1 NO @ 0.5", 2));
    floor.send("alice SELL 1 YES @ 0.9", "alice BUY 1 YES @ 0.6");
    expect(verdictOf(floor.cancelAll("alice"))).toBe("ok");
    expect(canceledIn(floor)).toEqual([1, 3, 4, 5]);
    expect([floor.open("alice"), floor.open("bob")]).toEqual([[], [2]]);
  });

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
