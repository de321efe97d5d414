/** The most orders that a generated flow may have. */
export const MOST_ORDERS = 10_000_000;
/** The most accounts that may trade in one. */
export const MOST_ACCOUNTS = 10_000;
