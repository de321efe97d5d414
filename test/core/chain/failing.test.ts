import { describe, expect, it } from "vitest";
import { CERTAIN } from "../../../src/core/chain/settlement-fault.ts";
import { openSettlement, type SettlementExchange } from "./settlement-exchange.ts";

const ledgerOf = (floor: SettlementExchange) =>
  Object.fromEntries(["alice", "bob", "carol"].map((name) => [name, floor.inLedger(name)]));

describe("a settlement that fails", () => {
  it("is in its block, reverted, with a reason", () => {
    const floor = openSettlement();
    floor.trade();
    floor.fault("fail", { reason: "the oracle is on holiday" });
    floor.mine();
    expect(floor.settlement()).toMatchObject({
      status: "REVERTED",
      exception: { reason: "the oracle is on holiday" },
    });
    expect(floor.settlement().block).toBeGreaterThan(0);
  });

  it("undoes all its fills, the fee, and minted or merged sets", () => {
    const floor = openSettlement({}, { feeRateBps: 200 });
    floor.fund("bob", { usdc: 100, no: 100 });
    const before = ledgerOf(floor);
    const { supply } = floor.state.markets.get(1);
    const issued = { ...supply };
    floor.send("bob SELL 10 YES @ 0.5", "carol BUY 10 NO @ 0.45", "alice BUY 20 YES @ 0.55");
    expect(supply).not.toEqual(issued);
    floor.fault("fail");
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED", "FAILED"]);
    expect(ledgerOf(floor)).toEqual(before);
    expect(supply).toEqual(issued);
    expect(floor.state.accounts.get(2).collateral.balance).toBe(0);
  });

  it("cancels resting orders without funds; the oldest orders have priority", () => {
    const floor = openSettlement();
    floor.send("alice BUY 100 YES @ 0.5", "bob SELL 100 YES @ 0.5");
    const [oldest, large, small] = [
      floor.send("alice SELL 40 YES @ 0.6"),
      floor.send("alice SELL 50 YES @ 0.7"),
      floor.send("alice SELL 10 YES @ 0.8"),
    ];
    floor.fund("alice", { yes: 50 });
    floor.fault("fail");
    floor.mine();
    expect([oldest, large, small].map((order) => floor.order(order))).toEqual([
      "LIVE 0/40",
      "CANCELED 0/50 SETTLEMENT_FAILED",
      "LIVE 0/10",
    ]);
  });

  it("also fails settlements that spend its proceeds, directly or indirectly", () => {
    const floor = openSettlement();
    floor.trade();
    floor.send("carol BUY 40 YES @ 0.6", "alice SELL 40 YES @ 0.6");
    floor.fund("dave", { usdc: 400 });
    floor.send("dave BUY 540 YES @ 0.7", "carol SELL 540 YES @ 0.7");
    const before = floor.events.length;
    floor.fault("fail");
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED", "FAILED", "FAILED"]);
    const failed = floor.events
      .slice(before)
      .flatMap((event) => (event.kind === "settlementFailed" ? [[event.transaction, event.isMined]] : []));
    const [first, second, third] = [1, 2, 3].map((number) => floor.settlement(number).number);
    expect(failed).toEqual([
      [third, false],
      [second, false],
      [first, true],
    ]);
    expect(ledgerOf(floor)).toEqual(ledgerOf(openSettlement()));
  });

  it("fails the newest settlements that spend its proceeds, and only as many as necessary", () => {
    const floor = openSettlement();
    floor.fund("alice", { yes: 30 });
    floor.trade();
    for (const price of [0.6, 0.7, 0.8]) {
      floor.send(`carol BUY 20 YES @ ${price}`, `alice SELL 20 YES @ ${price}`);
    }
    floor.fault("fail");
    floor.mine();
    // Her own 30 shares cover the first sale and half of the second.
    expect(floor.statuses).toEqual(["FAILED", "MINED", "FAILED", "FAILED"]);
    expect(floor.inLedger("alice").yes).toBe(10);
  });

  it("fails as many times as requested", () => {
    const floor = openSettlement();
    floor.fault("fail", { times: 2 });
    for (let count = 0; count < 4; count += 1) {
      floor.send("alice BUY 1 YES @ 0.5", "bob SELL 1 YES @ 0.5");
    }
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED", "FAILED", "MINED", "MINED"]);
    expect(floor.state.chain.faults).toEqual([]);
  });

  it("fails with a probability, as the seed determines", () => {
    const play = (seed: string): string => {
      const floor = openSettlement({ seed, settlement: "instant" });
      floor.fault("fail", { probability: CERTAIN / 4, times: null });
      for (let count = 0; count < 200; count += 1) {
        floor.send("alice BUY 1 YES @ 0.5", "bob SELL 1 YES @ 0.5");
      }
      return floor.statuses.map((status) => status.charAt(0)).join("");
    };
    const failures = [...play("one")].filter((letter) => letter === "F").length;
    expect(failures).toBeGreaterThan(30);
    expect(failures).toBeLessThan(70);
    expect(play("one")).toBe(play("one"));
    expect(play("two")).not.toBe(play("one"));
  });
});
