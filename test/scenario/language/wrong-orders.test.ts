import { describe, expect, it } from "vitest";
import { BID, ofSteps, ofTwoMarkets, problemsOf } from "./scenario-texts.ts";

describe("orders that", () => {
  it.each<[title: string, text: string, ...problems: string[]]>([
    [
      "have an unknown side",
      ofSteps("alice: BYU 10 YES @ 0.5"),
      '4:12: expected BUY or SELL, found "BYU" (did you mean BUY?)',
    ],
    [
      "have a side in lower case",
      ofSteps("alice: buy 10 YES @ 0.5"),
      '4:12: expected BUY or SELL, found "buy" (did you mean BUY?)',
    ],
    [
      "have a size of nothing",
      ofSteps("alice: BUY 0 YES @ 0.5"),
      '4:16: expected a size from 0.01 to 10000000 with at most 2 decimals, found "0"',
    ],
    [
      "have a size below nothing",
      ofSteps("alice: BUY -3 YES @ 0.5"),
      '4:16: expected a size from 0.01 to 10000000 with at most 2 decimals, found "-3"',
    ],
    [
      "have a size that is too fine",
      ofSteps("alice: BUY 1.005 YES @ 0.5"),
      '4:16: expected a size from 0.01 to 10000000 with at most 2 decimals, found "1.005"',
    ],
    [
      "have a size that is too large",
      ofSteps("alice: BUY 10000001 YES @ 0.5"),
      '4:16: expected a size from 0.01 to 10000000 with at most 2 decimals, found "10000001"',
    ],
    [
      "have an exponent",
      ofSteps("alice: BUY 1e3 YES @ 0.5"),
      '4:16: expected a size from 0.01 to 10000000 with at most 2 decimals, found "1e3"',
    ],
    [
      "have an unknown outcome",
      ofSteps("alice: BUY 10 YSE @ 0.5"),
      '4:19: expected YES or NO, found "YSE" (did you mean YES?)',
    ],
    [
      "have no sign before the price",
      ofSteps("alice: BUY 10 YES 0.5"),
      '4:23: expected @, found "0.5" (did you mean BUY 10 YES @ 0.5?)',
    ],
    [
      "have the sign joined to the price",
      ofSteps("alice: BUY 10 YES @0.5"),
      '4:23: expected @, found "@0.5" (put a space after @)',
    ],
    ["have no price", ofSteps("alice: BUY 10 YES @"), "4:24: expected a price, found the end of the line"],
    [
      "have a price of all",
      ofSteps("alice: BUY 10 YES @ 1"),
      '4:25: expected a price from 0.0001 to 0.9999 with at most 4 decimals, found "1"',
    ],
    [
      "have a price that is too fine",
      ofSteps("alice: BUY 10 YES @ 0.55555"),
      '4:25: expected a price from 0.0001 to 0.9999 with at most 4 decimals, found "0.55555"',
    ],
    [
      "have an unknown type",
      ofSteps("alice: BUY 10 YES @ 0.5 IOC"),
      '4:29: expected GTC, FOK, FAK or GTD, found "IOC" (did you mean FAK?)',
    ],
    [
      "have a mistyped type",
      ofSteps("alice: BUY 10 YES @ 0.5 FKO"),
      '4:29: expected GTC, FOK, FAK or GTD, found "FKO" (did you mean FOK?)',
    ],
    [
      "have a type that is another exchange's",
      ofSteps("alice: BUY 10 YES @ 0.5 market"),
      '4:29: expected GTC, FOK, FAK or GTD, found "market" (did you mean FAK?)',
    ],
    [
      "have a type of the right letters",
      ofSteps("alice: BUY 10 YES @ 0.5 GDT"),
      '4:29: expected GTC, FOK, FAK or GTD, found "GDT" (did you mean GTD?)',
    ],
    [
      "have GTD without an expiry",
      ofSteps("alice: BUY 10 YES @ 0.5 GTD"),
      "4:32: expected when it expires, such as +60s or 2026-01-02T00:00:00Z, found nothing after GTD",
    ],
    [
      "have GTD with a bad expiry",
      ofSteps("alice: BUY 10 YES @ 0.5 GTD soon"),
      '4:33: expected when it expires, such as +60s or 2026-01-02T00:00:00Z, found "soon"',
    ],
    [
      "have an expiry that is not theirs",
      ofSteps("alice: BUY 10 YES @ 0.5 GTC +60s"),
      '4:33: expected in MARKET, as NAME or the end of the line, for only GTD expires, found "+60s"',
    ],
    [
      "have a word too many",
      ofSteps("alice: BUY 10 YES @ 0.5 GTC as bid now"),
      '4:40: expected in MARKET, then as NAME, or the end of the line, found "now"',
    ],
    [
      "have the name before the market",
      ofTwoMarkets("alice: BUY 10 YES @ 0.5 as bid in rain"),
      '5:29: expected in MARKET, then as NAME, or the end of the line, found "as" (did you mean BUY 10 YES @ 0.5 in rain as bid?)',
    ],
    [
      "have a mistyped in",
      ofTwoMarkets("alice: BUY 10 YES @ 0.5 GTC im rain"),
      '5:33: expected in MARKET, then as NAME, or the end of the line, found "im" (did you mean in?)',
    ],
    [
      "have no market after in",
      ofTwoMarkets("alice: BUY 10 YES @ 0.5 in"),
      "5:31: expected a market after in, found the end of the line",
    ],
    [
      "have an unknown market",
      ofTwoMarkets("alice: BUY 10 YES @ 0.5 in rian"),
      '5:32: unknown market "rian" (did you mean rain?)',
    ],
    [
      "have no market where there are several",
      ofTwoMarkets("alice: BUY 10 YES @ 0.5"),
      "5:12: expected the market to be named, for there are rain, snow",
    ],
    [
      "have no market where there are several, though refused",
      ofTwoMarkets("{ alice: BUY 10 MAYBE @ 0.5, rejects: TOKEN_NOT_FOUND }"),
      "5:14: expected the market to be named, for there are rain, snow",
    ],
    [
      "have no name after as",
      ofSteps("alice: BUY 10 YES @ 0.5 as"),
      "4:31: expected a name after as, found the end of the line",
    ],
    [
      "have a name that is none",
      ofSteps("alice: BUY 10 YES @ 0.5 as 1st"),
      '4:32: expected a name: a letter, then letters, digits, _ and -, at most 64, found "1st"',
    ],
    [
      "are called all",
      ofSteps("alice: BUY 10 YES @ 0.5 as all"),
      "4:32: all cannot name an order, for `cancel all` cancels every order",
    ],
    [
      "have a name that is taken",
      ofSteps(BID, BID),
      "5:32: another order is named bid already (give each a name of its own)",
    ],
    [
      "are wrong in several words",
      ofSteps("alice: BYU 0 YSE @ 2 GTX"),
      '4:12: expected BUY or SELL, found "BYU" (did you mean BUY?)',
      '4:16: expected a size from 0.01 to 10000000 with at most 2 decimals, found "0"',
      '4:18: expected YES or NO, found "YSE" (did you mean YES?)',
      '4:24: expected a price from 0.0001 to 0.9999 with at most 4 decimals, found "2"',
      '4:26: expected GTC, FOK, FAK or GTD, found "GTX" (did you mean GTC?)',
    ],
    [
      "have a status of no order",
      ofSteps("{ alice: BUY 10 YES @ 0.5, status: LIFE 0/10 }"),
      '4:40: expected LIVE, MATCHED, CANCELED or EXPIRED, found "LIFE" (did you mean LIVE?)',
    ],
    [
      "have a status without how much",
      ofSteps("{ alice: BUY 10 YES @ 0.5, status: LIVE }"),
      "4:44: expected how much of how much is matched, such as 40/100, found the end of the line",
    ],
    [
      "have a status of more than all",
      ofSteps("{ alice: BUY 10 YES @ 0.5, status: LIVE 11/10 }"),
      "4:45: 11 is more than the whole, 10",
    ],
    [
      "have a status that is no share",
      ofSteps("{ alice: BUY 10 YES @ 0.5, status: LIVE 1/2/3 }"),
      '4:45: expected how much of how much is matched, such as 40/100, found "1/2/3"',
    ],
    [
      "have an unknown reason",
      ofSteps("{ alice: BUY 10 YES @ 0.5, status: CANCELED 0/10 FOK_UNFILED }"),
      '4:54: expected USER, FOK_UNFILLED, FAK_UNFILLED, FAK_REMAINDER, SELF_TRADE, MARKET_CLOSED or SETTLEMENT_FAILED, found "FOK_UNFILED" (did you mean FOK_UNFILLED?)',
    ],
    [
      "have a text for fills",
      ofSteps("{ alice: BUY 10 YES @ 0.5, fills: none }"),
      '4:39: expected a list, found "none"',
    ],
    [
      "have a fill without a maker",
      ofSteps("{ alice: BUY 10 YES @ 0.5, fills: [BUY 10 YES @ 0.5] }"),
      "4:56: expected from, found the end of the line",
    ],
    [
      "have a fill with a mistyped match",
      ofSteps("{ alice: BUY 10 YES @ 0.5, fills: [BUY 10 YES @ 0.5 from bob MNIT] }"),
      '4:66: expected MINT, MERGE, a status or the end of the line, found "MNIT" (did you mean MINT?)',
    ],
    [
      "have a fill with two statuses",
      ofSteps("{ alice: BUY 10 YES @ 0.5, fills: [BUY 10 YES @ 0.5 from bob MINED MINED] }"),
      '4:72: expected the end of the line, found "MINED"',
    ],
    [
      "are refused with an unknown code",
      ofSteps("{ alice: BUY 10 YES @ 0.5, rejects: INVALID_TICKSIZE }"),
      '4:41: expected an error code such as INVALID_TICK_SIZE, found "INVALID_TICKSIZE" (did you mean INVALID_TICK_SIZE?)',
    ],
    [
      "are refused with nothing",
      ofSteps("{ alice: BUY 10 YES @ 0.5, rejects: }"),
      "4:41: expected an error code such as INVALID_TICK_SIZE, found nothing",
    ],
    [
      "are refused and have a status",
      ofSteps("{ alice: BUY 10 YES @ 0.555, rejects: INVALID_TICK_SIZE, status: LIVE 0/10 }"),
      "4:62: an order that is rejected has no status",
    ],
  ])("%s is told where and why", (_title, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => `x.yaml:${problem}`));
  });
});
