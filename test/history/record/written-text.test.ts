import { describe, expect, it } from "vitest";
import { money, size } from "../../../src/core/units.ts";
import { recordOf, refusalOf } from "./session-exchange.ts";

/** Returns the matching lines of a scenario, without indentation. */
const linesLike = (scenario: string, pattern: RegExp): string[] =>
  scenario
    .split("\n")
    .filter((line) => pattern.test(line))
    .map((line) => line.trim());

/** Returns the first lines of the steps of the session. */
const stepsOf = (scenario: string): string[] =>
  linesLike(scenario.slice(scenario.indexOf("# The session.")), /^ {2}- /).map((line) => line.slice(2));

it("a recorded scenario has markets, accounts, opening steps, the session and its result", () => {
  const { scenario, name, orders, trades } = recordOf(
    `market rain feeRateBps=100 minOrderSize=5; market quiet; fund maker usdc=1000 everyMarket=500; fund dev usdc=10;
      maker BUY 100 YES @ 0.4; maker SELL 50 YES @ 0.6; dev BUY 7 NO @ 0.6 FAK; maker BUY 10 NO @ 0.3 in 2`,
    `market snow matching="independent" tickSize=0.001 selfTrade="cancel-maker"; derive alice;
      alice BUY 60 YES @ 0.7; alice BUY 10 YES @ 0.125 GTD 5s in 3; advance 2s; fund bob usdc=12.5 yes=20;
      bob SELL 20 YES @ 0.3 FOK; alice cancel 6; dev BUY 5 NO @ 0.4 FOK; resolve SPLIT`,
    { devAccounts: ["nobody", "dev"] },
  );
  expect({ name, orders, trades }).toEqual({ name: "recorded session of 4 orders", orders: 4, trades: 3 });
  expect(scenario).toBe(`# A session that clobsim recorded: its commands and their results.
scenario: recorded session of 4 orders
seed: floor
clock: 2026-01-01T00:00:00Z
settlement: manual
markets:
  rain: { tickSize: 0.01, minOrderSize: 5, feeRateBps: 100 }
  snow: { tickSize: 0.001, matching: independent, selfTrade: cancel-maker }
accounts:
  wallet-1: { USDC: 100, rain YES: 10, rain NO: 10, snow YES: 10, snow NO: 10 }
  wallet-2: {}
  dev-1: { USDC: 5.772, rain NO: 7 }
  trader-1: { USDC: 37.572, rain YES: 50 }
steps:
  # What rests from the start, oldest first.
  - trader-1: BUY 93 YES @ 0.4 in rain
  - trader-1: SELL 50 YES @ 0.6 in rain
  - expect:
      book:
        rain YES: { bids: [0.4 x 93 (1)], asks: [0.6 x 50 (1)] }
        rain NO: { bids: [0.4 x 50 (1)], asks: [0.6 x 93 (1)] }
  # The session.
  - wallet-1: BUY 60 YES @ 0.7 in rain as order-1
    status: LIVE 50/60
    fills: [BUY 50 YES @ 0.6 in rain from trader-1]
  - wallet-1: BUY 10 YES @ 0.125 GTD 2026-01-01T00:00:05Z in snow as order-2
    status: LIVE 0/10
  - at: 2026-01-01T00:00:02Z
  - wallet-2: fund 12.5 USDC
  - wallet-2: fund 20 YES in rain
  - wallet-2: SELL 20 YES @ 0.3 FOK in rain
    status: MATCHED 20/20
    fills: [SELL 10 YES @ 0.7 in rain from wallet-1, SELL 10 YES @ 0.4 in rain from trader-1]
  - wallet-1: cancel order-2
  - dev-1: BUY 5 NO @ 0.4 FOK in rain
    status: CANCELED 0/5 FOK_UNFILLED
  - resolve: SPLIT in rain
  - expect:
      book:
        rain YES: { bids: [], asks: [] }
        rain NO: { bids: [], asks: [] }
        snow YES: { bids: [], asks: [] }
        snow NO: { bids: [], asks: [] }
      orders: { order-1: MATCHED 60/60, order-2: CANCELED 0/10 USER }
      trades:
        - wallet-1 BUY 50 YES @ 0.6 in rain from trader-1
        - wallet-2 SELL 10 YES @ 0.7 in rain from wallet-1
        - wallet-2 SELL 10 YES @ 0.4 in rain from trader-1
      balances:
        wallet-1:
          USDC: { balance: 62.8, onChain: 100 }
          rain YES: { balance: 70, onChain: 10 }
          rain NO: 10
          snow YES: 10
          snow NO: 10
        wallet-2: { USDC: { balance: 23.43, onChain: 12.5 }, rain YES: { balance: 0, onChain: 20 }, rain NO: 0 }
        dev-1: { USDC: 5.772, rain YES: 0, rain NO: 7 }
      chain: { settled: { order-1: MATCHED } }
`);
});

it("the same session gives the same bytes", () => {
  const session = "derive alice bob; alice BUY 5 YES @ 0.5; bob SELL 9 YES @ 0.5";
  const [once, again] = [1, 2].map(() => recordOf("market rain", session).scenario);
  expect(again).toBe(once);
});

describe("names", () => {
  it("are numbers: of wallets by their first command, of dev accounts by index, of traders by account", () => {
    const { scenario } = recordOf(
      `market rain; fund idle usdc=100; fund maker usdc=100; fund other usdc=100;
        other BUY 1 YES @ 0.1; maker BUY 1 YES @ 0.1`,
      "derive carol dev alice; alice BUY 1 YES @ 0.2",
      { devAccounts: ["dev", "unused"] },
    );
    const names = linesLike(scenario, /^ {2}(?:wallet|dev|trader)-\d+:/).map((line) => line.split(":")[0]);
    expect(names).toEqual(["wallet-1", "dev-0", "wallet-2", "trader-2", "trader-3"]);
    expect(stepsOf(scenario)[0]).toBe("wallet-2: BUY 1 YES @ 0.2 as order-1");
  });

  it("of markets are their slugs, changed so that they are valid and unique and need no quotes", () => {
    const long = `will-${"very-".repeat(12)}long-names-be-cut`;
    const slugs = ["rain", "2026", "null", long, `${long}-too`, "2026-snow"];
    const { scenario } = recordOf("", slugs.map((slug) => `market ${slug}`).join("; "));
    const names = linesLike(scenario, /^ {2}\S+: \{ tickSize/).map((line) => line.split(":")[0] ?? "");
    const cut = long.slice(0, 64);
    expect(names).toEqual(["rain", "market-2026", "market-null", cut, `${cut.slice(0, 59)}-2`, "2026-snow"]);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(64);
  });

  it("of the scenario have its number of orders, or are given", () => {
    const session = "derive alice; alice BUY 1 YES @ 0.2";
    expect(recordOf("market rain", session).name).toBe("recorded session of 1 order");
    const named = recordOf("market rain", session, { name: "a: bid # at 0.2" });
    expect(named.name).toBe("a: bid # at 0.2");
    expect(named.scenario).toContain('scenario: "a: bid # at 0.2"\n');
  });
});

describe("the opening", () => {
  /** Rule, actions before the session, the session, a pattern of lines, and those lines. */
  it.each<[string, string, string, RegExp, readonly string[]]>([
    [
      "leaves out untouched markets, and accounts that only have orders there",
      "market rain; market quiet; fund a usdc=100; fund b usdc=100; a BUY 1 YES @ 0.1; b BUY 1 YES @ 0.1 in 2",
      "derive alice; alice SELL 1 YES @ 0.1",
      /^ {2}trader-|quiet/,
      ["trader-1: { USDC: 0.1 }"],
    ],
    [
      "places the remainder of each order, in the order of arrival",
      `market rain; fund a usdc=100 yes=50; fund b usdc=100 yes=50;
        a BUY 10 YES @ 0.3; b BUY 20 YES @ 0.3; a BUY 5 YES @ 0.3; b SELL 4 YES @ 0.3`,
      "derive alice; alice SELL 1 YES @ 0.3",
      /- trader|bids: \[0.3 x 31/,
      [
        ...["- trader-1: BUY 6 YES @ 0.3", "- trader-2: BUY 20 YES @ 0.3", "- trader-1: BUY 5 YES @ 0.3"],
        "YES: { bids: [0.3 x 31 (3)], asks: [] }",
      ],
    ],
    [
      "lowers a minimum order size that a remainder would violate, with a remark",
      `market rain minOrderSize=5; fund a usdc=100 yes=50; fund b usdc=100 yes=50;
        a BUY 10 YES @ 0.3; b SELL 9.63 YES @ 0.3`,
      "derive alice; alice BUY 5 YES @ 0.2",
      /minOrderSize/,
      [
        "# rain had a minOrderSize of 5, but an order that rests from the start has less left.",
        "rain: { tickSize: 0.01, minOrderSize: 0.37 }",
      ],
    ],
    [
      "gives traders the worst-case cost of their orders, and actors their balances",
      `market rain feeRateBps=200; fund trader usdc=1000 yes=500 no=500; fund alice usdc=1000 yes=500;
        trader BUY 10.01 YES @ 0.3; trader SELL 7 NO @ 0.6; alice BUY 2 YES @ 0.2`,
      "alice BUY 1 YES @ 0.1",
      /^ {2}(?:wallet|trader)/,
      ["wallet-1: { USDC: 1000, YES: 500 }", "trader-1: { USDC: 3.06306, NO: 7 }"],
    ],
    [
      "has the markets in which actors have open orders",
      "market rain; market snow; fund alice usdc=100; alice BUY 2 YES @ 0.2 in 2; alice BUY 3 YES @ 0.2 in 1",
      "alice cancel 2",
      /- wallet/,
      [
        "- wallet-1: BUY 2 YES @ 0.2 in snow",
        "- wallet-1: BUY 3 YES @ 0.2 in rain as earlier-2",
        "- wallet-1: cancel earlier-2",
      ],
    ],
    [
      "closes and resolves the markets that were closed or resolved",
      "market rain; market snow; close; resolve NO in 2",
      "fund alice yes=5; fund alice no=5 in 2; resolve YES",
      /- (?:close|resolve)/,
      ["- close: rain", "- resolve: NO in snow", "- resolve: YES in rain"],
    ],
  ])("%s", (_rule, before, session, pattern, lines) => {
    expect(linesLike(recordOf(before, session).scenario, pattern)).toEqual(lines);
  });
});

describe("time", () => {
  const OPENED = "market rain; fund alice usdc=1000";

  it("is written only while an open order has an expiration", () => {
    const { scenario } = recordOf(
      OPENED,
      `advance 10s; alice BUY 1 YES @ 0.1; advance 10s; alice BUY 2 YES @ 0.1 GTD 60s; advance 1ms;
        alice BUY 3 YES @ 0.1; alice cancel 2; advance 10s; alice BUY 4 YES @ 0.1`,
    );
    expect(stepsOf(scenario).slice(0, -1)).toEqual([
      "wallet-1: BUY 1 YES @ 0.1 as order-1",
      "at: 2026-01-01T00:00:20Z",
      "wallet-1: BUY 2 YES @ 0.1 GTD 2026-01-01T00:01:20Z as order-2",
      "at: 2026-01-01T00:00:20.001Z",
      "wallet-1: BUY 3 YES @ 0.1 as order-3",
      "wallet-1: cancel order-2",
      "wallet-1: BUY 4 YES @ 0.1 as order-4",
    ]);
  });

  it("advances to each expiration in turn, once for those at the same time", () => {
    const bids = [30, 10, 30].map((seconds) => `alice BUY 1 YES @ 0.1 GTD ${seconds}s`).join("; ");
    const { scenario } = recordOf(OPENED, `${bids}; advance 1h; advance 1ms`);
    expect(stepsOf(scenario).slice(3, -1)).toEqual(["at: expiry of order-2", "at: expiry of order-1"]);
    const states = "orders: { order-1: EXPIRED 0/1, order-2: EXPIRED 0/1, order-3: EXPIRED 0/1 }";
    expect(scenario).toContain(states);
  });
});

it("a step compares trades after every fifty, and the rest at the end", () => {
  const { scenario, trades } = recordOf("market rain; fund alice usdc=1000; fund bob yes=1000", "trade 60");
  expect(trades).toBe(60);
  const parts = scenario.split(/trades:\n/).slice(1);
  expect(parts.map((part) => linesLike(part, /^ +- wallet-\d SELL .* from /).length)).toEqual([50, 10]);
});

describe("what a scenario cannot express", () => {
  it("is left out with a remark: funding of the exchange's own accounts", () => {
    const { scenario } = recordOf("market rain", (exchange) => {
      const { address } = exchange.state.accounts.get(1);
      const nothing = { tokens: [], everyMarket: size(0) };
      for (const micros of [5, 7])
        exchange.mustSubmit({ kind: "fundAccount", address, collateral: money(micros), ...nothing });
    });
    expect(scenario).toContain("# Left out: the exchange's own accounts were funded 2 times.\n");
    expect(stepsOf(scenario)).toEqual(["expect: { trades: [] }"]);
  });

  it("is refused if the scenario would issue more USDC than the maximum", () => {
    // A full set is one mint in the session and two in a scenario.
    const before = `market one; market two; market three; fund alice usdc=100 everyMarket=10000000;
      fund bob usdc=3900000000`;
    const bids = [1, 2, 3].map((market) => `alice BUY 1 YES @ 0.1 in ${market}`).join("; ");
    expect(refusalOf(before, `${bids}; bob BUY 1 YES @ 0.05; fund carol usdc=50000000`)).toBe(
      "a scenario of this session would issue 4010000100 USDC, expected at most 4000000000",
    );
  });
});
