import { describe, expect, it } from "vitest";
import { CERTAIN } from "../../../src/core/chain/settlement-fault.ts";
import { openSettlement, type SettlementFloor } from "./settlement-floor.ts";

const everybody = (floor: SettlementFloor) =>
  Object.fromEntries(["alice", "bob", "carol"].map((name) => [name, floor.inLedger(name)]));

describe("a settlement that fails", () => {
  it("is in its block, reverted, and says why", () => {
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

  it("takes back every maker, the fee, and the sets that were split or merged", () => {
    const floor = openSettlement({}, { feeRateBps: 200 });
    floor.fund("bob", { usdc: 100, no: 100 });
    const before = everybody(floor);
    const { supply } = floor.state.markets.get(1);
    const issued = { ...supply };
    floor.send("bob SELL 10 YES @ 0.5", "carol BUY 10 NO @ 0.45", "alice BUY 20 YES @ 0.55");
    expect(supply).not.toEqual(issued);
    floor.fault("fail");
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED", "FAILED"]);
    expect(everybody(floor)).toEqual(before);
    expect(supply).toEqual(issued);
    expect(floor.state.accounts.get(2).collateral.balance).toBe(0);
  });

  it("cancels the resting orders that it leaves without funds; the oldest claims first", () => {
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

  it("takes with it what was paid with its proceeds, and what was paid with those", () => {
    const floor = openSettlement();
    floor.trade();
    floor.send("carol BUY 40 YES @ 0.6", "alice SELL 40 YES @ 0.6");
    floor.fund("dave", { usdc: 400 });
    floor.send("dave BUY 540 YES @ 0.7", "carol SELL 540 YES @ 0.7");
    const told = floor.events.length;
    floor.fault("fail");
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED", "FAILED", "FAILED"]);
    const failed = floor.events
      .slice(told)
      .flatMap((event) => (event.kind === "settlementFailed" ? [[event.transaction, event.isMined]] : []));
    const [first, second, third] = [1, 2, 3].map((number) => floor.settlement(number).number);
    expect(failed).toEqual([
      [third, false],
      [second, false],
      [first, true],
    ]);
    expect(everybody(floor)).toEqual(everybody(openSettlement()));
  });

  it("takes with it the newest of those that spent its proceeds, and no more than must go", () => {
    const floor = openSettlement();
    floor.fund("alice", { yes: 30 });
    floor.trade();
    for (const price of [0.6, 0.7, 0.8]) {
      floor.send(`carol BUY 20 YES @ ${price}`, `alice SELL 20 YES @ ${price}`);
    }
    floor.fault("fail");
    floor.mine();
    // 30 of her own pay for the first sale, and for half of the second.
    expect(floor.statuses).toEqual(["FAILED", "MINED", "FAILED", "FAILED"]);
    expect(floor.inLedger("alice").yes).toBe(10);
  });

  it("fails so many as asked, and no more", () => {
    const floor = openSettlement();
    floor.fault("fail", { times: 2 });
    for (let count = 0; count < 4; count += 1) {
      floor.send("alice BUY 1 YES @ 0.5", "bob SELL 1 YES @ 0.5");
    }
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED", "FAILED", "MINED", "MINED"]);
    expect(floor.state.chain.faults).toEqual([]);
  });

  it("fails with a chance that the seed decides", () => {
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
