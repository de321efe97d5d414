// Terms of the exchange with their values. Hashes contain the indexes of sides, order types, match types, winning outcomes
// and cancel reasons: append only.

export const SIDES = ["BUY", "SELL"] as const;
export type Side = (typeof SIDES)[number];

export const OUTCOMES = ["YES", "NO"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const WINNING_OUTCOMES = [...OUTCOMES, "SPLIT"] as const;
export type WinningOutcome = (typeof WINNING_OUTCOMES)[number];

export const ORDER_TYPES = ["GTC", "GTD", "FOK", "FAK"] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

export const MARKET_STATUSES = ["ACTIVE", "CLOSED", "RESOLVED"] as const;

export const MATCHINGS = ["complementary", "independent"] as const;

/** The slug of an event or a market: lower-case words and digits joined by hyphens. */
export const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Price steps of markets, USDC. */
export const TICK_SIZES = [0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001] as const;

/** What matching does when it reaches an order of the taker's own account. */
export const SELF_TRADE_POLICIES = ["allow", "cancel-taker", "cancel-maker", "cancel-both"] as const;
export type SelfTradePolicy = (typeof SELF_TRADE_POLICIES)[number];

/** How a fill settles: shares change hands, a full set is split from 1 USDC, or a full set is merged into 1 USDC. */
export const MATCH_TYPES = ["COMPLEMENTARY", "MINT", "MERGE"] as const;
export type MatchType = (typeof MATCH_TYPES)[number];

/** Why an order was canceled. */
export const CANCEL_REASONS = [
  "USER",
  "FOK_UNFILLED",
  "FAK_UNFILLED",
  "FAK_REMAINDER",
  "SELF_TRADE",
  "MARKET_CLOSED",
  "SETTLEMENT_FAILED",
] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

/** Wallet address: `0x` and 40 lower-case hex digits. */
export type Address = string;

/** Whether a text is `0x` and 40 hex digits of either case; an EIP-55 checksum is not verified. */
export const isAddress = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text);

/** Whether a text is `0x` and 64 hex digits of either case: 32 bytes. */
export const isWord = (text: string): boolean => /^0x[0-9a-fA-F]{64}$/.test(text);

/** Returns the lower-case form of an address; null if the text is not an address. */
export const readAddress = (text: string): Address | null => (isAddress(text) ? text.toLowerCase() : null);

/** When the proceeds of a fill can be spent: at once, or after it is mined. */
export const BALANCE_POLICIES = ["optimistic", "settled"] as const;
export type BalancePolicy = (typeof BALANCE_POLICIES)[number];

/**
 * When blocks are mined. `instant`: with each command that needs one, and final at once. `auto`: every `BLOCK_INTERVAL_MS`
 * while transactions are pending. `manual`: on request.
 */
export const SETTLEMENT_MODES = ["instant", "auto", "manual"] as const;
export type SettlementMode = (typeof SETTLEMENT_MODES)[number];

/** Joins alternatives as `a, b or c`. */
export const anyOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

/** Used in the default of a switch over a closed union, so that a missing case does not compile. */
export const unreachable = (value: never): Error => new Error(`unreachable: ${JSON.stringify(value)}`);
