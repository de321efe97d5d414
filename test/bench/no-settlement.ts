// Replaces the settlement of trades in a separate bundle, which shows the cost of an exchange without a chain.
export * from "../../src/core/rules/ledger.ts";

/** No transaction. */
export const addMatch = (): void => {};
/** No pending amounts. */
export const settlesInstantly = (): boolean => true;
export const listPendingBalances = (): void => {};
export const addPendingFee = (): void => {};
export const addPendingFill = (): void => {};
