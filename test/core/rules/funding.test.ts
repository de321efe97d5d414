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

const mintsIn = (floor: TestExchange) => floor.events.filter(({ kind }) => kind === "grantMinted");

describe("a grant of shares in every market", () => {
  it("is minted when the account first places an order in a market, and only there", () => {
    const floor = floorWithGrant(50);
    expect(floor.shares("dave", "YES")).toEqual({ balance: 0, reserved: 0 });
    floor.send("dave SELL 20 NO @ 0.5");
    expect(floor.shares("dave", "YES")).toEqual({ balance: 50, reserved: 0 });
    expect(floor.shares("dave", "NO")).toEqual({ balance: 50, reserved: 20 });
    expect(floor.shares("dave", "YES", 2)).toEqual({ balance: 0, reserved: 0 });
  });

  it("is minted by a buy as by a sale, and by an order that is killed", () => {
    const floor = floorWithGrant(50);
    floor.send("dave BUY 20 NO @ 0.5 FOK");
    expect(floor.shares("dave", "YES").balance).toBe(50);
  });

  it("is minted once", () => {
    const floor = floorWithGrant(50);
    floor.send("dave SELL 20 YES @ 0.5", "dave SELL 20 YES @ 0.5");
    expect(mintsIn(floor)).toHaveLength(1);
  });

  it("counts as available before it is minted, to the last share", () => {
    const floor = floorWithGrant(50);
    expect(verdictOf(floor.try("dave SELL 50.01 YES @ 0.5"))).toBe("INSUFFICIENT_BALANCE");
    expect(mintsIn(floor)).toEqual([]);
    expect(verdictOf(floor.try("dave SELL 50 YES @ 0.5"))).toBe("ok");
  });

  it("is minted in a market that opens later", () => {
    const floor = floorWithGrant(50);
    floor.market();
    floor.demand(floor.command("dave SELL 50 YES @ 0.5", 3));
    expect(floor.shares("dave", "NO", 3).balance).toBe(50);
  });

  it("that is raised is minted for the difference", () => {
    const floor = floorWithGrant(50);
    floor.send("dave SELL 20 YES @ 0.5");
    floor.fund("dave", { everyMarket: 30 });
    floor.send("dave SELL 60 YES @ 0.5");
    expect(floor.shares("dave", "YES")).toEqual({ balance: 80, reserved: 80 });
    floor.send("dave SELL 80 NO @ 0.99");
    expect(mintsIn(floor)).toHaveLength(2);
  });

  it("comes on top of shares that were there", () => {
    const floor = floorWithGrant(50);
    floor.fund("dave", { yes: 5 });
    floor.send("dave SELL 55 YES @ 0.5");
    expect(floor.shares("dave", "NO").balance).toBe(50);
  });

  it("is backed by USDC issued then", () => {
    const floor = floorWithGrant(50);
    const { issued } = floor.state;
    floor.send("dave SELL 20 YES @ 0.5");
    expect(floor.state.issued - issued).toBe(50_000_000);
    expect(floor.state.markets.get(1).supply).toEqual({ yes: 5000, no: 5000, collateral: 50_000_000 });
  });
});

describe("shares of a single outcome", () => {
  it("are minted as full sets whose other half goes to the faucet", () => {
    const floor = new TestExchange();
    floor.market();
    floor.fund("dave", { yes: 30, no: 10 });
    const faucet = floor.state.accounts.get(FAUCET).holdings.get(1);
    expect([floor.shares("dave", "YES").balance, floor.shares("dave", "NO").balance]).toEqual([30, 10]);
    expect([faucet?.yes.balance, faucet?.no.balance]).toEqual([1000, 3000]);
    expect(floor.state.markets.get(1).supply).toEqual({ yes: 4000, no: 4000, collateral: 40_000_000 });
  });

  it("may be asked for twice in one command", () => {
    const floor = new TestExchange();
    floor.market();
    const tokens = [1, 2].map((shares) => ({ tokenId: floor.tokenId("YES"), size: size(shares * 100) }));
    const nothing = { collateral: money(0), everyMarket: size(0) };
    floor.demand({ kind: "fundAccount", address: addressOf("dave"), tokens, ...nothing });
    expect(floor.shares("dave", "YES").balance).toBe(3);
  });

  it("of an unknown token leave the others unfunded as well", () => {
    const floor = new TestExchange();
    floor.market();
    const tokens = [floor.tokenId("YES"), "77"].map((tokenId) => ({ tokenId, size: size(100) }));
    const command = { address: addressOf("dave"), collateral: money(5), tokens, everyMarket: size(0) };
    expect(verdictOf(floor.submit({ kind: "fundAccount", ...command }))).toBe("TOKEN_NOT_FOUND");
    expect(floor.usdc("dave").balance).toBe(0);
  });
});

describe("USDC", () => {
  it("adds up over several fundings, for an address that never was and one that is known", () => {
    const floor = new TestExchange();
    floor.fund("dave", { usdc: 0.000001 });
    floor.fund("dave", { usdc: 10.5 });
    expect(floor.usdc("dave").balance).toBe(10.500001);
    expect(floor.state.accounts.size).toBe(3);
  });

  it("can be issued to the limit and not a millionth further", () => {
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

  it("locked behind a grant that is minted counts towards the limit", () => {
    const floor = openFloor();
    floor.fund("dave", { everyMarket: 10 });
    floor.fund("eve", { usdc: 4_000_000_000 - 9_000_000 - 9.99 });
    expect(verdictOf(floor.try("dave SELL 10 YES @ 0.5"))).toBe("ISSUANCE_EXCEEDED");
    expect(floor.state.issued).toBeLessThanOrEqual(MAX_ISSUANCE);
  });
});
