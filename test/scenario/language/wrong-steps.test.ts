import { describe, expect, it } from "vitest";
import { BID, ofSteps, ofTwoMarkets, problemsOf } from "./scenario-texts.ts";

describe("steps that", () => {
  it.each<[title: string, text: string, ...problems: string[]]>([
    ["are none", "scenario: x\nsteps: []\n", "2:8: expected at least one step, found an empty list"],
    [
      "are a mapping",
      "scenario: x\nsteps: { advance: 1s }\n",
      "2:8: expected a list of steps, found a mapping",
    ],
    [
      "hold a text",
      ofSteps("alice BUY 10 YES @ 0.5"),
      '4:5: expected a step such as `alice: BUY 10 YES @ 0.5` or `advance: 30s`, found "alice BUY 10 YES @ 0.5"',
    ],
    [
      "hold nothing",
      ofSteps(""),
      "4:5: expected a step such as `alice: BUY 10 YES @ 0.5` or `advance: 30s`, found nothing",
    ],
    [
      "do an unknown thing",
      ofSteps("advanse: 1s"),
      '4:5: unknown step or account "advanse" (did you mean advance?)',
    ],
    [
      "name an unknown account",
      ofSteps("alcie: cancel all"),
      '4:5: unknown account "alcie" (did you mean alice?)',
    ],
    [
      "let an account act that is like a step, and like no account",
      ofSteps("dave: BUY 10 YES @ 0.5"),
      '4:5: unknown account "dave" (the accounts are alice, bob)',
    ],
    [
      "tamper with a header that is not sent",
      ofSteps("{ request: GET /orders, as: alice, tamper: { append: { poly_signatur: 00 } } }"),
      '4:60: unknown header of this request "poly_signatur" (did you mean poly_signature?)',
    ],
    [
      "tamper with headers of a request that nobody signs, or that are left out",
      ofSteps(
        "{ request: GET /orders, tamper: { sign: /orders, twice: poly_address } }",
        "{ request: GET /orders, as: alice, headers: { POLY_ADDRESS: }, tamper: { spell: Poly_Address } }",
      ),
      "4:39: nobody signs this request (as: alice lets her sign it)",
      '4:61: unknown header of this request "poly_address" (it has host)',
      '5:85: unknown header of this request "Poly_Address" (it has host, poly_api_key, poly_passphrase, poly_timestamp, poly_signature)',
    ],
    [
      "tamper with a request in an unknown way",
      ofSteps("{ request: GET /orders, as: alice, tamper: { apend: {}, sign: orders, twice: {} } }"),
      '4:50: unknown key "apend" (did you mean append?)',
      '4:67: expected a path such as /orders?limit=5, found "orders"',
      "4:82: expected the name of a header, or a list of them, found a mapping",
    ],
    [
      "are unlike any step or account",
      ofSteps("zacharias: {}"),
      '4:5: unknown step or account "zacharias" (the accounts are alice, bob)',
    ],
    [
      "let somebody act where there are no accounts",
      "scenario: x\nsteps:\n  - alice: BUY 10 YES @ 0.5\n",
      '3:5: unknown account "alice" (there are no accounts)',
    ],
    [
      "let another than the only account act",
      "scenario: x\naccounts: { alice: {} }\nsteps:\n  - bob: cancel all\n",
      '4:5: unknown account "bob" (the only account is alice)',
    ],
    [
      "do two things at once",
      `scenario: x\naccounts: { alice: { USDC: 10 }, bob: {} }\nsteps:\n  - advance: 1s\n    alice: cancel all\n`,
      "5:5: expected one step, found alice as well (begin each step with a dash)",
    ],
    [
      "say only what is beside",
      ofSteps("status: LIVE 0/1"),
      "4:5: expected a step such as `alice: BUY 10 YES @ 0.5` or `advance: 30s`, found none",
    ],
    [
      "have an unknown key beside",
      ofSteps("{ alice: BUY 10 YES @ 0.5, staus: LIVE 0/10 }"),
      '4:32: unknown key "staus" (did you mean status?)',
    ],
    [
      "have a key of another step beside",
      ofSteps("{ alice: BUY 10 YES @ 0.5, after: {} }"),
      '4:32: unknown key "after"',
    ],
    [
      "have what is beside them in the column of the dash",
      ofSteps("alice: BUY 10 YES @ 0.5\n  status: LIVE 0/10", "advance: 1s"),
      "5:3: not YAML: all mapping items must start at the same column (indent it under the step)",
    ],
    [
      "have what is beside them between the dash and the step, behind a comment",
      ofSteps("alice: BUY 10 YES @ 0.5\n # why\n\n   status: LIVE 0/10", "advance: 1s"),
      "7:4: not YAML: sequence item without - indicator (indent it under the step)",
    ],
    [
      "have what is beside them in the column of the dash, and more wrong behind",
      ofSteps("alice: BUY 10 YES @ 0.5\n  status: LIVE 0/10", "{ advance: 1s }", "advance: 1s"),
      "5:3: not YAML: all mapping items must start at the same column (indent it under the step)",
    ],
    [
      "name an unknown verb",
      ofSteps("alice: cancle bid"),
      '4:12: expected BUY, SELL, cancel, fund, split, merge or redeem, found "cancle" (did you mean cancel?)',
    ],
    [
      "say nothing of an account",
      ofSteps("alice:"),
      "4:11: expected BUY, SELL, cancel, fund, split, merge or redeem and what belongs to it, found nothing",
    ],
    [
      "say a list of an account",
      ofSteps("alice: [BUY]"),
      "4:12: expected BUY, SELL, cancel, fund, split, merge or redeem and what belongs to it, found a list",
    ],
  ])("%s is told where and why", (_title, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => `x.yaml:${problem}`));
  });
});

describe("cancels and funds that", () => {
  it.each<[title: string, text: string, ...problems: string[]]>([
    [
      "cancel an unknown order",
      ofSteps(BID, "alice: cancel bit"),
      '5:19: unknown order "bit" (did you mean bid?)',
    ],
    [
      "cancel nothing",
      ofSteps("alice: cancel"),
      "4:18: expected the name of an order, or all, found the end of the line",
    ],
    ["cancel two", ofSteps(BID, "alice: cancel bid bid"), '5:23: expected the end of the line, found "bid"'],
    [
      "cancel all of something",
      ofSteps("alice: cancel all bids"),
      '4:23: expected the end of the line, found "bids"',
    ],
    [
      "expect fills of a cancel",
      ofSteps(BID, "{ alice: cancel bid, fills: [] }"),
      '5:26: unknown key "fills"',
    ],
    [
      "expect a status of all",
      ofSteps("{ alice: cancel all, status: LIVE 0/1 }"),
      '4:26: unknown key "status"',
    ],
    [
      "fund nothing",
      ofSteps("alice: fund 0 USDC"),
      '4:17: expected an amount of USDC from 0.000001 to 4000000000 with at most 6 decimals, found "0"',
    ],
    [
      "fund without an asset",
      ofSteps("alice: fund 10"),
      "4:19: expected USDC, YES or NO, found the end of the line",
    ],
    [
      "fund an unknown asset",
      ofSteps("alice: fund 10 USD"),
      '4:20: expected USDC, YES or NO, found "USD" (did you mean USDC?)',
    ],
    [
      "fund too fine",
      ofSteps("alice: fund 0.0000001 USDC"),
      '4:17: expected an amount of USDC from 0.000001 to 4000000000 with at most 6 decimals, found "0.0000001"',
    ],
    [
      "fund USDC in a market",
      ofSteps("alice: fund 10 USDC in market"),
      '4:25: expected the end of the line, found "in"',
    ],
    [
      "fund shares of no market where there are several",
      ofTwoMarkets("alice: fund 10 YES"),
      "5:23: expected the market to be named, for there are rain, snow",
    ],
    [
      "expect a fund to be refused",
      ofSteps("{ alice: fund 10 USDC, rejects: INVALID_PARAMETER }"),
      '4:28: unknown key "rejects"',
    ],
  ])("%s is told where and why", (_title, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => `x.yaml:${problem}`));
  });
});

describe("steps of time and of markets that", () => {
  it.each<[title: string, text: string, ...problems: string[]]>([
    [
      "advance without a unit",
      ofSteps("advance: 30"),
      '4:14: expected a duration such as 30s or 1h30m, found "30" (did you mean 30s?)',
    ],
    [
      "advance by no duration",
      ofSteps("advance: soon"),
      '4:14: expected a duration such as 30s or 1h30m, found "soon"',
    ],
    [
      "advance by a list",
      ofSteps("advance: [1s]"),
      "4:14: expected a duration such as 30s or 1h30m, found a list",
    ],
    [
      "go to no moment",
      ofSteps("at: tomorrow"),
      '4:9: expected a moment such as 2026-01-01T00:00:00Z, or expiry of ORDER, found "tomorrow"',
    ],
    [
      "go to the expiry of an unknown order",
      ofSteps("alice: BUY 10 YES @ 0.5 GTD +60s as bid", "at: expiry of bit"),
      '5:19: unknown order "bit" (did you mean bid?)',
    ],
    [
      "go to the expiry of an order that has none",
      ofSteps(BID, "at: expiry of bid"),
      "5:19: order bid is GTC and does not expire",
    ],
    ["go to an expiry without of", ofSteps("at: expiry bid"), '4:16: expected of, found "bid"'],
    [
      "go to an expiry with a bad sign",
      ofSteps("alice: BUY 10 YES @ 0.5 GTD +60s as bid", "at: expiry of bid * 1ms"),
      '5:23: expected +, - or the end of the line, found "*" (did you mean +?)',
    ],
    [
      "go to an expiry with a bad offset",
      ofSteps("alice: BUY 10 YES @ 0.5 GTD +60s as bid", "at: expiry of bid - 1"),
      '5:25: expected a duration such as 1ms, found "1"',
    ],
    [
      "close an unknown market",
      ofSteps("close: markt"),
      '4:12: unknown market "markt" (did you mean market?)',
    ],
    ["close nothing", ofSteps("close:"), "4:11: expected the name of a market, found nothing"],
    [
      "resolve to an unknown outcome",
      ofSteps("resolve: YSE"),
      '4:14: expected YES, NO or SPLIT, found "YSE" (did you mean YES?)',
    ],
    [
      "resolve nowhere where there are several",
      ofTwoMarkets("resolve: YES"),
      "5:17: expected the market to be named, for there are rain, snow",
    ],
    [
      "resolve in an unknown market",
      ofTwoMarkets("resolve: YES in rian"),
      '5:21: unknown market "rian" (did you mean rain?)',
    ],
    [
      "resolve with a mistyped in",
      ofTwoMarkets("resolve: YES im rain"),
      '5:18: expected in MARKET or the end of the line, found "im" (did you mean in?)',
    ],
  ])("%s is told where and why", (_title, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => `x.yaml:${problem}`));
  });
});
