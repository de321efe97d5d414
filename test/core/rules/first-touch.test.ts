import { describe, expect, it } from "vitest";
import type { ContractCall } from "../../../src/core/chain/transaction.ts";
import { grantDue } from "../../../src/core/rules/ledger.ts";
import { findAccount } from "../../../src/core/state.ts";
import { MAX_ISSUANCE, money, size } from "../../../src/core/units.ts";
import { addressOf } from "../../support/commands.ts";
import { FAUCET_OF_10_000, verdictOf } from "../../support/exchange.ts";
import { mineCall, SettlementExchange } from "../chain/settlement-exchange.ts";

/** Opens two markets without holdings; dave and eve have 10,000 USDC and a grant of 10,000 shares of every token. */
function openFaucet(): SettlementExchange {
  const floor = new SettlementExchange(FAUCET_OF_10_000);
  floor.market();
  floor.market();
  for (const name of ["dave", "eve"]) derive(floor, name);
  return floor;
}

const derive = (floor: SettlementExchange, name: string): void =>
  floor.demand({ kind: "deriveCredentials", address: addressOf(name) });

const sharesOf = (from: string, to: string, ids: readonly string[], shares: number): ContractCall => ({
  kind: "safeTransfer",
  from: addressOf(from),
  to: addressOf(to),
  ids,
  amounts: ids.map(() => String(shares * 1_000_000)),
  isBatch: ids.length > 1,
});

const mintsOf = (floor: SettlementExchange) =>
  floor.eventsOf("grantMinted").map(({ account, market, size }) => [account, market, size / 100]);

/** Accounts 1 and 2 are those of the exchange. */
const [DAVE, EVE] = [3, 4];

describe("the grant of an account in a market is minted", () => {
  it("when it is funded with shares", () => {
    const floor = openFaucet();
    floor.fund("dave", { yes: 7 });
    expect(floor.inLedger("dave")).toEqual({ usdc: 10_000, yes: 10_007, no: 10_000 });
    expect(floor.onChain("dave")).toEqual(floor.inLedger("dave"));
    expect(mintsOf(floor)).toEqual([[DAVE, 1, 10_000]]);
  });

  it("when shares are transferred from or to it", () => {
    const floor = openFaucet();
    expect(mineCall(floor, "dave", sharesOf("dave", "eve", [floor.tokenId("YES")], 5))).toBe("MINED");
    expect(floor.inLedger("dave")).toEqual({ usdc: 10_000, yes: 9_995, no: 10_000 });
    expect(floor.inLedger("eve")).toEqual({ usdc: 10_000, yes: 10_005, no: 10_000 });
    expect(floor.onChain("eve")).toEqual(floor.inLedger("eve"));
    expect(mintsOf(floor)).toEqual([
      [DAVE, 1, 10_000],
      [EVE, 1, 10_000],
    ]);
  });

  it("once for each account and market of a batch", () => {
    const floor = openFaucet();
    const ids = [floor.tokenId("NO", 2), floor.tokenId("YES", 1), floor.tokenId("YES", 2)];
    expect(mineCall(floor, "dave", sharesOf("dave", "eve", ids, 1))).toBe("MINED");
    expect(mintsOf(floor)).toEqual([
      [DAVE, 1, 10_000],
      [DAVE, 2, 10_000],
      [EVE, 1, 10_000],
      [EVE, 2, 10_000],
    ]);
    expect(floor.inLedger("eve", 2)).toEqual({ usdc: 10_000, yes: 10_001, no: 10_001 });
  });

  it("when it splits a set", () => {
    const floor = openFaucet();
    expect(mineCall(floor, "dave", floor.split(3))).toBe("MINED");
    expect(floor.inLedger("dave")).toEqual({ usdc: 9_997, yes: 10_003, no: 10_003 });
  });

  it("not by a transfer of no shares or of USDC, or that reverts", () => {
    const floor = openFaucet();
    const yes = [floor.tokenId("YES")];
    expect(mineCall(floor, "dave", sharesOf("dave", "eve", yes, 0))).toBe("MINED");
    expect(mineCall(floor, "dave", sharesOf("dave", "eve", yes, 10_001))).toContain("insufficient balance");
    floor.fund("dave", { usdc: 1 });
    expect(mintsOf(floor)).toEqual([]);
  });
});

describe("a grant that is raised", () => {
  it("by the first derivation is minted at once in the markets touched before", () => {
    const floor = openFaucet();
    floor.fund("frank", { yes: 7 });
    expect(floor.inLedger("frank")).toEqual({ usdc: 0, yes: 7, no: 0 });
    derive(floor, "frank");
    expect(floor.inLedger("frank")).toEqual({ usdc: 10_000, yes: 10_007, no: 10_000 });
    expect(floor.inLedger("frank", 2)).toEqual({ usdc: 10_000, yes: 0, no: 0 });
  });

  it("together with shares is minted in their market by the same command", () => {
    const floor = openFaucet();
    floor.fund("frank", { yes: 7, everyMarket: 20 });
    expect(floor.inLedger("frank")).toEqual({ usdc: 0, yes: 27, no: 20 });
  });

  it("is minted at once where the account has shares, in order of market number", () => {
    const floor = openFaucet();
    floor.fund("frank", {});
    const touch = (market: number): void =>
      floor.demand({
        kind: "fundAccount",
        address: addressOf("frank"),
        collateral: money(0),
        tokens: [{ tokenId: floor.tokenId("NO", market), size: size(100) }],
        everyMarket: size(0),
      });
    touch(2);
    touch(1);
    floor.fund("frank", { everyMarket: 4 });
    const account = findAccount(floor.state, addressOf("frank"));
    expect(mintsOf(floor)).toEqual([
      [account?.number, 1, 4],
      [account?.number, 2, 4],
    ]);
    expect(account === undefined ? null : [1, 2].map((market) => grantDue(account, market))).toEqual([0, 0]);
  });
});

describe("if the exchange may not issue enough USDC for the grant", () => {
  /** Leaves this much USDC to issue. */
  const openWithLeft = (left: number): SettlementExchange => {
    const floor = openFaucet();
    floor.fund("frank", { yes: 1 });
    floor.fund("grace", { usdc: (MAX_ISSUANCE - floor.state.issued) / 1_000_000 - left });
    return floor;
  };

  it("funding with shares is refused", () => {
    const floor = openWithLeft(10_006.99);
    expect(() => floor.fund("dave", { yes: 7 })).toThrow("ISSUANCE_EXCEEDED");
    floor.fund("dave", { yes: 6.99 });
    expect(floor.state.issued).toBe(MAX_ISSUANCE);
  });

  it("a transfer reverts", () => {
    const floor = openWithLeft(19_999.99);
    const call = sharesOf("dave", "eve", [floor.tokenId("YES")], 5);
    expect(mineCall(floor, "dave", call)).toBe("clobsim: the exchange has issued all that it can");
    expect(mintsOf(floor)).toEqual([]);
  });

  it("the first derivation is refused", () => {
    const floor = openWithLeft(19_999.99);
    const command = { kind: "deriveCredentials", address: addressOf("frank") } as const;
    expect(verdictOf(floor.submit(command))).toBe("ISSUANCE_EXCEEDED");
    expect(floor.inLedger("frank")).toEqual({ usdc: 0, yes: 1, no: 0 });
  });
});
