// What stands, in a bundle of its own, in the place of all that makes settlements of trades: what that bundle does is
// what the exchange did if it had no chain, and what `npm run bench` compares with.
export * from "../../../src/core/rules/ledger.ts";

/** No transaction. */
export const addMatch = (): void => {};
/** Nothing is ever on its way. */
export const settlesInstantly = (): boolean => true;
export const markTouched = (): void => {};
export const addPendingFee = (): void => {};
export const addPendingFill = (): void => {};
