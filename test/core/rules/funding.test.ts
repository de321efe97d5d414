import { describe, expect, it } from "vitest";
import { FAUCET } from "../../../src/core/state.ts";
import { MAX_ISSUANCE, money, size } from "../../../src/core/units.ts";
import { addressOf } from "../../support/commands.ts";
import { openFloor, TestExchange, verdictOf } from "../../support/exchange.ts";

function floorWithGrant(everyMarket: number): TestExchange {
  const floor = new TestExchange();
  floor.market();
  floor.market();
  floor.fund("dave", { usdc: 100, everyMarket });
  return floor;
}

describe("a grant of shares in every market", () => {
  it("is minted with the account's first order in a market, only there", () => {
    const floor = floorWithGrant(50);
    expect(floor.shares("dave", "YES")).toEqual({ balance: 0, reserved: 0 });
    floor.send("dave SELL 20 NO @ 0.5");
    expect(floor.shares("dave", "YES")).toEqual({ balance: 50, reserved: 0 });
    expect(floor.shares("dave", "NO")).toEqual({ balance: 50, reserved: 20 });
    expect(floor.shares("dave", "YES", 2)).toEqual({ balance: 0, reserved: 0 });
  });

  it("is minted by a buy too, even if it is canceled at once", () => {
    const floor = floorWithGrant(50);
    floor.send("dave BUY 20 NO @ 0.5 FOK");
    expect(floor.shares("dave", "YES").balance).toBe(50);
  });

  it("is minted once", () => {
    const floor = floorWithGrant(50);
    floor.send("dave SELL 20 YES @ 0.5", "dave SELL 20 YES @ 0.5");
    expect(floor.eventsOf("grantMinted")).toHaveLength(1);
  });

  it("is available before it is minted", () => {
    const floor = floorWithGrant(50);
    expect(verdictOf(floor.try("dave SELL 50.01 YES @ 0.5"))).toBe("INSUFFICIENT_BALANCE");
    expect(floor.eventsOf("grantMinted")).toEqual([]);
    expect(verdictOf(floor.try("dave SELL 50 YES @ 0.5"))).toBe("ok");
  });

  it("is minted in a market created later", () => {
    const floor = floorWithGrant(50);
    floor.market();
    floor.demand(floor.command("dave SELL 50 YES @ 0.5", 3));
    expect(floor.shares("dave", "NO", 3).balance).toBe(50);
  });

  it("that is raised mints the difference", () => {
    const floor = floorWithGrant(50);
    floor.send("dave SELL 20 YES @ 0.5");
    floor.fund("dave", { everyMarket: 30 });
    floor.send("dave SELL 60 YES @ 0.5");
    expect(floor.shares("dave", "YES")).toEqual({ balance: 80, reserved: 80 });
    floor.send("dave SELL 80 NO @ 0.99");
    expect(floor.eventsOf("grantMinted")).toHaveLength(2);
  });

  it("adds to existing shares", () => {
    const floor = floorWithGrant(50);
    floor.fund("dave", { yes: 5 });
    floor.send("dave SELL 55 YES @ 0.5");
    expect(floor.shares("dave", "NO").balance).toBe(50);
  });

  it("is backed by newly issued USDC", () => {
    const floor = floorWithGrant(50);
    const { issued } = floor.state;
    floor.send("dave SELL 20 YES @ 0.5");
    expect(floor.state.issued - issued).toBe(50_000_000);
    expect(floor.state.markets.get(1).supply).toEqual({ yes: 5000, no: 5000, collateral: 50_000_000 });
  });
});

describe("shares of a single outcome", () => {
  it("are minted as full sets, and the faucet gets the other outcome", () => {
    const floor = new TestExchange();
    floor.market();
    floor.fund("dave", { yes: 30, no: 10 });
    const faucet = floor.state.accounts.get(FAUCET).holdings.get(1);
    expect([floor.shares("dave", "YES").balance, floor.shares("dave", "NO").balance]).toEqual([30, 10]);
    expect([faucet?.yes.balance, faucet?.no.balance]).toEqual([1000, 3000]);
    expect(floor.state.markets.get(1).supply).toEqual({ yes: 4000, no: 4000, collateral: 40_000_000 });
  });

  it("can be requested twice in one command", () => {
    const floor = new TestExchange();
    floor.market();
    const tokens = [1, 2].map((shares) => ({ tokenId: floor.tokenId("YES"), size: size(shares * 100) }));
    const nothing = { collateral: money(0), everyMarket: size(0) };
    floor.demand({ kind: "fundAccount", address: addressOf("dave"), tokens, ...nothing });
    expect(floor.shares("dave", "YES").balance).toBe(3);
  });

  it("of an unknown token make the whole command fail", () => {
    const floor = new TestExchange();
    floor.market();
    const tokens = [floor.tokenId("YES"), "77"].map((tokenId) => ({ tokenId, size: size(100) }));
    const command = { address: addressOf("dave"), collateral: money(5), tokens, everyMarket: size(0) };
    expect(verdictOf(floor.submit({ kind: "fundAccount", ...command }))).toBe("TOKEN_NOT_FOUND");
    expect(floor.usdc("dave").balance).toBe(0);
  });
});

describe("USDC", () => {
  it("adds up over several fundings, of a new and of a known address", () => {
    const floor = new TestExchange();
    floor.fund("dave", { usdc: 0.000001 });
    floor.fund("dave", { usdc: 10.5 });
    expect(floor.usdc("dave").balance).toBe(10.500001);
    expect(floor.state.accounts.size).toBe(3);
  });

  it("can be issued exactly to the limit", () => {
    const floor = new TestExchange();
    const fund = (collateral: number) =>
      floor.submit({
        kind: "fundAccount",
        address: addressOf("dave"),
        collateral: money(collateral),
        tokens: [],
        everyMarket: size(0),
      });
    expect(verdictOf(fund(MAX_ISSUANCE + 1))).toBe("ISSUANCE_EXCEEDED");
    expect(verdictOf(fund(MAX_ISSUANCE - 1))).toBe("ok");
    expect(fund(2)).toMatchObject({ refusal: { code: "ISSUANCE_EXCEEDED", asked: 2, left: 1 } });
    expect(verdictOf(fund(1))).toBe("ok");
    expect(floor.state.issued).toBe(MAX_ISSUANCE);
  });

  it("that backs a minted grant counts towards the limit", () => {
    const floor = openFloor();
    floor.fund("dave", { everyMarket: 10 });
    floor.fund("eve", { usdc: 4_000_000_000 - 9_000_000 - 9.99 });
    expect(verdictOf(floor.try("dave SELL 10 YES @ 0.5"))).toBe("ISSUANCE_EXCEEDED");
    expect(floor.state.issued).toBeLessThanOrEqual(MAX_ISSUANCE);
  });
});
