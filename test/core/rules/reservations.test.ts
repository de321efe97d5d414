import { describe, expect, it } from "vitest";
import { openFloor, TestExchange } from "../../support/exchange.ts";

const usdcReserved = (floor: TestExchange, name: string): number => floor.usdc(name).reserved;

describe("what an open order reserves", () => {
  it("is price x size of a buyer's USDC", () => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.35", "alice BUY 4 NO @ 0.5");
    expect(floor.usdc("alice")).toEqual({ balance: 1_000_000, reserved: 5.5 });
  });

  it("is the worst fee on top where there is one", () => {
    const floor = openFloor({ feeRateBps: 100 });
    floor.send("alice BUY 10 YES @ 0.35");
    expect(usdcReserved(floor, "alice")).toBe(3.535);
  });

  it("is a seller's shares, and no fee", () => {
    const floor = openFloor({ feeRateBps: 100 });
    floor.send("alice SELL 10 YES @ 0.35", "alice SELL 3 NO @ 0.9");
    expect(floor.shares("alice", "YES").reserved).toBe(10);
    expect(floor.shares("alice", "NO").reserved).toBe(3);
    expect(usdcReserved(floor, "alice")).toBe(0);
  });

  it("shrinks with each fill of a maker, and the fee part with it", () => {
    const floor = openFloor({ feeRateBps: 100 });
    floor.send("alice BUY 10 YES @ 0.4");
    const reserved = ["3", "3", "4"].map((shares) => {
      floor.send(`bob SELL ${shares} YES @ 0.4`);
      return usdcReserved(floor, "alice");
    });
    expect(reserved).toEqual([2.828, 1.616, 0]);
  });

  it("is for a taker that rests only what remains, at its own limit", () => {
    const floor = openFloor({ feeRateBps: 100 });
    floor.send("bob SELL 6 YES @ 0.2", "alice BUY 10 YES @ 0.4");
    expect(floor.usdc("alice")).toEqual({ balance: 999_998.788, reserved: 1.616 });
  });

  it("gives the price improvement back at once", () => {
    const floor = openFloor();
    floor.fund("dave", { usdc: 9 });
    floor.send("bob SELL 10 YES @ 0.2", "dave BUY 10 YES @ 0.9");
    expect(floor.usdc("dave")).toEqual({ balance: 7, reserved: 0 });
  });

  it("never rises with a fill that is cheaper but has the higher fee", () => {
    const floor = new TestExchange();
    floor.market({ feeRateBps: 10_000 });
    floor.fund("alice", { yes: 10 });
    floor.fund("dave", { usdc: 10 });
    floor.send("alice SELL 10 YES @ 0.5", "dave BUY 10 YES @ 0.9");
    expect(floor.usdc("dave")).toEqual({ balance: 0, reserved: 0 });
  });

  it.each([
    ["0.0001", 0.001],
    ["0.9999", 9.999],
  ])("is exact at the end of the price grid, %s", (price, reserved) => {
    const floor = openFloor({ tickSize: 0.0001 });
    floor.send(`alice BUY 10 YES @ ${price}`, `bob BUY 10 YES @ ${price}`);
    expect(usdcReserved(floor, "alice")).toBe(reserved);
  });
});

describe("what an open order reserves is released", () => {
  const ways: [string, (floor: TestExchange) => unknown][] = [
    ["canceled", (floor) => floor.cancel("alice", 1)],
    ["canceled with all others", (floor) => floor.cancelAll("alice")],
    ["expired", (floor) => floor.advance("1m")],
    ["ended by the closing of its market", (floor) => floor.demand({ kind: "closeMarket", market: 1 })],
    [
      "ended by the resolution of its market",
      (floor) => floor.demand({ kind: "resolveMarket", market: 1, winningOutcome: "NO" }),
    ],
  ];

  it.each(ways)("when a buy is %s, also partly filled", (_name, end) => {
    const floor = openFloor({ feeRateBps: 100 });
    floor.send("alice BUY 10 YES @ 0.4 GTD 1m", "bob SELL 3 YES @ 0.4");
    end(floor);
    expect(floor.usdc("alice")).toEqual({ balance: 999_998.8, reserved: 0 });
  });

  it.each(ways)("when a sale is %s, also partly filled", (_name, end) => {
    const floor = openFloor();
    floor.send("alice SELL 10 NO @ 0.4 GTD 1m", "bob BUY 3 NO @ 0.4");
    end(floor);
    expect(floor.shares("alice", "NO")).toEqual({ balance: 999_997, reserved: 0 });
  });

  it.each(["FOK", "FAK"])("when the remainder of a %s is canceled", (type) => {
    const floor = openFloor({ feeRateBps: 100 });
    floor.send("bob SELL 3 YES @ 0.4", `alice BUY 10 YES @ 0.5 ${type}`);
    expect(usdcReserved(floor, "alice")).toBe(0);
  });

  it.each(["cancel-taker", "cancel-maker", "cancel-both"] as const)("when %s ends it", (selfTrade) => {
    const floor = openFloor({ selfTrade });
    floor.send("alice SELL 5 YES @ 0.4", "alice BUY 5 YES @ 0.4");
    floor.cancelAll("alice");
    expect(usdcReserved(floor, "alice")).toBe(0);
    expect(floor.shares("alice", "YES").reserved).toBe(0);
  });
});

describe("what is free", () => {
  it("is the balance less what open orders hold, to the last micro-USDC", () => {
    const floor = openFloor();
    floor.fund("dave", { usdc: 10 });
    floor.send("dave BUY 10 YES @ 0.4", "dave BUY 12 NO @ 0.5 GTD 1h");
    expect(floor.try("dave BUY 1 YES @ 0.01").ok).toBe(false);
    floor.cancel("dave", 1);
    expect(floor.try("dave BUY 10 YES @ 0.4").ok).toBe(true);
    expect(floor.usdc("dave")).toEqual({ balance: 10, reserved: 10 });
  });

  it("counts the worst fee: one micro-USDC short is short", () => {
    const floor = openFloor({ feeRateBps: 100 });
    floor.fund("dave", { usdc: 4.039999 });
    expect(floor.try("dave BUY 10 YES @ 0.4").ok).toBe(false);
    floor.fund("dave", { usdc: 0.000001 });
    expect(floor.try("dave BUY 10 YES @ 0.4").ok).toBe(true);
  });

  it("counts shares by outcome: YES never pays for NO", () => {
    const floor = openFloor();
    floor.fund("dave", { yes: 10 });
    expect(floor.try("dave SELL 10 NO @ 0.5").ok).toBe(false);
    expect(floor.try("dave SELL 10 YES @ 0.5").ok).toBe(true);
    expect(floor.try("dave SELL 0.01 YES @ 0.5").ok).toBe(false);
  });

  it("includes what a fill has just brought", () => {
    const floor = openFloor();
    floor.fund("dave", { yes: 10 });
    floor.send("alice BUY 10 YES @ 0.5", "dave SELL 10 YES @ 0.5", "dave BUY 5 NO @ 0.99");
    expect(floor.usdc("dave")).toEqual({ balance: 5, reserved: 4.95 });
  });
});
