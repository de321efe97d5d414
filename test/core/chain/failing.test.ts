import { describe, expect, it } from "vitest";
import { CERTAIN } from "../../../src/core/chain/chain.ts";
import { openSettlement, type SettlementExchange } from "./settlement-exchange.ts";

const ledgerOf = (exchange: SettlementExchange) =>
  Object.fromEntries(["alice", "bob", "carol"].map((name) => [name, exchange.inLedger(name)]));

describe("a settlement that fails", () => {
  it("is in its block, reverted, with a reason", () => {
    const exchange = openSettlement();
    exchange.trade();
    exchange.fault("fail", { reason: "the oracle is on holiday" });
    exchange.mine();
    expect(exchange.settlement()).toMatchObject({
      status: "REVERTED",
      exception: { reason: "the oracle is on holiday" },
    });
    expect(exchange.settlement().block).toBeGreaterThan(0);
  });

  it("undoes all its fills, the fee, and minted or merged sets", () => {
    const exchange = openSettlement({}, { feeRateBps: 200 });
    exchange.fund("bob", { usdc: 100, no: 100 });
    const before = ledgerOf(exchange);
    const { supply } = exchange.state.markets.get(1);
    const issued = { ...supply };
    exchange.send("bob SELL 10 YES @ 0.5", "carol BUY 10 NO @ 0.45", "alice BUY 20 YES @ 0.55");
    expect(supply).not.toEqual(issued);
    exchange.fault("fail");
    exchange.mine();
    expect(exchange.statuses).toEqual(["FAILED", "FAILED"]);
    expect(ledgerOf(exchange)).toEqual(before);
    expect(supply).toEqual(issued);
    expect(exchange.state.accounts.get(2).collateral.balance).toBe(0);
  });

  it("cancels resting orders without funds; the oldest orders have priority", () => {
    const exchange = openSettlement();
    exchange.send("alice BUY 100 YES @ 0.5", "bob SELL 100 YES @ 0.5");
    const [oldest, large, small] = [
      exchange.send("alice SELL 40 YES @ 0.6"),
      exchange.send("alice SELL 50 YES @ 0.7"),
      exchange.send("alice SELL 10 YES @ 0.8"),
    ];
    exchange.fund("alice", { yes: 50 });
    exchange.fault("fail");
    exchange.mine();
    expect([oldest, large, small].map((order) => exchange.order(order))).toEqual([
      "LIVE 0/40",
      "CANCELED 0/50 SETTLEMENT_FAILED",
      "LIVE 0/10",
    ]);
  });

  it("also fails settlements that spend its proceeds, directly or indirectly", () => {
    const exchange = openSettlement();
    exchange.trade();
    exchange.send("carol BUY 40 YES @ 0.6", "alice SELL 40 YES @ 0.6");
    exchange.fund("dave", { usdc: 400 });
    exchange.send("dave BUY 540 YES @ 0.7", "carol SELL 540 YES @ 0.7");
    const before = exchange.events.length;
    exchange.fault("fail");
    exchange.mine();
    expect(exchange.statuses).toEqual(["FAILED", "FAILED", "FAILED"]);
    const failed = exchange.events
      .slice(before)
      .flatMap((event) => (event.kind === "settlementFailed" ? [[event.transaction, event.isMined]] : []));
    const [first, second, third] = [1, 2, 3].map((number) => exchange.settlement(number).number);
    expect(failed).toEqual([
      [third, false],
      [second, false],
      [first, true],
    ]);
    expect(ledgerOf(exchange)).toEqual(ledgerOf(openSettlement()));
  });

  it("fails the newest settlements that spend its proceeds, and only as many as necessary", () => {
    const exchange = openSettlement();
    exchange.fund("alice", { yes: 30 });
    exchange.trade();
    for (const price of [0.6, 0.7, 0.8]) {
      exchange.send(`carol BUY 20 YES @ ${price}`, `alice SELL 20 YES @ ${price}`);
    }
    exchange.fault("fail");
    exchange.mine();
    // Her own 30 shares cover the first sale and half of the second.
    expect(exchange.statuses).toEqual(["FAILED", "MINED", "FAILED", "FAILED"]);
    expect(exchange.inLedger("alice").yes).toBe(10);
  });

  it("fails as many times as requested", () => {
    const exchange = openSettlement();
    exchange.fault("fail", { times: 2 });
    for (let count = 0; count < 4; count += 1) {
      exchange.send("alice BUY 1 YES @ 0.5", "bob SELL 1 YES @ 0.5");
    }
    exchange.mine();
    expect(exchange.statuses).toEqual(["FAILED", "FAILED", "MINED", "MINED"]);
    expect(exchange.state.chain.faults).toEqual([]);
  });

  it("fails with a probability, as the seed determines", () => {
    const play = (seed: string): string => {
      const exchange = openSettlement({ seed, settlement: "instant" });
      exchange.fault("fail", { probability: CERTAIN / 4, times: null });
      for (let count = 0; count < 200; count += 1) {
        exchange.send("alice BUY 1 YES @ 0.5", "bob SELL 1 YES @ 0.5");
      }
      return exchange.statuses.map((status) => status.charAt(0)).join("");
    };
    const failures = [...play("one")].filter((letter) => letter === "F").length;
    expect(failures).toBeGreaterThan(30);
    expect(failures).toBeLessThan(70);
    expect(play("one")).toBe(play("one"));
    expect(play("two")).not.toBe(play("one"));
  });
});
