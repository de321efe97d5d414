import type { Stream } from "../core/random.ts";
import type { WorldMarket } from "./world.ts";

/** The trading rules of a market. */
export type MarketTerms = Pick<WorldMarket, "tickSize" | "minOrderSize" | "feeRateBps" | "matching">;

/** What most markets have, and the first market of every world. */
export const PLAIN_TERMS: MarketTerms = {
  tickSize: 0.01,
  minOrderSize: 1,
  feeRateBps: 0,
  matching: "complementary",
};

/** Draws the rules of a market; one whose price is near 0 or 1 mostly gets a finer tick. */
export function drawTerms(random: Stream, isExtreme: boolean): MarketTerms {
  return {
    tickSize: drawTick(random, isExtreme),
    minOrderSize: random.oneIn(6) ? 5 : 1,
    feeRateBps: random.oneIn(6) ? random.pick([100, 100, 150, 200]) : 0,
    matching: random.oneIn(15) ? "independent" : "complementary",
  };
}

function drawTick(random: Stream, isExtreme: boolean): number {
  const lot = random.below(100);
  if (lot < 1) return 0.0001;
  return lot < (isExtreme ? 70 : 19) ? 0.001 : 0.01;
}
