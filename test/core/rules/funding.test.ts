import { describe, expect, it } from "vitest";
import { FAUCET } from "../../../src/core/state.ts";
import { MAX_ISSUANCE, money, size } from "../../../src/core/units.ts";
import { addressOf } from "../../support/commands.ts";
import { openFundedExchange, TestExchange, verdictOf } from "../../support/exchange.ts";

function floorWithGrant(everyMarket: number): TestExchange {
  const exchange = new TestExchange();
  exchange.market();
  exchange.market();
  exchange.fund("dave", { usdc: 100, everyMarket });
  return exchange;
}

describe("a grant of shares in every market", () => {
  it("is minted with the account's first order in a market, only there", () => {
    const exchange = floorWithGrant(50);
    expect(exchange.shares("dave", "YES")).toEqual({ balance: 0, reserved: 0 });
    exchange.send("dave SELL 20 NO @ 0.5");
    expect(exchange.shares("dave", "YES")).toEqual({ balance: 50, reserved: 0 });
    expect(exchange.shares("dave", "NO")).toEqual({ balance: 50, reserved: 20 });
    expect(exchange.shares("dave", "YES", 2)).toEqual({ balance: 0, reserved: 0 });
  });

  it("is minted by a buy too, even if it is canceled at once", () => {
    const exchange = floorWithGrant(50);
    exchange.send("dave BUY 20 NO @ 0.5 FOK");
    expect(exchange.shares("dave", "YES").balance).toBe(50);
  });

  it("is minted once", () => {
    const exchange = floorWithGrant(50);
    exchange.send("dave SELL 20 YES @ 0.5", "dave SELL 20 YES @ 0.5");
    expect(exchange.eventsOf("grantMinted")).toHaveLength(1);
  });

  it("is available before it is minted", () => {
    const exchange = floorWithGrant(50);
    expect(verdictOf(exchange.try("dave SELL 50.01 YES @ 0.5"))).toBe("INSUFFICIENT_BALANCE");
    expect(exchange.eventsOf("grantMinted")).toEqual([]);
    expect(verdictOf(exchange.try("dave SELL 50 YES @ 0.5"))).toBe("ok");
  });

  it("is minted in a market created later", () => {
    const exchange = floorWithGrant(50);
    exchange.market();
    exchange.mustSubmit(exchange.command("dave SELL 50 YES @ 0.5", 3));
    expect(exchange.shares("dave", "NO", 3).balance).toBe(50);
  });

  it("that is raised mints the difference", () => {
    const exchange = floorWithGrant(50);
    exchange.send("dave SELL 20 YES @ 0.5");
    exchange.fund("dave", { everyMarket: 30 });
    exchange.send("dave SELL 60 YES @ 0.5");
    expect(exchange.shares("dave", "YES")).toEqual({ balance: 80, reserved: 80 });
    exchange.send("dave SELL 80 NO @ 0.99");
    expect(exchange.eventsOf("grantMinted")).toHaveLength(2);
  });

  it("adds to existing shares", () => {
    const exchange = floorWithGrant(50);
    exchange.fund("dave", { yes: 5 });
    exchange.send("dave SELL 55 YES @ 0.5");
    expect(exchange.shares("dave", "NO").balance).toBe(50);
  });

  it("is backed by newly issued USDC", () => {
    const exchange = floorWithGrant(50);
    const { issued } = exchange.state;
    exchange.send("dave SELL 20 YES @ 0.5");
    expect(exchange.state.issued - issued).toBe(50_000_000);
    expect(exchange.state.markets.get(1).supply).toEqual({ yes: 5000, no: 5000, collateral: 50_000_000 });
  });
});

describe("shares of a single outcome", () => {
  it("are minted as full sets, and the faucet gets the other outcome", () => {
    const exchange = new TestExchange();
    exchange.market();
    exchange.fund("dave", { yes: 30, no: 10 });
    const faucet = exchange.state.accounts.get(FAUCET).holdings.get(1);
    expect([exchange.shares("dave", "YES").balance, exchange.shares("dave", "NO").balance]).toEqual([30, 10]);
    expect([faucet?.yes.balance, faucet?.no.balance]).toEqual([1000, 3000]);
    expect(exchange.state.markets.get(1).supply).toEqual({ yes: 4000, no: 4000, collateral: 40_000_000 });
  });

  it("can be requested twice in one command", () => {
    const exchange = new TestExchange();
    exchange.market();
    const tokens = [1, 2].map((shares) => ({ tokenId: exchange.tokenId("YES"), size: size(shares * 100) }));
    const nothing = { collateral: money(0), everyMarket: size(0) };
    exchange.mustSubmit({ kind: "fundAccount", address: addressOf("dave"), tokens, ...nothing });
    expect(exchange.shares("dave", "YES").balance).toBe(3);
  });

  it("of an unknown token make the whole command fail", () => {
    const exchange = new TestExchange();
    exchange.market();
    const tokens = [exchange.tokenId("YES"), "77"].map((tokenId) => ({ tokenId, size: size(100) }));
    const command = { address: addressOf("dave"), collateral: money(5), tokens, everyMarket: size(0) };
    expect(verdictOf(exchange.submit({ kind: "fundAccount", ...command }))).toBe("TOKEN_NOT_FOUND");
    expect(exchange.usdc("dave").balance).toBe(0);
  });
});

describe("USDC", () => {
  it("adds up over several fundings, of a new and of a known address", () => {
    const exchange = new TestExchange();
    exchange.fund("dave", { usdc: 0.000001 });
    exchange.fund("dave", { usdc: 10.5 });
    expect(exchange.usdc("dave").balance).toBe(10.500001);
    expect(exchange.state.accounts.size).toBe(3);
  });

  it("can be issued exactly to the limit", () => {
    const exchange = new TestExchange();
    const fund = (collateral: number) =>
      exchange.submit({
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
    expect(exchange.state.issued).toBe(MAX_ISSUANCE);
  });

  it("that backs a minted grant counts towards the limit", () => {
    const exchange = openFundedExchange();
    exchange.fund("dave", { everyMarket: 10 });
    exchange.fund("eve", { usdc: 4_000_000_000 - 9_000_000 - 9.99 });
    expect(verdictOf(exchange.try("dave SELL 10 YES @ 0.5"))).toBe("ISSUANCE_EXCEEDED");
    expect(exchange.state.issued).toBeLessThanOrEqual(MAX_ISSUANCE);
  });
});
