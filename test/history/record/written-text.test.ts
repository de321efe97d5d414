import { describe, expect, it } from "vitest";
import { millis } from "../../../src/core/units.ts";
import { RecordingError } from "../../../src/history/record/script.ts";
import { recordOf, type SessionExchange } from "./session-exchange.ts";

const rain = (exchange: SessionExchange): void => exchange.createMarket("rain");

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
    (exchange) => {
      exchange.createMarket("rain", { feeRateBps: 100, minOrderSize: 5 });
      exchange.createMarket("quiet");
      exchange.fund("maker", { usdc: 1000, everyMarket: 500 });
      exchange.fund("dev", { usdc: 10 });
      exchange.place("maker BUY 100 YES @ 0.4");
      exchange.place("maker SELL 50 YES @ 0.6");
      exchange.place("dev BUY 7 NO @ 0.6 FAK");
      exchange.place("maker BUY 10 NO @ 0.3", 2);
    },
    (exchange) => {
      exchange.createMarket("snow", { matching: "independent", tickSize: 0.001, selfTrade: "cancel-maker" });
      exchange.derive("alice");
      exchange.place("alice BUY 60 YES @ 0.7");
      exchange.place("alice BUY 10 YES @ 0.125 GTD 5s", 3);
      exchange.advance("2s");
      exchange.fund("bob", { usdc: 12.5, yes: 20 });
      exchange.place("bob SELL 20 YES @ 0.3 FOK");
      exchange.cancel("alice", 6);
      exchange.place("dev BUY 5 NO @ 0.4 FOK");
      exchange.mustSubmit({ kind: "resolveMarket", market: 1, winningOutcome: "SPLIT" });
    },
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
  const once = (): string =>
    recordOf(rain, (exchange) => {
      for (const name of ["alice", "bob"]) exchange.derive(name);
      exchange.place("alice BUY 5 YES @ 0.5");
      exchange.place("bob SELL 9 YES @ 0.5");
    }).scenario;
  expect(once()).toBe(once());
});

describe("names", () => {
  it("are numbers: of wallets by their first command, of dev accounts by index, of traders by account", () => {
    const { scenario } = recordOf(
      (exchange) => {
        rain(exchange);
        for (const name of ["idle", "maker", "other"]) exchange.fund(name, { usdc: 100 });
        exchange.place("other BUY 1 YES @ 0.1");
        exchange.place("maker BUY 1 YES @ 0.1");
      },
      (exchange) => {
        for (const name of ["carol", "dev", "alice"]) exchange.derive(name);
        exchange.place("alice BUY 1 YES @ 0.2");
      },
      { devAccounts: ["dev", "unused"] },
    );
    expect(linesLike(scenario, /^ {2}(?:wallet|dev|trader)-\d+:/).map((line) => line.split(":")[0])).toEqual([
      "wallet-1",
      "dev-0",
      "wallet-2",
      "trader-2",
      "trader-3",
    ]);
    expect(stepsOf(scenario)[0]).toBe("wallet-2: BUY 1 YES @ 0.2 as order-1");
  });

  it("of markets are their slugs, changed so that they are valid and unique and need no quotes", () => {
    const long = `will-${"very-".repeat(12)}long-names-be-cut`;
    const { scenario } = recordOf(
      () => {},
      (exchange) => {
        for (const slug of ["rain", "2026", "null", long, `${long}-too`, "2026-snow"])
          exchange.createMarket(slug);
      },
    );
    const names = linesLike(scenario, /^ {2}\S+: \{ tickSize/).map((line) => line.split(":")[0] ?? "");
    expect(names).toEqual([
      "rain",
      "market-2026",
      "market-null",
      "will-very-very-very-very-very-very-very-very-very-very-very-very",
      "will-very-very-very-very-very-very-very-very-very-very-very-2",
      "2026-snow",
    ]);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(64);
  });

  it("of the scenario have its number of orders, or are given", () => {
    const place = (exchange: SessionExchange): void => {
      exchange.derive("alice");
      exchange.place("alice BUY 1 YES @ 0.2");
    };
    expect(recordOf(rain, place).name).toBe("recorded session of 1 order");
    const named = recordOf(rain, place, { name: "a: bid # at 0.2" });
    expect(named.name).toBe("a: bid # at 0.2");
    expect(named.scenario).toContain('scenario: "a: bid # at 0.2"\n');
  });
});

describe("the opening", () => {
  it("leaves out untouched markets, and accounts that only have orders there", () => {
    const { scenario } = recordOf(
      (exchange) => {
        rain(exchange);
        exchange.createMarket("quiet");
        for (const name of ["a", "b"]) exchange.fund(name, { usdc: 100 });
        exchange.place("a BUY 1 YES @ 0.1");
        exchange.place("b BUY 1 YES @ 0.1", 2);
      },
      (exchange) => {
        exchange.derive("alice");
        exchange.place("alice SELL 1 YES @ 0.1");
      },
    );
    expect(scenario).not.toContain("quiet");
    expect(linesLike(scenario, /^ {2}trader-/)).toEqual(["trader-1: { USDC: 0.1 }"]);
  });

  it("places the remainder of each order, in the order of arrival", () => {
    const { scenario } = recordOf(
      (exchange) => {
        rain(exchange);
        for (const name of ["a", "b"]) exchange.fund(name, { usdc: 100, yes: 50 });
        exchange.place("a BUY 10 YES @ 0.3");
        exchange.place("b BUY 20 YES @ 0.3");
        exchange.place("a BUY 5 YES @ 0.3");
        exchange.place("b SELL 4 YES @ 0.3");
      },
      (exchange) => {
        exchange.derive("alice");
        exchange.place("alice SELL 1 YES @ 0.3");
      },
    );
    expect(linesLike(scenario, /- trader/).slice(0, 3)).toEqual([
      "- trader-1: BUY 6 YES @ 0.3",
      "- trader-2: BUY 20 YES @ 0.3",
      "- trader-1: BUY 5 YES @ 0.3",
    ]);
    expect(scenario).toContain("YES: { bids: [0.3 x 31 (3)], asks: [] }");
  });

  it("lowers a minimum order size that a remainder would violate, with a remark", () => {
    const { scenario } = recordOf(
      (exchange) => {
        exchange.createMarket("rain", { minOrderSize: 5 });
        for (const name of ["a", "b"]) exchange.fund(name, { usdc: 100, yes: 50 });
        exchange.place("a BUY 10 YES @ 0.3");
        exchange.place("b SELL 9.63 YES @ 0.3");
      },
      (exchange) => {
        exchange.derive("alice");
        exchange.place("alice BUY 5 YES @ 0.2");
      },
    );
    expect(scenario).toContain("rain: { tickSize: 0.01, minOrderSize: 0.37 }");
    expect(scenario).toContain(
      "# rain had a minOrderSize of 5, but an order that rests from the start has less left.\n",
    );
  });

  it("gives traders the worst-case cost of their orders, and actors their balances", () => {
    const { scenario } = recordOf(
      (exchange) => {
        exchange.createMarket("rain", { feeRateBps: 200 });
        exchange.fund("trader", { usdc: 1000, yes: 500, no: 500 });
        exchange.fund("alice", { usdc: 1000, yes: 500 });
        exchange.place("trader BUY 10.01 YES @ 0.3");
        exchange.place("trader SELL 7 NO @ 0.6");
        exchange.place("alice BUY 2 YES @ 0.2");
      },
      (exchange) => exchange.place("alice BUY 1 YES @ 0.1"),
    );
    expect(linesLike(scenario, /^ {2}(?:wallet|trader)/)).toEqual([
      "wallet-1: { USDC: 1000, YES: 500 }",
      "trader-1: { USDC: 3.06306, NO: 7 }",
    ]);
  });

  it("has the markets in which actors have open orders", () => {
    const { scenario } = recordOf(
      (exchange) => {
        rain(exchange);
        exchange.createMarket("snow");
        exchange.fund("alice", { usdc: 100 });
        exchange.place("alice BUY 2 YES @ 0.2", 2);
        exchange.place("alice BUY 3 YES @ 0.2", 1);
      },
      (exchange) => exchange.cancel("alice", 2),
    );
    expect(linesLike(scenario, /- wallet/)).toEqual([
      "- wallet-1: BUY 2 YES @ 0.2 in snow",
      "- wallet-1: BUY 3 YES @ 0.2 in rain as earlier-2",
      "- wallet-1: cancel earlier-2",
    ]);
  });

  it("closes and resolves the markets that were closed or resolved", () => {
    const { scenario } = recordOf(
      (exchange) => {
        rain(exchange);
        exchange.createMarket("snow");
        exchange.mustSubmit({ kind: "closeMarket", market: 1 });
        exchange.mustSubmit({ kind: "resolveMarket", market: 2, winningOutcome: "NO" });
      },
      (exchange) => {
        exchange.fund("alice", { yes: 5 }, 1);
        exchange.fund("alice", { no: 5 }, 2);
        exchange.mustSubmit({ kind: "resolveMarket", market: 1, winningOutcome: "YES" });
      },
    );
    expect(linesLike(scenario, /- (?:close|resolve)/)).toEqual([
      "- close: rain",
      "- resolve: NO in snow",
      "- resolve: YES in rain",
    ]);
  });
});

describe("time", () => {
  const opened = (exchange: SessionExchange): void => {
    rain(exchange);
    exchange.fund("alice", { usdc: 1000 });
  };

  it("is written only while an open order has an expiration", () => {
    const { scenario } = recordOf(opened, (exchange) => {
      exchange.advance("10s");
      exchange.place("alice BUY 1 YES @ 0.1");
      exchange.advance("10s");
      exchange.place("alice BUY 2 YES @ 0.1 GTD 60s");
      exchange.advance("1ms");
      exchange.place("alice BUY 3 YES @ 0.1");
      exchange.cancel("alice", 2);
      exchange.advance("10s");
      exchange.place("alice BUY 4 YES @ 0.1");
    });
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
    const { scenario } = recordOf(opened, (exchange) => {
      for (const seconds of [30, 10, 30]) exchange.place(`alice BUY 1 YES @ 0.1 GTD ${seconds}s`);
      exchange.advance("1h");
      exchange.exchange.advanceTo(millis(exchange.exchange.now + 1));
    });
    expect(stepsOf(scenario).slice(3, -1)).toEqual(["at: expiry of order-2", "at: expiry of order-1"]);
    expect(scenario).toContain(
      "orders: { order-1: EXPIRED 0/1, order-2: EXPIRED 0/1, order-3: EXPIRED 0/1 }",
    );
  });
});

it("a step compares trades after every fifty, and the rest at the end", () => {
  const { scenario, trades } = recordOf(
    (exchange) => {
      rain(exchange);
      exchange.fund("alice", { usdc: 1000 });
      exchange.fund("bob", { yes: 1000 });
    },
    (exchange) => {
      for (let turn = 0; turn < 60; turn += 1) {
        exchange.place("alice BUY 2 YES @ 0.5");
        exchange.place("bob SELL 2 YES @ 0.5");
      }
    },
  );
  expect(trades).toBe(60);
  const parts = scenario.split(/trades:\n/).slice(1);
  expect(parts.map((part) => linesLike(part, /^ +- wallet-\d SELL .* from /).length)).toEqual([50, 10]);
});

describe("what a scenario cannot express", () => {
  it("is left out with a remark: funding of the exchange's own accounts", () => {
    const { scenario } = recordOf(rain, (exchange) => {
      const faucet = exchange.state.accounts.get(1).address;
      const tokens: never[] = [];
      for (const collateral of [5, 7]) {
        exchange.mustSubmit({
          kind: "fundAccount",
          address: faucet,
          collateral: collateral as never,
          tokens,
          everyMarket: 0 as never,
        });
      }
    });
    expect(scenario).toContain("# Left out: the exchange's own accounts were funded 2 times.\n");
    expect(stepsOf(scenario)).toEqual(["expect: { trades: [] }"]);
  });

  it("is refused if the scenario would issue more USDC than the maximum", () => {
    const record = (): unknown =>
      recordOf(
        (exchange) => {
          for (let market = 1; market <= 3; market += 1) exchange.createMarket(`market-${market}`);
          // A full set is one mint in the session and two in a scenario.
          exchange.fund("alice", { usdc: 100, everyMarket: 10_000_000 });
          exchange.fund("bob", { usdc: 3_900_000_000 });
        },
        (exchange) => {
          for (let market = 1; market <= 3; market += 1) exchange.place("alice BUY 1 YES @ 0.1", market);
          exchange.place("bob BUY 1 YES @ 0.05");
          exchange.fund("carol", { usdc: 50_000_000 });
        },
      );
    expect(record).toThrow(RecordingError);
    expect(record).toThrow(
      "a scenario of this session would issue 4010000100 USDC, expected at most 4000000000",
    );
  });
});
