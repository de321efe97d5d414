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
  const exchange = new SettlementExchange(FAUCET_OF_10_000);
  exchange.market();
  exchange.market();
  for (const name of ["dave", "eve"]) derive(exchange, name);
  return exchange;
}

const derive = (exchange: SettlementExchange, name: string): void =>
  exchange.mustSubmit({ kind: "deriveCredentials", address: addressOf(name) });

const sharesOf = (from: string, to: string, ids: readonly string[], shares: number): ContractCall => ({
  kind: "safeTransfer",
  from: addressOf(from),
  to: addressOf(to),
  ids,
  amounts: ids.map(() => String(shares * 1_000_000)),
  isBatch: ids.length > 1,
});

const mintsOf = (exchange: SettlementExchange) =>
  exchange.eventsOf("grantMinted").map(({ account, market, size }) => [account, market, size / 100]);

/** Accounts 1 and 2 are those of the exchange. */
const [DAVE, EVE] = [3, 4];

describe("the grant of an account in a market is minted", () => {
  it("when it is funded with shares", () => {
    const exchange = openFaucet();
    exchange.fund("dave", { yes: 7 });
    expect(exchange.inLedger("dave")).toEqual({ usdc: 10_000, yes: 10_007, no: 10_000 });
    expect(exchange.onChain("dave")).toEqual(exchange.inLedger("dave"));
    expect(mintsOf(exchange)).toEqual([[DAVE, 1, 10_000]]);
  });

  it("when shares are transferred from or to it", () => {
    const exchange = openFaucet();
    expect(mineCall(exchange, "dave", sharesOf("dave", "eve", [exchange.tokenId("YES")], 5))).toBe("MINED");
    expect(exchange.inLedger("dave")).toEqual({ usdc: 10_000, yes: 9_995, no: 10_000 });
    expect(exchange.inLedger("eve")).toEqual({ usdc: 10_000, yes: 10_005, no: 10_000 });
    expect(exchange.onChain("eve")).toEqual(exchange.inLedger("eve"));
    expect(mintsOf(exchange)).toEqual([
      [DAVE, 1, 10_000],
      [EVE, 1, 10_000],
    ]);
  });

  it("once for each account and market of a batch", () => {
    const exchange = openFaucet();
    const ids = [exchange.tokenId("NO", 2), exchange.tokenId("YES", 1), exchange.tokenId("YES", 2)];
    expect(mineCall(exchange, "dave", sharesOf("dave", "eve", ids, 1))).toBe("MINED");
    expect(mintsOf(exchange)).toEqual([
      [DAVE, 1, 10_000],
      [DAVE, 2, 10_000],
      [EVE, 1, 10_000],
      [EVE, 2, 10_000],
    ]);
    expect(exchange.inLedger("eve", 2)).toEqual({ usdc: 10_000, yes: 10_001, no: 10_001 });
  });

  it("when it splits a set", () => {
    const exchange = openFaucet();
    expect(mineCall(exchange, "dave", exchange.split(3))).toBe("MINED");
    expect(exchange.inLedger("dave")).toEqual({ usdc: 9_997, yes: 10_003, no: 10_003 });
  });

  it("not by a transfer of no shares or of USDC, or that reverts", () => {
    const exchange = openFaucet();
    const yes = [exchange.tokenId("YES")];
    expect(mineCall(exchange, "dave", sharesOf("dave", "eve", yes, 0))).toBe("MINED");
    expect(mineCall(exchange, "dave", sharesOf("dave", "eve", yes, 10_001))).toContain(
      "insufficient balance",
    );
    exchange.fund("dave", { usdc: 1 });
    expect(mintsOf(exchange)).toEqual([]);
  });
});

describe("a grant that is raised", () => {
  it("by the first derivation is minted at once in the markets touched before", () => {
    const exchange = openFaucet();
    exchange.fund("frank", { yes: 7 });
    expect(exchange.inLedger("frank")).toEqual({ usdc: 0, yes: 7, no: 0 });
    derive(exchange, "frank");
    expect(exchange.inLedger("frank")).toEqual({ usdc: 10_000, yes: 10_007, no: 10_000 });
    expect(exchange.inLedger("frank", 2)).toEqual({ usdc: 10_000, yes: 0, no: 0 });
  });

  it("together with shares is minted in their market by the same command", () => {
    const exchange = openFaucet();
    exchange.fund("frank", { yes: 7, everyMarket: 20 });
    expect(exchange.inLedger("frank")).toEqual({ usdc: 0, yes: 27, no: 20 });
  });

  it("is minted at once where the account has shares, in order of market number", () => {
    const exchange = openFaucet();
    exchange.fund("frank", {});
    const touch = (market: number): void =>
      exchange.mustSubmit({
        kind: "fundAccount",
        address: addressOf("frank"),
        collateral: money(0),
        tokens: [{ tokenId: exchange.tokenId("NO", market), size: size(100) }],
        everyMarket: size(0),
      });
    touch(2);
    touch(1);
    exchange.fund("frank", { everyMarket: 4 });
    const account = findAccount(exchange.state, addressOf("frank"));
    expect(mintsOf(exchange)).toEqual([
      [account?.number, 1, 4],
      [account?.number, 2, 4],
    ]);
    expect(account === undefined ? null : [1, 2].map((market) => grantDue(account, market))).toEqual([0, 0]);
  });
});

describe("if the exchange may not issue enough USDC for the grant", () => {
  /** Leaves this much USDC to issue. */
  const openWithLeft = (left: number): SettlementExchange => {
    const exchange = openFaucet();
    exchange.fund("frank", { yes: 1 });
    exchange.fund("grace", { usdc: (MAX_ISSUANCE - exchange.state.issued) / 1_000_000 - left });
    return exchange;
  };

  it("funding with shares is refused", () => {
    const exchange = openWithLeft(10_006.99);
    expect(() => exchange.fund("dave", { yes: 7 })).toThrow("ISSUANCE_EXCEEDED");
    exchange.fund("dave", { yes: 6.99 });
    expect(exchange.state.issued).toBe(MAX_ISSUANCE);
  });

  it("a transfer reverts", () => {
    const exchange = openWithLeft(19_999.99);
    const call = sharesOf("dave", "eve", [exchange.tokenId("YES")], 5);
    expect(mineCall(exchange, "dave", call)).toBe("clobsim: the exchange has issued all that it can");
    expect(mintsOf(exchange)).toEqual([]);
  });

  it("the first derivation is refused", () => {
    const exchange = openWithLeft(19_999.99);
    const command = { kind: "deriveCredentials", address: addressOf("frank") } as const;
    expect(verdictOf(exchange.submit(command))).toBe("ISSUANCE_EXCEEDED");
    expect(exchange.inLedger("frank")).toEqual({ usdc: 0, yes: 1, no: 0 });
  });
});
