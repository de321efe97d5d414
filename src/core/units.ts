/** Branded integers: a plain number is not assignable to a unit. */
declare const unit: unique symbol;
type Int<Name extends string> = number & { readonly [unit]: Name };

/** Price in 0.0001 USDC per share, 1..9999. */
export type Price = Int<"price">;
/** Size in 0.01 share. */
export type Size = Int<"size">;
/** Money in 0.000001 USDC. Price x size is exact in it. */
export type Money = Int<"money">;
/** Moment in milliseconds since 1970-01-01T00:00:00Z. */
export type Millis = Int<"millis">;

/** Payout of one share of the winning outcome: 1 USDC, in price units. */
export const FULL_PRICE = 10_000 as Price;
export const SHARE_UNITS = 100;
export const USDC_UNITS = 1_000_000;
/** Maximum order size, 10,000,000 shares, in size units. */
export const MAX_SIZE = 1_000_000_000 as Size;
/** The same in shares. */
export const MAX_SHARES = MAX_SIZE / SHARE_UNITS;
/** Maximum USDC that one exchange may issue, in money units; far enough below 2^53 that every sum of balances is exact. */
export const MAX_ISSUANCE = 4_000_000_000_000_000 as Money;
/** The same in USDC, and in shares of an outcome, because 1 USDC backs a set. */
export const MAX_USDC = MAX_ISSUANCE / USDC_UNITS;
/** Last moment with a four-digit year: 9999-12-31T23:59:59.999Z. */
export const MAX_MILLIS = 253_402_300_799_999 as Millis;
/** Default time of a frozen clock, and of a scenario: 2026-01-01T00:00:00Z. */
export const FROZEN_START = 1_767_225_600_000 as Millis;

// Casts for integers that have the unit by construction.

export const price = (units: number): Price => units as Price;
export const size = (units: number): Size => units as Size;
export const money = (units: number): Money => units as Money;
export const millis = (units: number): Millis => units as Millis;

/** Returns the cost of `size` at `price`, exact in micro-USDC. */
export const notional = (price: Price, size: Size): Money => (price * size) as Money;

/** Returns the price of the other outcome: prices of both outcomes sum to 1 USDC. */
export const complement = (price: Price): Price => (FULL_PRICE - price) as Price;

/** Total of money in two integers, exact beyond 2^53 micro-USDC: whole USDC, and the rest, 0..999,999 micro-USDC. */
export const emptySum = () => ({ usdc: 0, micro: 0 });
export type Sum = ReturnType<typeof emptySum>;

/** Adds an amount, which may be negative, to a total. */
export function add(total: Sum, amount: Money): void {
  const micro = total.micro + amount;
  const carry = Math.floor(micro / USDC_UNITS);
  total.usdc += carry;
  total.micro = micro - carry * USDC_UNITS;
}

export function addSum(total: Sum, other: Sum): void {
  add(total, other.micro as Money);
  total.usdc += other.usdc;
}

/** Compares totals in ascending order. */
export const compareSums = (a: Sum, b: Sum): number => a.usdc - b.usdc || a.micro - b.micro;
