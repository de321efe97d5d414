import type { PositionChange } from "../../api/position-transaction.ts";
import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import type { OrderStatus } from "../../core/order.ts";
import type { ExchangeConfig } from "../../core/state.ts";
import type { CancelReason, MatchType, OrderType, Outcome, Side, WinningOutcome } from "../../core/terms.ts";
import type { Millis, Price, Size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Entry } from "../../engine/journal.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import type { World } from "../../simulation/world.ts";
import type { ExactOrder, Funding, OrderWords, RequestStep, StepOf } from "../language/scenario.ts";
import type { Way } from "../run/result.ts";
import type { Judging } from "../watch/flow-judge.ts";

/** Sooner or later: in this process every answer is there at once. */
export type Soon<T> = T | Promise<T>;

/** How a venue knows an order: a number here, a UUID there. */
export type OrderKey = number | string;

/** How it knows a trade. */
export type TradeKey = number | string;

/** What was asked for, or why not, in the words of the API. */
export type Attempt<T> = { readonly ok: true; readonly value: T } | Refused;

export interface Refused {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

export interface OrderView {
  readonly key: OrderKey;
  readonly orderType: OrderType;
  readonly status: OrderStatus;
  readonly matched: Size;
  readonly size: Size;
  readonly reason: CancelReason | null;
  readonly expiration: Millis | null;
}

/** A fill as its taker sees it, with both parties by name. */
export interface Fill {
  readonly trade: TradeKey;
  /** Its taker's. */
  readonly order: OrderKey;
  readonly market: string;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly price: Price;
  readonly size: Size;
  readonly taker: string;
  readonly maker: string;
  readonly makerOrder: OrderKey;
  readonly matchType: MatchType;
}

export interface Canceled {
  readonly canceled: readonly OrderKey[];
  /** Why an own order could not be canceled: `already matched`. */
  readonly notCanceled: readonly string[];
}

export interface Level {
  readonly price: Price;
  readonly size: Size;
  readonly orders: number;
}

/** Best first on both sides. */
export interface BookView {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

/** Units of the asset: micro-USDC, or 0.01 share. */
export interface HoldingView {
  readonly asset: "USDC" | TokenRef;
  readonly balance: number;
  readonly available: number;
  readonly reserved: number;
  /** What the wallet holds on the settlement chain. */
  readonly onChain: number;
}

/** Of a token in its own terms; the mid in 0.00001 USDC. */
export interface QuoteView {
  readonly bid: Price | null;
  readonly ask: Price | null;
  readonly mid: number | null;
  readonly spread: Price | null;
  readonly last: Price | null;
}

/** A token of the exchange, as the venue finds it by the names of the scenario. */
export interface TokenRef {
  readonly market: string;
  readonly outcome: Outcome;
}

/** A market's price step, and its smallest order. */
export interface Grid {
  readonly tickSize: Price;
  readonly minOrderSize: Size;
}

/** What became of the rows of an order flow. */
export interface FlowOutcome {
  readonly rows: number;
  readonly placed: number;
  readonly canceled: number;
  /** The first refused row, and how many were. */
  readonly rejected: number;
  readonly firstRejection: string | null;
  /** The row after which something did not hold, and was the last; null where all held whenever it was judged. */
  readonly broken: BrokenRow | null;
}

/** A row of a flow after which invariants do not hold. */
export interface BrokenRow {
  /** From 1. */
  readonly row: number;
  /** The row as a step would say it. */
  readonly text: string;
  /** What does not hold, a sentence each. */
  readonly violations: readonly string[];
}

export interface RawReply {
  readonly status: number;
  /** Null when the server answered nothing; else JSON, or the text where it is none. */
  readonly body: unknown;
  /** The error code of the answer, or the client's own. */
  readonly code: string | null;
  /** What the step wants of the answer, with ids where it names things. */
  readonly wanted: unknown;
}

/** All that was done on an exchange, to be done again elsewhere: told by the exchange itself, or its accepted commands. */
export type VenueDeeds =
  | { readonly kind: "report"; readonly text: string }
  | {
      readonly kind: "session";
      readonly world: World;
      readonly exchange: Exchange;
      readonly opening: { readonly config: ExchangeConfig; readonly start: Millis };
      readonly entries: readonly Entry[];
    };

/** An order that time alone ended. */
export interface Expired {
  readonly key: OrderKey;
  readonly at: Millis;
}

/**
 * An exchange as a scenario sees it: what it can do there, and what it can know. One runner drives all of them, so that
 * a scenario means the same in this process and over HTTP.
 */
export interface Venue {
  readonly way: Way;
  /** Names of all markets, in order. */
  readonly markets: readonly string[];
  /** Names of the scenario's accounts, in order. */
  readonly accounts: readonly string[];
  readonly chain: ChainVenue;

  now(): Soon<Millis>;
  /** Makes an account known and gives it what it starts with. */
  open(account: string, funding: readonly Funding[]): Soon<Attempt<null>>;
  place(account: string, words: OrderWords, exact: ExactOrder | null): Soon<Attempt<OrderView>>;
  /** `order` is a key of this venue, or a text that is none. */
  cancel(account: string, order: OrderKey): Soon<Attempt<Canceled>>;
  cancelAll(account: string): Soon<Attempt<Canceled>>;
  fund(account: string, funding: Funding): Soon<Attempt<null>>;
  advanceTo(moment: Millis): Soon<readonly Expired[]>;
  close(market: string): Soon<Attempt<null>>;
  resolve(market: string, outcome: WinningOutcome): Soon<Attempt<null>>;
  /**
   * Plays rows whose times count from now, up to the first after which something does not hold where they are judged;
   * accounts that it does not know are opened.
   */
  play(rows: AsyncIterable<readonly FlowRow[]>, market: string, judging?: Judging | null): Soon<FlowOutcome>;
  /** Whether a fill that was watched has broken a rule. */
  readonly hasBrokenFill: boolean;
  /** From now on `violations` judges each fill, too, where the venue can see them as they happen. */
  watchFills(): void;
  /** Keeps all there is and answers what `restore` takes. */
  snapshot(): Soon<unknown>;
  restore(snapshot: unknown): Soon<void>;
  /** A snapshot will not be restored any more. */
  forget(snapshot: unknown): Soon<void>;
  /** Only over HTTP. */
  fault(step: StepOf<"fault">): Soon<Attempt<null>>;
  /** `orderNamed` finds what the step's path and body name. */
  request(step: RequestStep, orderNamed: (name: string) => OrderKey | undefined): Soon<RawReply>;

  order(key: OrderKey): Soon<OrderView>;
  /** Why an order is where it is, a sentence a line. */
  explain(key: OrderKey): Soon<readonly string[]>;
  /** The id by which the exchange knows an order. */
  idOf(key: OrderKey): string;
  /** How many fills this scenario has seen so far. */
  fillCount(): number;
  /** The fills from a count on, oldest first. */
  fills(from: number): Soon<readonly Fill[]>;
  /** How far the settlement of each of some fills has come by now. */
  settlementsOf(fills: readonly Fill[]): Soon<readonly SettlementStatus[]>;
  book(token: TokenRef): Soon<BookView>;
  /** USDC first, then the tokens that the account has ever touched. */
  holdings(account: string): Soon<readonly HoldingView[]>;
  quote(token: TokenRef): Soon<QuoteView>;
  /** Oldest first, times in Unix seconds. */
  history(token: TokenRef): Soon<readonly { readonly t: number; readonly price: Price }[]>;
  /** Whether the outcomes of a market share one book. */
  isComplementary(market: string): boolean;
  /** What prices and sizes of a market are multiples of, or not below. */
  gridOf(market: string): Soon<Grid>;
  stateHash(): Soon<string | null>;
  /** The invariants that do not hold, a sentence each. */
  violations(): Soon<readonly string[]>;
  /** All that was done here, for a bug report written because of `reason`; null when nobody has kept it. */
  deeds(reason: string): Soon<VenueDeeds | null>;
  /** Ends what was opened for it. */
  dispose(): Soon<void>;
}

/** The numbers of the latest block and of the latest that is final, and how many transactions wait for one. */
export interface ChainView {
  readonly head: number;
  readonly confirmed: number;
  readonly pending: number;
}

/** How many shares of each outcome a market has issued. */
export type SharesView = Readonly<Record<Outcome, Size>>;

/** As the chain has it, and as the ledger counts with what is pending. */
export interface SupplyView {
  readonly onChain: SharesView;
  readonly ledger: SharesView;
}

/** The settlement chain of a venue: what a scenario can do to it, and what it can know of it. */
export interface ChainVenue {
  /** Has a wallet change what it holds of a market: its transaction is tried, and sent unless it would revert. */
  call(account: string, market: string, change: PositionChange): Soon<Attempt<null>>;
  mine(blocks: number): Soon<void>;
  reorganize(depth: number): Soon<Attempt<null>>;
  /** `of`: the order whose settlement alone it hits, `next` for the order that is placed next, null for any. */
  setFault(terms: SettlementFaultTerms, of: OrderKey | "next" | null): Soon<Attempt<null>>;
  /** Ends the faults that fail settlements, or all. */
  endFaults(which: "fail" | "all"): Soon<void>;
  /** Answers how many transactions offer more from now on. */
  bumpFees(): Soon<number>;

  view(): Soon<ChainView>;
  supply(market: string): Soon<SupplyView>;
  /** How far the settlement of an order's fills has come, in their order. */
  settled(order: OrderKey): Soon<readonly SettlementStatus[]>;
  /** What waits for a block and why, a sentence each, oldest first. */
  waiting(): Soon<readonly string[]>;
}

/** Something that a venue cannot do because of its surroundings; the message is a sentence for the user. */
export class VenueError extends Error {
  override readonly name = "VenueError";
}

/** The exchange threw at a row of a flow, which is a defect; `cause` is what it threw. */
export class RowError extends Error {
  override readonly name = "RowError";
  /** From 1. */
  readonly row: number;
  /** The row as a step would say it. */
  readonly text: string;

  constructor(row: number, text: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.row = row;
    this.text = text;
  }
}
