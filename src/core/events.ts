import type { SettlementFaultTerms } from "./chain/settlement-fault.ts";
import type { CallContent, CallEffect, HoldReason } from "./chain/transaction.ts";
import type { CreateEvent, CreateMarket } from "./commands.ts";
import type { Address, CancelReason, MatchType, OrderType, Side, WinningOutcome } from "./terms.ts";
import type { Millis, Money, Price, Size } from "./units.ts";

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

/** A wallet's transaction has come. */
export interface TransactionSent {
  readonly kind: "transactionSent";
  readonly transaction: number;
  readonly content: CallContent;
  /** The pending transaction of the same nonce that it takes the place of; 0 for none. */
  readonly replaces: number;
}

/** Blocks are to be mined at once. */
export interface BlocksAsked {
  readonly kind: "blocksAsked";
  readonly count: number;
}

/** A block is mined with a run of transactions in order, none of which is out of the ordinary; empty ones may follow. */
export interface BlocksMined {
  readonly kind: "blocksMined";
  /** Of the first of them. */
  readonly height: number;
  /** The last of the run, which goes on where the block before has ended. */
  readonly lastTransaction: number;
  /** How many empty blocks follow. */
  readonly empty: number;
}

/** A block is begun, to be put together transaction by transaction. */
export interface BlockOpened {
  readonly kind: "blockOpened";
  readonly height: number;
  readonly baseFee: number;
}

/** The block that was begun is whole. */
export interface BlockSealed {
  readonly kind: "blockSealed";
  readonly height: number;
}

/** A transaction that is no call is in the block and carried out. */
export interface TransactionMined {
  readonly kind: "transactionMined";
  readonly transaction: number;
}

/** A call is in the block and carried out. */
export interface CallExecuted {
  readonly kind: "callExecuted";
  readonly transaction: number;
  readonly gas: number;
  /** Wei per gas. */
  readonly gasPrice: number;
  /** What it changes in the ledger, now or, after a reorganization, when it was first carried out. */
  readonly effect: CallEffect;
  /** Whether the ledger has that already. */
  readonly isRepeated: boolean;
}

/** A call is in the block and of no effect but its cost. */
export interface CallReverted {
  readonly kind: "callReverted";
  readonly transaction: number;
  readonly gas: number;
  readonly gasPrice: number;
  readonly reason: string;
}

/** A transaction is put off. */
export interface TransactionHeld {
  readonly kind: "transactionHeld";
  readonly transaction: number;
  readonly hold: HoldReason;
  /** The height before which it is not looked at. */
  readonly notBefore: number;
  /** The fault that did it; 0 for none. */
  readonly fault: number;
}

/** A settlement will never be mined, and nobody is told. */
export interface SettlementLost {
  readonly kind: "settlementLost";
  readonly transaction: number;
  readonly fault: number;
}

/** A settlement has failed: the ledger takes its trades back, for all parties at once. */
export interface SettlementFailed {
  readonly kind: "settlementFailed";
  readonly transaction: number;
  readonly reason: string;
  /** Whether a block has it, reverted; else it was given up before. */
  readonly isMined: boolean;
  readonly fault: number;
}

/** The latest blocks are replaced by empty ones; what they held is pending again. */
export interface ChainReorganized {
  readonly kind: "chainReorganized";
  readonly depth: number;
}

export interface SettlementFaultSet extends SettlementFaultTerms {
  readonly kind: "settlementFaultSet";
  readonly number: number;
}

/** A fault is over; all of them when the number is 0. */
export interface SettlementFaultEnded {
  readonly kind: "settlementFaultEnded";
  readonly number: number;
}

/** The exchange raises the fees of its own pending transactions to whatever the base fee is. */
export interface FeesBumped {
  readonly kind: "feesBumped";
  readonly transactions: readonly number[];
}

/** An address has so much of the native currency. */
export interface NativeBalanceSet {
  readonly kind: "nativeBalanceSet";
  readonly address: Address;
  /** Wei, decimal. */
  readonly wei: string;
}

/** What happens on the settlement chain. */
export type ChainEvent =
  | TransactionSent
  | BlocksAsked
  | BlocksMined
  | BlockOpened
  | BlockSealed
  | TransactionMined
  | CallExecuted
  | CallReverted
  | TransactionHeld
  | SettlementLost
  | SettlementFailed
  | ChainReorganized
  | SettlementFaultSet
  | SettlementFaultEnded
  | FeesBumped
  | NativeBalanceSet;

/** An event of one kind. */
export type EventOf<Kind extends DomainEvent["kind"]> = Extract<DomainEvent, { readonly kind: Kind }>;
