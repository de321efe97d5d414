import { decimalText, MONEY_PLACES, PRICE_PLACES, SIZE_PLACES } from "../core/format.ts";
import type { Money, Price, Size, Sum } from "../core/units.ts";

const POWERS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000] as const;
const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/**
 * Reads a non-negative decimal exactly, from its shortest text, as units of 10^-places; null if it has more decimals, is
 * not a plain decimal, or is above 2^53 - 1 units.
 */
export function unitsOf(value: number | string, places: number): number | null {
  const [, whole, fraction = ""] = DECIMAL.exec(String(value)) ?? [];
  if (whole === undefined || /[1-9]/.test(fraction.slice(places))) return null;
  const units = Number(whole + fraction.slice(0, places).padEnd(places, "0"));
  return Number.isSafeInteger(units) ? units : null;
}

/** A decimal of the API: a JSON number. With `--numbers string` it is a text, which this type does not show. */
export type Decimal = number;

export interface Numbers {
  readonly mode: "number" | "string";
  /** Converts units of 10^-places. The quotient of the integers is the double whose shortest text is that decimal. */
  decimal(units: number, places: number): Decimal;
  price(price: Price): Decimal;
  size(size: Size): Decimal;
  money(money: Money): Decimal;
  /** Converts a total to the nearest double or to its exact text. */
  total(sum: Sum): Decimal;
}

/** Returns the converter for a mode. Both modes print the same digits. */
export function numbersAs(mode: "number" | "string"): Numbers {
  const decimal =
    mode === "number"
      ? (units: number, places: number): Decimal => units / (POWERS[places] as number)
      : (units: number, places: number): Decimal => decimalText(units, places) as unknown as Decimal;
  return {
    mode,
    decimal,
    price: (price) => decimal(price, PRICE_PLACES),
    size: (size) => decimal(size, SIZE_PLACES),
    money: (money) => decimal(money, MONEY_PLACES),
    total: (sum) => {
      const text = decimalText(sum.micro, MONEY_PLACES).replace(/^0/, String(sum.usdc));
      return mode === "number" ? Number(text) : (text as unknown as Decimal);
    },
  };
}
