import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { OrderStatus } from "../../core/order.ts";
import type { CancelReason, MatchType, Outcome, Side } from "../../core/terms.ts";
import type { Price, Size } from "../../core/units.ts";
import type { TokenName } from "./scenario.ts";

/** A price level: how many orders only where the file says so. */
export interface LevelLine {
  readonly price: Price;
  readonly size: Size;
  readonly orders: number | null;
}

/** An order's state: `LIVE 40/100`, `CANCELED 0/10 FOK_UNFILLED`. Without a reason none is compared. */
export interface OrderLook {
  readonly status: OrderStatus;
  readonly matched: Size;
  readonly size: Size;
  readonly reason: CancelReason | null;
}

/** A fill of a step's own order, as its taker sees it. */
export interface FillLine {
  readonly side: Side;
  readonly size: Size;
  readonly outcome: Outcome;
  readonly price: Price;
  readonly market: string | null;
  /** The account that rested, or the name of its order. */
  readonly maker: string;
  readonly isMakerOrder: boolean;
  readonly matchType: MatchType;
  /** Null compares none. */
  readonly status: SettlementStatus | null;
}

export interface TradeLine extends FillLine {
  readonly taker: string;
}

/** What there is of one asset, in its own units; null compares nothing. */
export interface BalanceLook {
  readonly asset: "USDC" | TokenName;
  /** Given alone: the whole balance, or what is available of it. */
  readonly amount: number | null;
  readonly balance: number | null;
  readonly available: number | null;
  readonly reserved: number | null;
  /** What the wallet holds on the settlement chain. */
  readonly onChain: number | null;
}
