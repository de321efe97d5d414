import type { Money } from "./units.ts";

const MICROS = 1_000_000;

/** A running total of money in two integers, exact far beyond 2^53 micro-USDC. */
export interface Sum {
  /** Whole USDC. */
  usdc: number;
  /** The rest in micro-USDC, 0..999,999. */
  micro: number;
}

/** Nothing yet. */
export const emptySum = (): Sum => ({ usdc: 0, micro: 0 });

/** Adds an amount to a total; a negative one takes away. */
export function add(total: Sum, amount: Money): void {
  const micro = total.micro + amount;
  const carry = Math.floor(micro / MICROS);
  total.usdc += carry;
  total.micro = micro - carry * MICROS;
}

/** Adds one total to another. */
export function addSum(total: Sum, other: Sum): void {
  add(total, other.micro as Money);
  total.usdc += other.usdc;
}

/** The smaller total first. */
export const compareSums = (a: Sum, b: Sum): number => a.usdc - b.usdc || a.micro - b.micro;
