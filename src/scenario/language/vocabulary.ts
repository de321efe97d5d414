import { TICK_SIZES as TICK_SIZE_NUMBERS } from "../../api/markets.ts";
import type { SelfTradePolicy } from "../../core/book/book.ts";
import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type {
  BalancePolicy,
  Matching,
  OrderType,
  Outcome,
  SettlementMode,
  Side,
  WinningOutcome,
} from "../../core/terms.ts";

/** The sides of an order, and the outcomes of a market. */
export const SIDES: readonly Side[] = ["BUY", "SELL"];
export const OUTCOMES: readonly Outcome[] = ["YES", "NO"];

/** How a market can end. */
export const WINNERS: readonly WinningOutcome[] = [...OUTCOMES, "SPLIT"];

/** What a market's terms can say. */
export const TICK_SIZES: readonly string[] = TICK_SIZE_NUMBERS.map(String);
export const MATCHINGS: readonly Matching[] = ["complementary", "independent"];
export const SELF_TRADE_POLICIES: readonly SelfTradePolicy[] = [
  "allow",
  "cancel-taker",
  "cancel-maker",
  "cancel-both",
];

/** How long an order stays, and how its fill changed the number of sets. */
export const ORDER_TYPES: readonly OrderType[] = ["GTC", "FOK", "FAK", "GTD"];
export const SETS = ["MINT", "MERGE"] as const;

/** When blocks of the settlement chain are mined, and when what a fill brings can be spent. */
export const SETTLEMENT_MODES: readonly SettlementMode[] = ["instant", "auto", "manual"];
export const BALANCE_POLICIES: readonly BalancePolicy[] = ["optimistic", "settled"];

/** How far the settlement of a fill has come. */
export const SETTLEMENT_STATUSES: readonly SettlementStatus[] = [
  "MATCHED",
  "MINED",
  "CONFIRMED",
  "RETRYING",
  "FAILED",
];
