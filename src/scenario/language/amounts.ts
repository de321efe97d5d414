import { MONEY_PLACES, PRICE_PLACES, SIZE_PLACES } from "../../api/decimals.ts";
import { FULL_PRICE, MAX_ISSUANCE, MAX_SIZE, type Money, type Price, type Size } from "../../core/units.ts";
import { type DecimalRule, decimalIn } from "./values.ts";

/** As many shares as all the USDC of an exchange can back. */
const MAX_SHARES = MAX_ISSUANCE / FULL_PRICE;

/** A price of some market; whether it is on the market's tick the exchange says. */
export const PRICE: DecimalRule = { what: "a price", places: PRICE_PLACES, least: 1, most: FULL_PRICE - 1 };
/** A size of an order; whether it is large enough for the market the exchange says. */
export const SIZE: DecimalRule = { what: "a size", places: SIZE_PLACES, least: 1, most: MAX_SIZE };
/** What stands on a level of a book, which may be several orders. */
export const LEVEL_SIZE: DecimalRule = { what: "a size", places: SIZE_PLACES, least: 1, most: MAX_SHARES };
/** What of an order is matched. */
export const MATCHED: DecimalRule = { what: "a size", places: SIZE_PLACES, least: 0, most: MAX_SIZE };
/** What an account has of USDC, and of an outcome. */
export const USDC: DecimalRule = {
  what: "an amount of USDC",
  places: MONEY_PLACES,
  least: 0,
  most: MAX_ISSUANCE,
};
export const SHARES: DecimalRule = {
  what: "a number of shares",
  places: SIZE_PLACES,
  least: 0,
  most: MAX_SHARES,
};

/** The same, but not nothing. */
export const positive = (rule: DecimalRule): DecimalRule => ({ ...rule, least: 1 });

export const priceOf = (text: string): Price | null => decimalIn(text, PRICE) as Price | null;
export const sizeOf = (text: string, rule = SIZE): Size | null => decimalIn(text, rule) as Size | null;
export const moneyOf = (text: string): Money | null => decimalIn(text, USDC) as Money | null;
