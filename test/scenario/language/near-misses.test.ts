import { describe, expect, it } from "vitest";
import { ofSteps, ofTwoMarkets, problemsOf } from "./scenario-texts.ts";

/** Returns the suggestion of each problem of a text, or the problem if it has none. */
const suggestionsOf = (text: string): string[] =>
  problemsOf(text).map((problem) => /\(did you mean (.*)\?\)$/.exec(problem)?.[1] ?? problem);

const SIZE = "a size from 0.01 to 10000000 with at most 2 decimals";
const PRICE = "a price from 0.0001 to 0.9999 with at most 4 decimals";

describe("an almost valid order is refused with a suggestion", () => {
  it.each<[order: string, ...meant: string[]]>([
    // Words in another order, missing words, and superfluous words.
    ["BUY YES 10", "BUY 10 YES @ PRICE"],
    ["BUY YES 10 @ 0.55", "BUY 10 YES @ 0.55"],
    ["BUY YES @ 0.55 10", "BUY 10 YES @ 0.55"],
    ["BUY 0.55 x 10 YES", "BUY 10 YES @ 0.55"],
    ["10 YES BUY @ 0.55", "BUY 10 YES @ 0.55"],
    ["YES BUY 10 @ 0.55 GTD +60s as bid", "BUY 10 YES @ 0.55 GTD +60s as bid"],
    ["BUY 10 YES 0.55", "BUY 10 YES @ 0.55"],
    ["BUY 10 YES limit 0.55", "BUY 10 YES @ 0.55"],
    ["BUY 10 YES @ limit 0.55", "BUY 10 YES @ 0.55"],
    ["limit BUY 10 YES @ 0.55", "BUY 10 YES @ 0.55"],
    ["place BUY 10 YES @ 0.55", "BUY 10 YES @ 0.55"],
    ["buy 10 shares of yes at 0.55", "BUY 10 YES @ 0.55"],
    ["BUY 10 x YES @ 0.55", "BUY 10 YES @ 0.55"],
    ["BUY 10YES @ 0.55", "BUY 10 YES @ 0.55"],
    ["BUY 10 YES@0.55", "BUY 10 YES @ 0.55"],
    ["BUY YES 10@0.55", "BUY 10 YES @ 0.55"],
    ["BUY FOK 10 YES @ 0.55", "BUY 10 YES @ 0.55 FOK"],
    ["BUY 10 YES FAK @ 0.55", "BUY 10 YES @ 0.55 FAK"],
    ["BUY YES 10 @ 0.55 GTD 2026-01-02T00:00:00Z", "BUY 10 YES @ 0.55 GTD 2026-01-02T00:00:00Z"],
    ["BUY 10 YES as bid @ 0.55", "BUY 10 YES @ 0.55 as bid"],
    ["BUY 10 YES @ 0.55 as bid GTC", "BUY 10 YES @ 0.55 GTC as bid"],
    // The sign.
    ["BUY 10 YES at 0.55", "@"],
    ["BUY 10 YES x 0.55", "@"],
    ["BUY 10 YES for 0.55", "@"],
    // Other letters, other words.
    ["buy 10 YES @ 0.55", "BUY"],
    ["buy 10 yes @ 0.55 gtc", "BUY", "YES", "GTC"],
    ["Sell 10 No @ 0.55", "SELL", "NO"],
    ["bid 10 YES @ 0.55", "BUY"],
    ["ASK 10 Y @ 0.55", "SELL", "YES"],
    // Numbers.
    ["BUY 10 YES @ 0,55", "0.55"],
    ["BUY 10 YES @ .55", "0.55"],
    ["BUY 10 YES @ $0.55", "0.55"],
    ["BUY 10 YES @ 55", "0.55"],
    ["BUY 10 YES @ 55c", "0.55"],
    ["BUY 10 YES @ 5¢", "0.05"],
    ["BUY 10 YES @ 55%", "0.55"],
    ["BUY 1,5 YES @ 0.55", "1.5"],
    ["BUY 1,000 YES @ 0.55", "1000"],
    ["BUY 1_000 YES @ 0.55", "1000"],
    ["BUY 10x YES @ 0.55", "10"],
    ["BUY 2k YES @ 0.55", "2000"],
    ["BUY +10 YES @ 0.55", "10"],
    ["BUY 10 YES @ +0.55", "0.55"],
    ["BUY YES +10 @ 0.55 GTD +60s", "BUY 10 YES @ 0.55 GTD +60s"],
    ["fund +100 USDC", "100"],
    // Types and expirations.
    ["BUY 10 YES @ 0.55 GTT +60s", "GTD"],
    ["BUY 10 YES @ 0.55 DAY", "GTD"],
    ["BUY 10 YES @ 0.55 limit", "BUY 10 YES @ 0.55"],
    ["BUY 10 YES @ 0.55 LMT", "GTC"],
    ["BUY 10 YES @ 0.55 IOC", "FAK"],
    ["BUY 10 YES @ 0.55 market", "FAK"],
    ["BUY 10 YES @ 0.55 AON", "FOK"],
    ["BUY 10 YES @ 0.55 GTD 60s", "+60s"],
    ["BUY 10 YES @ 0.55 GTD 60", "+60s"],
    ["BUY 10 YES @ 0.55 GTD +60", "+60s"],
    ["BUY 10 YES @ 0.55 GTD +5min", "+5m"],
    ["BUY 10 YES @ 0.55 GTD +1hour", "+1h"],
    ["BUY 10 YES @ 0.55 GTD in 60s", "+60s"],
    ["BUY 10 YES @ 0.55 GTD for 2days", "+2d"],
    ["BUY 10 YES @ 0.55 GTD until 2026-01-02T00:00:00Z", "2026-01-02T00:00:00Z"],
    ["BUY 10 YES @ 0.55 GTD 2026-01-02", "2026-01-02T00:00:00Z"],
    ["BUY 10 YES @ 0.55 GTD 2026-01-02T00:00:00", "2026-01-02T00:00:00Z"],
    ["BUY 10 YES @ 0.55 60s", "GTD +60s"],
    ["BUY 10 YES @ 0.55 +60s as bid", "GTD +60s"],
    // Other steps of accounts.
    ["cancel-all", "cancel all"],
    ["CANCEL bid", "cancel"],
    ["fund USDC 100", "fund 100 USDC"],
    ["fund 1,000 USDC", "1000"],
    ["fund $100 USDC", "100"],
    ["fund 100 USD", "USDC"],
    ["fund 10 yes", "YES"],
  ])("%s", (order, ...meant) => {
    expect(suggestionsOf(ofSteps(`alice: "${order}"`))).toEqual(meant);
  });

  it("also with several markets", () => {
    const orders = [
      "BUY in rain 10 YES @ 0.5",
      "BUY 10 rain YES @ 0.5",
      "BUY 10 YES rain @ 0.5",
      "BUY 10 YES @ 0.5 rain",
    ];
    expect(suggestionsOf(ofTwoMarkets(...orders.map((order) => `alice: ${order}`)))).toEqual(
      orders.map(() => "BUY 10 YES @ 0.5 in rain"),
    );
    // A word that is no market may mean anything.
    expect(suggestionsOf(ofTwoMarkets("alice: BUY 10 fog YES @ 0.5"))).toEqual([
      'x.yaml:5:19: expected YES or NO, found "fog"',
    ]);
  });

  it.each([
    "BUY 10 YES @ 0.55 as limit",
    "BUY 10 YES @ 0.55 as in",
    "BUY 10 YES @ 0.55 GTC as x",
    "BUY 10 YES @ 0.55 in market as from",
    "BUY 10 YES @ 0.55 GTD 2026-01-02T00:00:00Z in market as at",
    "SELL 0.5 NO @ 0.25 GTD +1h30m as buy",
    "SELL 55 NO @ 0.0001 FAK as GTC",
  ])("not if it is valid: %s", (order) => {
    expect(problemsOf(ofSteps(`alice: "${order}"`))).toEqual([]);
  });

  it.each(["BUY 4 YES @ 0.5 in market from bob MINT FAILED", "BUY 0.25 NO @ 0.5 from somebody MATCHED"])(
    "nor where a fill is right: %s",
    (fill) => {
      expect(problemsOf(ofSteps(`{ alice: BUY 10 YES @ 0.5, fills: ["${fill}"] }`))).toEqual([]);
    },
  );

  it("with a message of its own it has no other problem", () => {
    expect(problemsOf(ofSteps("alice: BUY 10 YES @0.55"))).toEqual([
      'x.yaml:4:23: expected @, found "@0.55" (put a space after @)',
    ]);
    expect(problemsOf(ofSteps("alice: BUY YES 10 @ 0.55"))).toEqual([
      `x.yaml:4:16: expected ${SIZE}, found "YES" (did you mean BUY 10 YES @ 0.55?)`,
    ]);
  });

  it("without a suggestion if the meaning is unclear", () => {
    expect(problemsOf(ofSteps("alice: BUY 10 YES @ 1.5"))).toEqual([
      `x.yaml:4:25: expected ${PRICE}, found "1.5"`,
    ]);
    expect(suggestionsOf(ofSteps("alice: BUY 10 20 YES @ 0.5"))).toEqual([
      'x.yaml:4:19: expected YES or NO, found "20"',
    ]);
    expect(problemsOf(ofSteps("alice: BUY 10 @ 0.5"))).toEqual([
      'x.yaml:4:19: expected YES or NO, found "@"',
    ]);
  });

  it("may be invalid in any way if a refusal is expected", () => {
    expect(problemsOf(ofSteps("{ alice: BUY YES 10 @ 0.55, rejects: INVALID_SIZE }"))).toEqual([]);
  });
});

describe("an almost valid expectation of an order is refused with a suggestion", () => {
  it.each<[status: string, ...meant: string[]]>([
    ["OPEN 0/10", "LIVE"],
    ["open 0/10", "LIVE"],
    ["live 0/10", "LIVE"],
    ["PARTIALLY_FILLED 5/10", "LIVE"],
    ["FILLED 10/10", "MATCHED"],
    ["Executed 10/10", "MATCHED"],
    ["CANCELLED 0/10", "CANCELED"],
    ["KILLED 0/10", "CANCELED"],
    ["EXPIRE 0/10", "EXPIRED"],
    ["LIVE 4 of 10", "4/10"],
    ["LIVE 4 / 10", "4/10"],
    ["LIVE 4 out of 10", "4/10"],
    ["4/10 OPEN", "LIVE 4/10"],
    ["CANCELED 0/10 fok_unfilled", "FOK_UNFILLED"],
  ])("status: %s", (status, ...meant) => {
    expect(suggestionsOf(ofSteps(`{ alice: BUY 10 YES @ 0.5, status: "${status}" }`))).toEqual(meant);
  });

  it("status: REJECTED", () => {
    expect(problemsOf(ofSteps("{ alice: BUY 10 YES @ 0.5, status: REJECTED 0/10 }"))).toEqual([
      'x.yaml:4:40: expected LIVE, MATCHED, CANCELED or EXPIRED, found "REJECTED" (add `rejects: CODE` to an order that must be refused)',
    ]);
  });

  it.each<[fill: string, ...meant: string[]]>([
    ["BUY YES 10 @ 0.5 from bob", "BUY 10 YES @ 0.5 from bob"],
    ["BUY 10 YES 0.5 from bob MINT", "BUY 10 YES @ 0.5 from bob MINT"],
    ["BUY 10 YES at 0.5 from bob", "@"],
    ["BUY 10 YES @ 0,5 from bob", "0.5"],
    ["BUY 10 YES @ 0.5 by bob", "from"],
    ["BUY 10 YES @ 0.5 against bob", "from"],
    ["buy 10 YES @ 0.5 from bob", "BUY"],
    ["BUY 10 YES @ 0.5 from Bob", "bob"],
    ["BUY 10 YES @ 0.5 from bob mint", "MINT"],
  ])("fills: %s", (fill, ...meant) => {
    expect(suggestionsOf(ofSteps(`{ alice: BUY 10 YES @ 0.5, fills: ["${fill}"] }`))).toEqual(meant);
  });

  it.each<[level: string, meant: string]>([
    ["0.5x10", "0.5 x 10"],
    ["0.5 × 10", "0.5 x 10"],
    ["10 @ 0.5", "0.5 x 10"],
    ["10 x 0.5 (2)", "0.5 x 10 (2)"],
    ["0,5 x 10", "0.5 x 10"],
    ["50c x 1,000", "0.50 x 1000"],
  ])("bids: %s", (level, meant) => {
    expect(suggestionsOf(ofSteps(`expect: { book: { YES: { bids: ["${level}"] } } }`))).toEqual([meant]);
  });

  it.each<[step: string, meant: string]>([
    ["advance: 30", "30s"],
    ["advance: 30 sec", "30s"],
    ["advance: 5 minutes", "5m"],
    ["advance: 1hr", "1h"],
    ["expect: { balances: { alice: { USDC: '1,000' } } }", "1000"],
  ])("%s", (step, meant) => {
    expect(suggestionsOf(ofSteps(step))).toEqual([meant]);
  });
});
