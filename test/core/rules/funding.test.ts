import { describe, expect, it } from "vitest";
import { type Balance, emptyBalance } from "../../../src/core/account.ts";
import type { ContractCall } from "../../../src/core/chain/transaction.ts";
import type { CommandOf } from "../../../src/core/commands.ts";
import { credit, grantDue, reserve } from "../../../src/core/rules/ledger.ts";
import { FAUCET, findAccount } from "../../../src/core/state.ts";
import { MAX_ISSUANCE, type Money, money, size } from "../../../src/core/units.ts";
import { addressOf } from "../../support/commands.ts";
import { FAUCET_OF_10_000, TestExchange, verdictOf } from "../../support/exchange.ts";
import { mineCall, SettlementExchange } from "../chain/settlement-exchange.ts";

const fundCommand = (name: string, terms: Partial<CommandOf<"fundAccount">>): CommandOf<"fundAccount"> => ({
  ...{ kind: "fundAccount", address: addressOf(name), tokens: [] },
  ...{ collateral: money(0), everyMarket: size(0), ...terms },
});

describe("a balance", () => {
  it.for([
    ["is debited down to the reserved amount", credit, -6, [4, 4], "balance 3 below reserved 4"],
    ["is reserved up to the whole", reserve, 6, [10, 10], "reserved 11 of a balance of 10"],
    ["is released down to 0", reserve, -4, [10, 0], "reserved -1 of a balance of 10"],
  ] as const)("%s, and a change beyond throws", ([_rule, change, amount, expected, error]) => {
    const balance: Balance<Money> = { ...emptyBalance(), balance: money(10), reserved: money(4) };
    change(balance, amount);
    expect([balance.balance, balance.reserved]).toEqual(expected);
    expect(() => change(balance, Math.sign(amount))).toThrow(error);
  });
});

describe("USDC", () => {
  it("adds up over several fundings, of a new and of a known address", () => {
    const exchange = new TestExchange();
    for (const usdc of [0.000001, 10.5]) exchange.fund("dave", { usdc });
    expect([exchange.usdc("dave").balance, exchange.state.accounts.size]).toEqual([10.500001, 3]);
  });

  it("can be issued exactly to the limit", () => {
    const exchange = new TestExchange();
    const fund = (collateral: number) =>
      exchange.submit(fundCommand("dave", { collateral: money(collateral) }));
    expect(verdictOf(fund(MAX_ISSUANCE + 1))).toBe("ISSUANCE_EXCEEDED");
    expect(verdictOf(fund(MAX_ISSUANCE - 1))).toBe("ok");
    expect(fund(2)).toMatchObject({ refusal: { code: "ISSUANCE_EXCEEDED", asked: 2, left: 1 } });
    expect(verdictOf(fund(1))).toBe("ok");
    expect(exchange.state.issued).toBe(MAX_ISSUANCE);
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

  it("can be requested twice in one command, which fails as a whole if it has an unknown token", () => {
    const exchange = new TestExchange();
    exchange.market();
    const fund = (...tokenIds: readonly string[]) => {
      const tokens = tokenIds.map((tokenId, index) => ({ tokenId, size: size(100 * (index + 1)) }));
      return verdictOf(exchange.submit(fundCommand("dave", { collateral: money(5), tokens })));
    };
    expect(fund(exchange.tokenId("YES"), "77")).toBe("TOKEN_NOT_FOUND");
    expect(exchange.usdc("dave").balance).toBe(0);
    expect(fund(exchange.tokenId("YES"), exchange.tokenId("YES"))).toBe("ok");
    expect(exchange.shares("dave", "YES").balance).toBe(3);
  });
});

describe("deriving credentials", () => {
  const rotating = (...names: readonly string[]): TestExchange => {
    const exchange = new TestExchange({ ...FAUCET_OF_10_000, credentials: "rotate" });
    exchange.market();
    exchange.fund("erin", { usdc: 1 });
    for (const name of names) exchange.derive(name);
    return exchange;
  };
  const derivationsOf = ({ state }: TestExchange, name: string) =>
    findAccount(state, addressOf(name))?.derivations;

  it("for the first time opens the account if necessary, and funds it from the faucet", () => {
    const exchange = rotating("dave", "erin");
    expect([exchange.usdc("dave").balance, exchange.usdc("erin").balance]).toEqual([10_000, 10_001]);
    exchange.send("dave SELL 10000 NO @ 0.5");
    expect([exchange.shares("dave", "YES").balance, exchange.state.accounts.size]).toEqual([10_000, 4]);
  });

  it("again is counted and adds no funds if credentials rotate", () => {
    const exchange = rotating("dave", "dave", "dave");
    expect([derivationsOf(exchange, "dave"), exchange.usdc("dave").balance]).toEqual([3, 10_000]);
  });

  it("with an empty faucet adds no funds; again it is refused per address if derived once", () => {
    const exchange = new TestExchange({ credentials: "once" });
    const verdicts = ["dave", "dave", "eve", "dave"].map((name) =>
      verdictOf(exchange.submit({ kind: "deriveCredentials", address: addressOf(name) })),
    );
    const refused = "CREDENTIALS_ALREADY_DERIVED";
    expect(verdicts).toEqual(["ok", refused, "ok", refused]);
    const kinds = exchange.events.map(({ kind }) => kind);
    expect(kinds.slice(0, 2)).toEqual(["accountOpened", "credentialsDerived"]);
    expect(derivationsOf(exchange, "dave")).toBe(1);
  });
});

/** Accounts 1 and 2 are those of the exchange. */
const [DAVE, EVE, FRANK] = [3, 4, 5];

/** Returns account, market and shares of each grant that was minted. */
const mintsOf = (exchange: TestExchange): number[][] =>
  exchange.eventsOf("grantMinted").map(({ account, market, size }) => [account, market, size / 100]);

describe("a grant of shares in every market", () => {
  function opened(): TestExchange {
    const exchange = new TestExchange();
    for (let market = 1; market <= 2; market += 1) exchange.market();
    exchange.fund("dave", { usdc: 100, everyMarket: 50 });
    return exchange;
  }

  it("is available at once, and minted once, with the account's first order in a market", () => {
    const exchange = opened();
    const { issued } = exchange.state;
    expect(verdictOf(exchange.try("dave SELL 50.01 NO @ 0.5"))).toBe("INSUFFICIENT_BALANCE");
    expect(mintsOf(exchange)).toEqual([]);
    exchange.send("dave SELL 20 NO @ 0.5", "dave SELL 30 NO @ 0.5");
    expect(mintsOf(exchange)).toEqual([[DAVE, 1, 50]]);
    expect(exchange.shares("dave", "YES")).toEqual({ balance: 50, reserved: 0 });
    expect(exchange.shares("dave", "NO")).toEqual({ balance: 50, reserved: 50 });
    expect(exchange.state.issued - issued).toBe(50_000_000);
    expect(exchange.state.markets.get(1).supply).toEqual({ yes: 5000, no: 5000, collateral: 50_000_000 });
  });

  it("is minted by a canceled buy too, and in a market created later", () => {
    const exchange = opened();
    exchange.send("dave BUY 20 NO @ 0.5 FOK");
    exchange.market();
    exchange.mustSubmit(exchange.command("dave SELL 50 YES @ 0.5", 3));
    expect(mintsOf(exchange)).toEqual([1, 3].map((market) => [DAVE, market, 50]));
  });

  it("that is raised mints the difference, and adds to existing shares", () => {
    const exchange = opened();
    exchange.act("fund dave yes=5; dave SELL 20 YES @ 0.5; fund dave everyMarket=30");
    exchange.send("dave SELL 65 YES @ 0.5", "dave SELL 80 NO @ 0.99");
    expect(exchange.shares("dave", "YES")).toEqual({ balance: 85, reserved: 85 });
    expect(mintsOf(exchange)).toEqual([50, 30].map((shares) => [DAVE, 1, shares]));
  });
});

/** Opens two markets without holdings; dave and eve have 10,000 USDC and a grant of 10,000 shares of every token. */
function openFaucet(): SettlementExchange {
  const exchange = new SettlementExchange(FAUCET_OF_10_000);
  for (let market = 1; market <= 2; market += 1) exchange.market();
  exchange.act("derive dave eve");
  return exchange;
}

/** Dave sends shares of each token to eve. */
const toEve = (exchange: SettlementExchange, ids: readonly string[], shares: number): string => {
  const amounts = ids.map(() => String(shares * 1_000_000));
  const parties = { from: addressOf("dave"), to: addressOf("eve") };
  const call: ContractCall = { kind: "safeTransfer", ...parties, ids, amounts, isBatch: ids.length > 1 };
  return mineCall(exchange, "dave", call);
};

describe("the grant of an account in a market is minted", () => {
  it("when it is funded with shares, in the ledger and on the chain", () => {
    const exchange = openFaucet();
    exchange.fund("dave", { yes: 7 });
    expect(exchange.inLedger("dave")).toEqual({ usdc: 10_000, yes: 10_007, no: 10_000 });
    expect(exchange.onChain("dave")).toEqual(exchange.inLedger("dave"));
    expect(mintsOf(exchange)).toEqual([[DAVE, 1, 10_000]]);
  });

  it("when shares are transferred from or to it, once for each account and market of a batch", () => {
    const exchange = openFaucet();
    const ids = [exchange.tokenId("NO", 2), exchange.tokenId("YES", 1), exchange.tokenId("YES", 2)];
    expect(toEve(exchange, ids, 5)).toBe("MINED");
    const markets = [DAVE, EVE].flatMap((account) => [1, 2].map((market) => [account, market, 10_000]));
    expect(mintsOf(exchange)).toEqual(markets);
    expect(exchange.inLedger("dave")).toEqual({ usdc: 10_000, yes: 9_995, no: 10_000 });
    expect(exchange.inLedger("eve", 2)).toEqual({ usdc: 10_000, yes: 10_005, no: 10_005 });
    expect(exchange.onChain("eve")).toEqual(exchange.inLedger("eve"));
  });

  it("when it splits a set", () => {
    const exchange = openFaucet();
    expect(mineCall(exchange, "dave", exchange.split(3))).toBe("MINED");
    expect(exchange.inLedger("dave")).toEqual({ usdc: 9_997, yes: 10_003, no: 10_003 });
  });

  it("not by a transfer of no shares or of USDC, or that reverts", () => {
    const exchange = openFaucet();
    const yes = [exchange.tokenId("YES")];
    expect(toEve(exchange, yes, 0)).toBe("MINED");
    expect(toEve(exchange, yes, 10_001)).toContain("insufficient balance");
    exchange.fund("dave", { usdc: 1 });
    expect(mintsOf(exchange)).toEqual([]);
  });
});

describe("a grant that is raised", () => {
  it("by the first derivation is minted at once in the markets touched before", () => {
    const exchange = openFaucet();
    exchange.fund("frank", { yes: 7 });
    exchange.derive("frank");
    expect(exchange.inLedger("frank")).toEqual({ usdc: 10_000, yes: 10_007, no: 10_000 });
    expect(exchange.inLedger("frank", 2)).toEqual({ usdc: 10_000, yes: 0, no: 0 });
  });

  it("together with shares is minted in their market; later, where the account has shares, by market", () => {
    const exchange = openFaucet();
    exchange.fund("frank", { no: 7, everyMarket: 20 }, 2);
    expect(exchange.inLedger("frank", 2)).toEqual({ usdc: 0, yes: 20, no: 27 });
    exchange.fund("frank", { no: 1 }, 1);
    exchange.fund("frank", { everyMarket: 4 });
    const account = findAccount(exchange.state, addressOf("frank"));
    expect(mintsOf(exchange).slice(-2)).toEqual([1, 2].map((market) => [FRANK, market, 4]));
    expect([1, 2].map((market) => grantDue(account, market))).toEqual([0, 0]);
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

  it("an order is refused", () => {
    expect(verdictOf(openWithLeft(9_999.99).try("dave SELL 1 YES @ 0.5"))).toBe("ISSUANCE_EXCEEDED");
    expect(verdictOf(openWithLeft(10_000).try("dave SELL 1 YES @ 0.5"))).toBe("ok");
  });

  it("funding with shares is refused", () => {
    const exchange = openWithLeft(10_006.99);
    expect(() => exchange.fund("dave", { yes: 7 })).toThrow("ISSUANCE_EXCEEDED");
    exchange.fund("dave", { yes: 6.99 });
    expect(exchange.state.issued).toBe(MAX_ISSUANCE);
  });

  it("a transfer reverts, and the first derivation is refused", () => {
    const exchange = openWithLeft(19_999.99);
    const why = toEve(exchange, [exchange.tokenId("YES")], 5);
    expect(why).toBe("clobsim: the exchange has issued all that it can");
    expect(() => exchange.derive("frank")).toThrow("ISSUANCE_EXCEEDED");
    expect([mintsOf(exchange), exchange.inLedger("frank")]).toEqual([[], { usdc: 0, yes: 1, no: 0 }]);
  });
});
