import type { OrderType } from "../core/terms.ts";

/** What other exchanges call an order that takes what there is and never rests. */
const MEANT: ReadonlyMap<string, OrderType> = new Map([
  ["IOC", "FAK"],
  ["MARKET", "FAK"],
]);

/** The order type that another exchange's word for one means here, in any case; undefined when it means none. */
export const meantOrderType = (word: string): OrderType | undefined => MEANT.get(word.toUpperCase());
