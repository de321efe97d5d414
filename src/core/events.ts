import type { ChainEvent } from "./chain/chain-events.ts";
import type { Address, CreateEvent, CreateMarket, OrderType, Side, WinningOutcome } from "./commands.ts";
import type { Millis, Money, Price, Size } from "./units.ts";

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

export interface EventCreated extends Omit<CreateEvent, "kind"> {
  readonly kind: "eventCreated";
  readonly event: number;
}

export interface MarketCreated extends Omit<CreateMarket, "kind"> {
  readonly kind: "marketCreated";
  readonly market: number;
  /** The transaction that brings its condition to the chain. */
  readonly transaction: number;
}

export interface MarketClosed {
  readonly kind: "marketClosed";
  readonly market: number;
}

export interface MarketResolved {
  readonly kind: "marketResolved";
  readonly market: number;
  readonly winningOutcome: WinningOutcome;
  /** The transaction that reports it on the chain. */
  readonly transaction: number;
}

export interface AccountOpened {
  readonly kind: "accountOpened";
  readonly account: number;
  readonly address: Address;
}

export interface CollateralIssued {
  readonly kind: "collateralIssued";
  readonly account: number;
  readonly amount: Money;
  readonly transaction: number;
}

/** Full sets minted from newly issued USDC: the YES shares to one account, the NO shares to another or the same. */
export interface SetsIssued {
  readonly kind: "setsIssued";
  readonly market: number;
  readonly size: Size;
  readonly yes: number;
  readonly no: number;
  readonly transaction: number;
}

/** Raises what an account is granted in every market it touches. */
export interface GrantRaised {
  readonly kind: "grantRaised";
  readonly account: number;
  readonly size: Size;
}

/** The account's grant in one market is minted, on first touch. */
export interface GrantMinted {
  readonly kind: "grantMinted";
  readonly account: number;
  readonly market: number;
  readonly size: Size;
  readonly transaction: number;
}

export interface CredentialsDerived {
  readonly kind: "credentialsDerived";
  readonly account: number;
}

export interface OrderPlaced {
  readonly kind: "orderPlaced";
  readonly order: number;
  readonly account: number;
  readonly token: number;
  readonly side: Side;
  readonly price: Price;
  readonly size: Size;
  readonly orderType: OrderType;
  readonly expiration: Millis | null;
  /** The best opposite price when it came, in terms of its own token; null when nobody stood there. */
  readonly touch: Price | null;
  /** How much it could have filled at its limit when it came. */
  readonly crossable: Size;
  /** The first order of its own account that stood in its way under a self-trade policy; 0 for none. */
  readonly ownInWay: number;
}

/** One fill between a taker and a resting maker. */
export interface OrderTraded {
  readonly kind: "orderTraded";
  readonly trade: number;
  readonly taker: number;
  readonly maker: number;
  /** In terms of the taker's token; the maker's own limit price. */
  readonly price: Price;
  readonly size: Size;
  /** Paid by the taker, in USDC. */
  readonly fee: Money;
  readonly matchType: MatchType;
  /** The transaction that settles it, one for all fills of a taker. */
  readonly transaction: number;
}

export interface OrderRested {
  readonly kind: "orderRested";
  readonly order: number;
}

export interface OrderCanceled {
  readonly kind: "orderCanceled";
  readonly order: number;
  readonly reason: CancelReason;
}

export interface OrderExpired {
  readonly kind: "orderExpired";
  readonly order: number;
}

/** Everything that can happen to the state, as plain data; `apply` is the only reader that writes. */
export type DomainEvent =
  | EventCreated
  | MarketCreated
  | MarketClosed
  | MarketResolved
  | AccountOpened
  | CollateralIssued
  | SetsIssued
  | GrantRaised
  | GrantMinted
  | CredentialsDerived
  | OrderPlaced
  | OrderTraded
  | OrderRested
  | OrderCanceled
  | OrderExpired
  | ChainEvent;
