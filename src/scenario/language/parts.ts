import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { OrderStatus } from "../../core/order.ts";
import type { CancelReason, Matching, MatchType, Outcome, SelfTradePolicy, Side } from "../../core/terms.ts";
import type { Money, Price, Size } from "../../core/units.ts";
import type { Place } from "./problem.ts";

/** A market of the scenario's own; its name is its slug. */
export interface MarketTerms {
  readonly name: string;
  readonly tickSize: Price;
  readonly minOrderSize: Size;
  readonly feeRateBps: number;
  readonly matching: Matching;
  readonly selfTrade: SelfTradePolicy;
}

export interface AccountTerms {
  readonly name: string;
  readonly place: Place;
  readonly funding: readonly Funding[];
}

/** An outcome of a market; the market is null where the scenario has but one. */
export interface TokenName {
  readonly market: string | null;
  readonly outcome: Outcome;
}

/** USDC in micro-USDC, or shares in size units. */
export type Funding =
  | { readonly asset: "USDC"; readonly amount: Money }
  | { readonly asset: TokenName; readonly amount: Size };

/** A value with its place, for a failure to point at. */
export interface Placed<Value> {
  readonly value: Value;
  readonly place: Place;
}

/** What every step has: its number from 1 in the scenario, its text as a person reads it, its place. */
export interface StepBase {
  readonly number: number;
  readonly text: string;
  readonly place: Place;
}

/** Stands for the order that is placed next: no name of an order holds a blank. */
export const NEXT_ORDER = "next order";

/** Why a wallet's transaction does not come to the chain: it would have no effect, or no node takes it. */
export const TRANSACTION_CODES = ["TRANSACTION_REVERTED", "TRANSACTION_REFUSED"] as const;

/** What is done to a request that is made and signed otherwise as it should be; headers by name, in lower case but for `spell`. */
export interface Tamper {
  /** Is signed instead of the path, which has neither `/clob` nor a query; null where that is signed. */
  readonly sign: string | null;
  /** What is put behind the value of a header. */
  readonly append: Readonly<Record<string, string>>;
  /** Are sent twice. */
  readonly twice: readonly string[];
  /** Names of headers in the letters in which they are sent. */
  readonly spell: readonly string[];
}

/** What each kind of expectation says. */
interface ExpectationContents {
  /** What stands in the book of a token, best first; null compares nothing. */
  book: { token: TokenName; bids: readonly LevelLine[] | null; asks: readonly LevelLine[] | null };
  /** All trades since the last such expectation, in order. */
  trades: { trades: readonly Placed<TradeLine>[] };
  /** The state of an order named before. */
  order: { name: string; state: OrderState };
  /** What an account has of one asset. */
  balance: { account: string; state: BalanceState };
  quote: { token: TokenName; state: QuoteState };
  /** The whole price history of a token, oldest first, times in Unix seconds. */
  history: { token: TokenName; points: readonly { readonly t: number; readonly price: Price }[] };
  /** How the settlement chain stands: its latest block, the latest that is final, how many transactions wait for one. */
  chain: { part: "head" | "confirmed" | "pending"; count: number };
  /** How many shares of a market there are on the chain; without an outcome of both, so many sets. */
  supply: { market: string | null; outcome: Outcome | null; size: Size };
  /** How far the settlement of an order's fills has come, in their order: one status for all of them, or one for each. */
  settled: { name: string; statuses: SettlementStatus | readonly SettlementStatus[] };
  stateHash: {
    /** Empty where it is to be written. */
    hash: string;
    /** Offsets of the value in its file, in UTF-16 code units, for `--update`: quotes that it has stay outside. */
    range: readonly [start: number, end: number];
    /** What a new hash is to stand between: quotes where the value has none, a space where it would touch the colon. */
    around: readonly [before: string, after: string];
  };
  /** Books and trades as a file holds them; an absolute path. */
  golden: { file: string };
}

export type ExpectationKind = keyof ExpectationContents;
export type ExpectationOf<Kind extends ExpectationKind> = {
  readonly kind: Kind;
  readonly place: Place;
} & Readonly<ExpectationContents[Kind]>;
/** One thing that must be true, with the place that says so. */
export type Expectation = { [Kind in ExpectationKind]: ExpectationOf<Kind> }[ExpectationKind];

/** Prices of a token; undefined compares nothing, null says there is none. The mid counts in 0.00001 USDC. */
export interface QuoteState {
  readonly bid?: Price | null;
  readonly ask?: Price | null;
  readonly mid?: number | null;
  readonly spread?: Price | null;
  readonly last?: Price | null;
}

/** A price level: how many orders only where the file says so. */
export interface LevelLine {
  readonly price: Price;
  readonly size: Size;
  readonly orders: number | null;
}

/** An order's state: `LIVE 40/100`, `CANCELED 0/10 FOK_UNFILLED`. Without a reason none is compared. */
export interface OrderState {
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
export interface BalanceState {
  readonly asset: "USDC" | TokenName;
  /** Given alone: the whole balance, or what is available of it. */
  readonly amount: number | null;
  readonly balance: number | null;
  readonly available: number | null;
  readonly reserved: number | null;
  /** What the wallet holds on the settlement chain. */
  readonly onChain: number | null;
}
