import type { Money, Price, Size } from "../units.ts";
import { complement } from "../units.ts";

const BPS = 10_000;

/**
 * Taker fee in micro-USDC: floor(feeRateBps x min(price, 1 - price) x size / 10,000), rounded down; the product is
 * split before it is multiplied, so that it stays below 2^53 for every price, size and rate.
 */
export function feeOf(price: Price, size: Size, feeRateBps: number): Money {
  if (feeRateBps === 0) return 0 as Money;
  const base = Math.min(price, complement(price)) * size;
  const whole = Math.floor(base / BPS);
  return (whole * feeRateBps + Math.floor(((base - whole * BPS) * feeRateBps) / BPS)) as Money;
}
