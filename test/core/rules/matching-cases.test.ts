import { describe, expect, it } from "vitest";
import vectors from "../../../fixtures/vectors/matching-cases.json" with { type: "json" };
import { decimalText, PRICE_PLACES } from "../../../src/core/format.ts";
import type { Market } from "../../../src/core/market.ts";
import { bookFor } from "../../../src/core/market.ts";
import type { Outcome } from "../../../src/core/terms.ts";
import { unitsIn } from "../../support/commands.ts";
import { openFundedExchange, type TestExchange } from "../../support/exchange.ts";

const { cases } = vectors;
type Case = (typeof cases)[number];
type Level = Case["expect"]["bids"][number];

const TRADERS = ["alice", "bob", "carol"] as const;
const traderOf = (index: number): string => TRADERS[index % TRADERS.length] as string;
const mirrorOf = (price: number): string => decimalText(10_000 - unitsIn(price, PRICE_PLACES), PRICE_PLACES);

/** Market and outcomes with which the orders of a case are sent; `mirrored`: whether one for NO mirrors that of the case. */
const variant = (
  name: string,
  matching: Market["matching"],
  outcomes: readonly Outcome[],
  mirrored = false,
) => ({
  ...{ name, matching, mirrored },
  outcome: (index: number) => outcomes[index % outcomes.length] as Outcome,
});
type Variant = ReturnType<typeof variant>;

const VARIANTS: readonly Variant[] = [
  variant("YES of an independent market", "independent", ["YES"]),
  variant("NO of an independent market", "independent", ["NO"]),
  variant("YES of a complementary market", "complementary", ["YES"]),
  variant("mirrored NO of a complementary market", "complementary", ["NO"], true),
  variant("YES and mirrored NO alternating", "complementary", ["YES", "NO"], true),
];

/** Runs a case; returns the number of each order by its id in the case. */
function play(exchange: TestExchange, { steps }: Case, { outcome, mirrored }: Variant): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const { op, id, side, price, size, type } of steps) {
    if (op === "cancel" || price === undefined) {
      exchange.cancel(traderOf((numbers.get(id) ?? 1) - 1), numbers.get(id) ?? 999);
      continue;
    }
    const index = numbers.size;
    const token = outcome(index);
    const isMirror = mirrored && token === "NO";
    const sentSide = isMirror === (side === "BUY") ? "SELL" : "BUY";
    const limit = isMirror ? mirrorOf(price) : price;
    numbers.set(id, exchange.send(`${traderOf(index)} ${sentSide} ${size} ${token} @ ${limit} ${type}`));
  }
  return numbers;
}

const sideOf = ({ steps }: Case, order: string) => steps.find(({ id }) => id === order)?.side;

/** Returns the expected trades, each in terms of its taker's token. */
function expectedTrades(each: Case, variant: Variant, numbers: Map<string, number>): string[] {
  const tokenOf = (id: string): Outcome => variant.outcome((numbers.get(id) ?? 0) - 1);
  return each.expect.trades.map(({ maker, taker, price, size }) => {
    const isMirror = variant.mirrored && tokenOf(taker) === "NO";
    const isBuy = (sideOf(each, taker) === "BUY") !== isMirror;
    const how = tokenOf(maker) === tokenOf(taker) ? "" : isBuy ? " MINT" : " MERGE";
    const at = isMirror ? mirrorOf(price) : price;
    return `#${numbers.get(taker)} x #${numbers.get(maker)}: ${size} @ ${at}${how}`;
  });
}

describe.each(VARIANTS)("with $name", (variant) => {
  it.each(cases)("$name", (each) => {
    const { matching, outcome } = variant;
    const exchange = openFundedExchange({ matching, tickSize: each.tick, minOrderSize: 0.01 });
    const numbers = play(exchange, each, variant);
    const line = ({ price, size }: Level): string => `${size} @ ${price}`;
    const mirror = ({ price, size }: Level): string => `${size} @ ${mirrorOf(price)}`;
    const { bids, asks } = each.expect;
    const own = { bids: bids.map(line), asks: asks.map(line) };
    const complement = { bids: asks.map(mirror), asks: bids.map(mirror) };
    expect(exchange.trades()).toEqual(expectedTrades(each, variant, numbers));
    const [token, other] =
      variant.mirrored || outcome(0) === "YES" ? (["YES", "NO"] as const) : (["NO", "YES"] as const);
    const last = each.expect.trades.at(-1);
    const found = bookFor(exchange.state.markets.get(1), token).last;
    expect(found && { price: found.price / 10_000, side: found.side }).toEqual(
      last === undefined ? null : { price: last.price, side: sideOf(each, last.taker) },
    );
    expect(exchange.book(token)).toEqual(own);
    expect(exchange.book(other)).toEqual(matching === "complementary" ? complement : { bids: [], asks: [] });
  });
});
