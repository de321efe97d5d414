export type Side = "BUY" | "SELL";

export type Outcome = "YES" | "NO";

export type OrderType = "GTC" | "GTD" | "FOK" | "FAK";

export type Matching = "complementary" | "independent";

export type WinningOutcome = Outcome | "SPLIT";

/** A wallet address: `0x` and 40 lower-case hex digits. */
export type Address = string;

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

/** How a fill settles: shares change hands, a full set is split from 1 USDC, or a full set is merged into 1 USDC. */
export type MatchType = "COMPLEMENTARY" | "MINT" | "MERGE";

/** When what a fill brings can be spent: at once, or when it is mined. */
export type BalancePolicy = "optimistic" | "settled";

/**
 * When blocks are mined. `instant`: with whatever asks for one, and final at once. `auto`: every `BLOCK_INTERVAL_MS`
 * while something is pending. `manual`: when asked for.
 */
export type SettlementMode = "instant" | "auto" | "manual";
