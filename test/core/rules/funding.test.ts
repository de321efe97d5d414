import { describe, expect, it } from "vitest";
import { type Balance, emptyBalance } from "../../../src/core/account.ts";
import type { ContractCall } from "../../../src/core/chain/transaction.ts";
import { credit, reserve } from "../../../src/core/rules/ledger.ts";
import { FAUCET } from "../../../src/core/state.ts";
import { MAX_ISSUANCE, type Money, money, size } from "../../../src/core/units.ts";
import { addressOf, fundCommand } from "../../support/commands.ts";
import { FAUCET_OF_10_000, TestExchange, verdictOf } from "../../support/exchange.ts";
import { rowsOf } from "../../support/table.ts";
import { mineCall, SettlementExchange } from "../chain/settlement-exchange.ts";

const DAVES = addressOf("dave");

it.for([
  ["is debited down to the reserved amount", credit, -6, [4, 4], "balance 3 below reserved 4"],
  ["is reserved up to the whole", reserve, 6, [10, 10], "reserved 11 of a balance of 10"],
  ["is released down to 0", reserve, -4, [10, 0], "reserved -1 of a balance of 10"],
] as const)("a balance %s, and a change beyond throws", ([_rule, change, amount, expected, error]) => {
  const balance: Balance<Money> = { ...emptyBalance(), balance: money(10), reserved: money(4) };
  change(balance, amount);
  expect([balance.balance, balance.reserved]).toEqual(expected);
  expect(() => change(balance, Math.sign(amount))).toThrow(error);
});

it("USDC can be issued exactly to the limit", () => {
  const exchange = new TestExchange();
  const fund = (collateral: number) => exchange.submit(fundCommand(DAVES, { collateral: money(collateral) }));
  expect(verdictOf(fund(MAX_ISSUANCE + 1))).toBe("ISSUANCE_EXCEEDED");
  expect(verdictOf(fund(MAX_ISSUANCE - 1))).toBe("ok");
  expect(fund(2)).toMatchObject({ refusal: { code: "ISSUANCE_EXCEEDED", asked: 2, left: 1 } });
  expect(verdictOf(fund(1))).toBe("ok");
  expect(exchange.state.issued).toBe(MAX_ISSUANCE);
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
      return verdictOf(exchange.submit(fundCommand(DAVES, { collateral: money(5), tokens })));
    };
    expect(fund(exchange.tokenId("YES"), "77")).toBe("TOKEN_NOT_FOUND");
    expect(exchange.usdc("dave").balance).toBe(0);
    expect(fund(exchange.tokenId("YES"), exchange.tokenId("YES"))).toBe("ok");
    expect(exchange.shares("dave", "YES").balance).toBe(3);
  });
});

/** Accounts 1 and 2 are those of the exchange. */
const [DAVE, EVE] = [3, 4];

/** Returns account, market and shares of each grant that was minted. */
const mintsOf = (exchange: TestExchange): number[][] =>
  exchange.eventsOf("grantMinted").map(({ account, market, size }) => [account, market, size / 100]);

/** Opens two markets without holdings; dave and eve have 10,000 USDC and a grant of 10,000 shares of every token. */
function openFaucet(): SettlementExchange {
  const exchange = new SettlementExchange(FAUCET_OF_10_000);
  for (let market = 1; market <= 2; market += 1) exchange.market();
  exchange.act("derive dave eve");
  return exchange;
}

it.each(
  rowsOf(`
    opens the account, and funds it from the faucet | derive gus; gus SELL 10000 NO @ 0.5 | gus 10000 10000 10000
    funds an account that exists | fund gus usdc=1; derive gus | gus 10001 0 0
    again adds no funds if credentials rotate | derive gus gus gus | gus 10000 0 0
  `),
)("deriving credentials %s", (_rule, words = "", funds) => {
  const exchange = openFaucet();
  exchange.act(words);
  expect(exchange.funds("gus")).toBe(funds);
});

it("deriving credentials with an empty faucet adds no funds, and is refused again for the same address if derived once", () => {
  const exchange = new SettlementExchange({ credentials: "once" });
  const again = "derive dave refused CREDENTIALS_ALREADY_DERIVED";
  exchange.act(`derive dave; ${again}; derive eve; ${again}`);
  expect(exchange.events).toMatchObject(
    ["dave", "eve"].flatMap((name) => {
      const address = addressOf(name);
      return [{ kind: "accountOpened", address }, { kind: "credentialsDerived" }];
    }),
  );
});

/** Dave sends shares of each token to eve. */
const toEve = (exchange: SettlementExchange, ids: readonly string[], shares: number): string => {
  const amounts = ids.map(() => String(shares * 1_000_000));
  const parties = { from: addressOf("dave"), to: addressOf("eve") };
  const call: ContractCall = { kind: "safeTransfer", ...parties, ids, amounts, isBatch: ids.length > 1 };
  return mineCall(exchange, "dave", call);
};

/** Rule, what happens, the market and the shares of each grant that was minted, and what the first account has in market 1. */
const MINTED = rowsOf(`
with the account's first order in a market, once | fund gus usdc=100 everyMarket=50; gus SELL 20 NO @ 0.5; gus SELL 30 NO @ 0.5 | 1: 50 | gus 100 50 50
by a canceled buy too, and in a market created later | fund gus usdc=100 everyMarket=50; gus BUY 20 NO @ 0.5 FOK; market later; gus SELL 50 YES @ 0.5 in 3 | 1: 50, 3: 50 | gus 100 50 50
as a difference if it is raised, and adds to existing shares | fund gus yes=5; fund gus everyMarket=50; gus SELL 20 YES @ 0.5; fund gus everyMarket=30; gus SELL 65 YES @ 0.5; gus SELL 80 NO @ 0.99 | 1: 50, 1: 30 | gus 0 85 80
with shares that the account is funded with, in the ledger and on the chain | fund dave yes=7 | 1: 10000 | dave 10000 10007 10000
when the account splits a set | split dave 3; mine | 1: 10000 | dave 9997 10003 10003
at once in the markets touched before if the first derivation raises it | fund frank yes=7; derive frank | 1: 10000 | frank 10000 10007 10000
together with shares in their market; later, where the account has shares, by market | fund frank no=7 everyMarket=20 in 2; fund frank no=1; fund frank everyMarket=4 | 2: 20, 1: 20, 1: 4, 2: 4 | frank 0 24 25
`);

describe("the grant of an account in a market is minted", () => {
  it.each(MINTED)("%s", (_rule, words = "", mints = "", funds = "") => {
    const exchange = openFaucet();
    exchange.act(words);
    expect(mintsOf(exchange).map(([, market, shares]) => `${market}: ${shares}`)).toEqual(mints.split(", "));
    expect(exchange.funds(funds.split(" ")[0] ?? "")).toBe(funds);
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

  it("not by a transfer of no shares or of USDC, or that reverts", () => {
    const exchange = openFaucet();
    const yes = [exchange.tokenId("YES")];
    expect(toEve(exchange, yes, 0)).toBe("MINED");
    expect(toEve(exchange, yes, 10_001)).toContain("insufficient balance");
    exchange.fund("dave", { usdc: 1 });
    expect(mintsOf(exchange)).toEqual([]);
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

  it.each([
    ["an order is refused", 9_999.99, "dave SELL 1 YES @ 0.5 refused ISSUANCE_EXCEEDED", 9_999.99],
    ["an order is accepted if it is just enough", 10_000, "dave SELL 1 YES @ 0.5", 0],
    ["funding with shares is refused", 10_006.99, "fund dave yes=7 refused ISSUANCE_EXCEEDED", 10_006.99],
    ["funding is accepted if it is just enough", 10_006.99, "fund dave yes=6.99", 0],
    ["the first derivation is refused", 19_999.99, "derive frank refused ISSUANCE_EXCEEDED", 19_999.99],
  ])("%s", (_rule, left, words, leftAfter) => {
    const exchange = openWithLeft(left);
    exchange.act(words);
    expect((MAX_ISSUANCE - exchange.state.issued) / 1_000_000).toBe(leftAfter);
  });

  it("a transfer reverts", () => {
    const exchange = openWithLeft(19_999.99);
    const why = toEve(exchange, [exchange.tokenId("YES")], 5);
    expect(why).toBe("clobsim: the exchange has issued all that it can");
    expect(mintsOf(exchange)).toEqual([]);
  });
});
