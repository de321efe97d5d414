// The words of the exchange, each with its values.

export const SIDES = ["BUY", "SELL"] as const;
export type Side = (typeof SIDES)[number];

export const OUTCOMES = ["YES", "NO"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const WINNING_OUTCOMES = [...OUTCOMES, "SPLIT"] as const;
export type WinningOutcome = (typeof WINNING_OUTCOMES)[number];

export const ORDER_TYPES = ["GTC", "GTD", "FOK", "FAK"] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

export type Matching = "complementary" | "independent";

/** How a fill settles: shares change hands, a full set is split from 1 USDC, or a full set is merged into 1 USDC. */
export const MATCH_TYPES = ["COMPLEMENTARY", "MINT", "MERGE"] as const;
export type MatchType = (typeof MATCH_TYPES)[number];

/** Why an order was canceled. Their order decides hashes of events: append only. */
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

/** A wallet address: `0x` and 40 lower-case hex digits. */
export type Address = string;

/** When what a fill brings can be spent: at once, or when it is mined. */
export type BalancePolicy = "optimistic" | "settled";

/**
 * When blocks are mined. `instant`: with whatever asks for one, and final at once. `auto`: every `BLOCK_INTERVAL_MS`
 * while something is pending. `manual`: when asked for.
 */
export type SettlementMode = "instant" | "auto" | "manual";
