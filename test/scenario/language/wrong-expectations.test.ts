import { describe, expect, it } from "vitest";
import { BID, ofSteps, ofTwoMarkets, problemsOf } from "./scenario-texts.ts";

describe("expectations that", () => {
  it.each<[title: string, text: string, ...problems: string[]]>([
    ["are none", ofSteps("expect: {}"), "4:13: expected what must be true, found an empty mapping"],
    ["are a list", ofSteps("expect: [book]"), "4:13: expected what must be true, a mapping, found a list"],
    ["are unknown", ofSteps("expect: { boook: {} }"), '4:15: unknown key "boook" (did you mean book?)'],
    [
      "are about no book",
      ofSteps("expect: { book: {} }"),
      "4:21: expected books by outcome, found an empty mapping",
    ],
    [
      "are about an unknown outcome",
      ofSteps("expect: { book: { YSE: { bids: [] } } }"),
      '4:23: expected YES or NO, with the market before it where there are several, found "YSE" (did you mean YES?)',
    ],
    [
      "are about an outcome of no market where there are several",
      ofTwoMarkets("expect: { book: { YES: { bids: [] } } }"),
      "5:23: expected the market to be named, for there are rain, snow",
    ],
    [
      "are about an outcome of an unknown market",
      ofTwoMarkets("expect: { book: { rian YES: { bids: [] } } }"),
      '5:23: unknown market "rian" (did you mean rain?)',
    ],
    [
      "are about no side of a book",
      ofSteps("expect: { book: { YES: {} } }"),
      "4:28: expected bids, asks or both, found an empty mapping",
    ],
    [
      "are about an unknown side of a book",
      ofSteps("expect: { book: { YES: { bid: [] } } }"),
      '4:30: unknown key "bid" (did you mean bids?)',
    ],
    [
      "have a text for levels",
      ofSteps("expect: { book: { YES: { bids: none } } }"),
      '4:36: expected a list of levels, found "none" ([] says that there are none)',
    ],
    [
      "have nothing for levels",
      ofSteps("expect: { book: { YES: { asks: } } }"),
      "4:36: expected a list of levels, found nothing ([] says that there are none)",
    ],
    [
      "have a level in one word",
      ofSteps("expect: { book: { YES: { bids: [0.5x10] } } }"),
      '4:37: expected a level such as 0.55 x 60, found "0.5x10" (did you mean 0.5 x 10?)',
    ],
    [
      "have a level with the sign joined to the price",
      ofSteps("expect: { book: { YES: { bids: [0.5x 10] } } }"),
      '4:37: expected a level such as 0.55 x 60, found "0.5x 10" (did you mean 0.5 x 10?)',
    ],
    [
      "have a level without a size",
      ofSteps("expect: { book: { YES: { bids: [0.5] } } }"),
      "4:40: expected x, found the end of the line",
    ],
    [
      "have a level with another sign",
      ofSteps("expect: { book: { YES: { bids: [0.5 * 10] } } }"),
      '4:41: expected x, found "*" (did you mean x?)',
    ],
    [
      "have a level at a price that none is",
      ofSteps("expect: { book: { YES: { bids: [1.5 x 10] } } }"),
      '4:37: expected a price from 0.0001 to 0.9999 with at most 4 decimals, found "1.5"',
    ],
    [
      "have a level of nothing",
      ofSteps("expect: { book: { YES: { bids: [0.5 x 0] } } }"),
      '4:43: expected a size from 0.01 to 4000000000 with at most 2 decimals, found "0"',
    ],
    [
      "have a level of no orders",
      ofSteps("expect: { book: { YES: { bids: [0.5 x 10 (0)] } } }"),
      '4:46: expected a number of orders such as (2), or the end of the level, found "(0)"',
    ],
    [
      "have a level with a bare number of orders",
      ofSteps("expect: { book: { YES: { bids: [0.5 x 10 2] } } }"),
      '4:46: expected a number of orders such as (2), or the end of the level, found "2"',
    ],
    [
      "have a trade without a taker",
      ofSteps("expect: { trades: [SELL 40 YES @ 0.55 from alice] }"),
      '4:24: expected the taker before the side, found "SELL"',
    ],
    [
      "have a trade without from",
      ofSteps("expect: { trades: [bob SELL 40 YES @ 0.55 form alice] }"),
      '4:47: expected from, found "form" (did you mean from?)',
    ],
    [
      "have a trade of no market where there are several",
      ofTwoMarkets("expect: { trades: [alice SELL 40 YES @ 0.55 from alice] }"),
      "5:49: expected the market to be named, for there are rain, snow",
    ],
    [
      "are about an unknown order",
      ofSteps(BID, "expect: { orders: { bit: LIVE 0/10 } }"),
      '5:25: unknown order "bit" (did you mean bid?)',
    ],
    [
      "name a maker that is no account and no order",
      ofSteps(BID, "{ bob: SELL 1 YES @ 0.5, fills: [SELL 1 YES @ 0.5 from bud] }"),
      '5:60: unknown account or order "bud" (did you mean bid?)',
    ],
    [
      "name a maker that is nothing like an account",
      ofSteps("expect: { trades: [bob SELL 1 YES @ 0.5 from somewhere-else] }"),
      '4:50: unknown account or order "somewhere-else" (the accounts are alice, bob)',
    ],
    [
      "name an unknown taker",
      ofSteps("expect: { trades: [bobb SELL 1 YES @ 0.5 from alice] }"),
      '4:24: unknown account "bobb" (did you mean bob?)',
    ],
    [
      "name a maker that is an account and an order",
      ofSteps(
        "alice: BUY 10 YES @ 0.5 as bob",
        "{ bob: SELL 1 YES @ 0.5, fills: [SELL 1 YES @ 0.5 from bob] }",
      ),
      "5:60: bob is an account and an order (give the order another name)",
    ],
    [
      "are about an account unlike any",
      ofSteps("expect: { balances: { zacharias: { USDC: 1 } } }"),
      '4:27: unknown account "zacharias" (the accounts are alice, bob)',
    ],
    [
      "are about an unknown account",
      ofSteps("expect: { balances: { alcie: { USDC: 1 } } }"),
      '4:27: unknown account "alcie" (did you mean alice?)',
    ],
    [
      "are about an unknown asset",
      ofSteps("expect: { balances: { alice: { USCD: 1 } } }"),
      '4:36: expected USDC, YES or NO, with the market before it where there are several, found "USCD" (did you mean USDC?)',
    ],
    [
      "are about no asset",
      ofSteps("expect: { balances: { alice: {} } }"),
      "4:34: expected amounts by USDC, YES or NO, found an empty mapping",
    ],
    [
      "are about an unknown part of a balance",
      ofSteps("expect: { balances: { alice: { USDC: { avaliable: 1 } } } }"),
      '4:44: unknown key "avaliable" (did you mean available?)',
    ],
    [
      "have a text for a balance",
      ofSteps("expect: { balances: { alice: { USDC: much } } }"),
      '4:42: expected an amount of USDC from 0 to 4000000000 with at most 6 decimals, found "much"',
    ],
    [
      "are about an unknown price",
      ofSteps("expect: { quote: { YES: { best: 0.5 } } }"),
      '4:31: unknown key "best" (did you mean last?)',
    ],
    [
      "have a price above all",
      ofSteps("expect: { quote: { YES: { bid: 1.5 } } }"),
      '4:36: expected none or a price from 0.0001 to 0.9999 with at most 4 decimals, found "1.5"',
    ],
    [
      "have a mid that is too fine",
      ofSteps("expect: { quote: { YES: { mid: 0.000001 } } }"),
      '4:36: expected none or a mid from 0 to 1 with at most 5 decimals, found "0.000001"',
    ],
    [
      "have a point within a second",
      ofSteps("expect: { history: { YES: ['2026-01-01T00:00:30.500Z 0.55'] } }"),
      '4:33: expected a moment such as 2026-01-01T00:00:00Z, a whole second, found "2026-01-01T00:00:30.500Z"',
    ],
    [
      "have a point without a price",
      ofSteps("expect: { history: { YES: ['2026-01-01T00:00:30Z'] } }"),
      "4:53: expected a price from 0.0001 to 0.9999 with at most 4 decimals, found the end of the line",
    ],
    [
      "have a hash that is none",
      ofSteps("expect: { stateHash: abc }"),
      '4:26: expected v2: and 64 hex digits, or nothing for --update to write them, found "abc"',
    ],
    [
      "keep a golden elsewhere",
      ofSteps("expect: { golden: ../golden.txt }"),
      "4:23: expected a path in the scenario's folder, found one out of it (paths are relative to the file that names them and stay in the scenario's folder)",
    ],
  ])("%s is told where and why", (_title, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => `x.yaml:${problem}`));
  });
});
