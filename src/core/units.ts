/** Integers with names: a plain number cannot be passed where a unit is asked. */
declare const unit: unique symbol;
type Int<Name extends string> = number & { readonly [unit]: Name };

/** Price in 0.0001 USDC per share, 1..9999. */
export type Price = Int<"price">;
/** Size in 0.01 share. */
export type Size = Int<"size">;
/** Money in 0.000001 USDC. Price x size is exact in it. */
export type Money = Int<"money">;
/** A moment, in milliseconds since 1970-01-01T00:00:00Z. */
export type Millis = Int<"millis">;

/** What one share of the winning outcome pays: 1 USDC, in price units. */
export const FULL_PRICE = 10_000 as Price;
/** The largest order, 10,000,000 shares, in size units. */
export const MAX_SIZE = 1_000_000_000 as Size;
/** The most USDC that one exchange may ever issue, in money units: far enough below 2^53 that every sum of balances is exact. */
export const MAX_ISSUANCE = 4_000_000_000_000_000 as Money;
/** The last moment a four-digit year can name: 9999-12-31T23:59:59.999Z. */
export const MAX_MILLIS = 253_402_300_799_999 as Millis;

/** Names an integer that is a price by construction. */
export const price = (units: number): Price => units as Price;
/** Names an integer that is a size by construction. */
export const size = (units: number): Size => units as Size;
/** Names an integer that is an amount of money by construction. */
export const money = (units: number): Money => units as Money;
/** Names an integer that is a moment by construction. */
export const millis = (units: number): Millis => units as Millis;

/** What `size` shares cost at `price`, in micro-USDC, exactly. */
export const notional = (price: Price, size: Size): Money => (price * size) as Money;

/** The price of the other outcome: the two outcomes of a market pay 1 USDC together. */
export const complement = (price: Price): Price => (FULL_PRICE - price) as Price;

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
