import type { SelfTradePolicy } from "../../core/book/book.ts";
import type { BalancePolicy, Matching, OrderType, Outcome, SettlementMode, Side } from "../../core/terms.ts";
import type { Millis, Money, Price, Size } from "../../core/units.ts";
import type { ChainStep } from "./chain-steps.ts";
import type {
  BalanceExpectation,
  BookExpectation,
  ChainExpectation,
  GoldenExpectation,
  HashExpectation,
  HistoryExpectation,
  OrderExpectation,
  QuoteExpectation,
  SettledExpectation,
  SupplyExpectation,
  TradesExpectation,
} from "./expectation.ts";
import type { FillLine, OrderLook } from "./looks.ts";
import type { PlainStep, StepBase } from "./plain-steps.ts";
import type { Place } from "./problem.ts";

/** A scenario as its file says it: quantities in the core's units, every part with its place. */
export interface Scenario {
  readonly name: string;
  readonly place: Place;
  /** Given, or a hash of the name. */
  readonly seed: string;
  /** Where the clock is frozen. */
  readonly clock: Millis;
  /** When blocks of the settlement chain are mined. */
  readonly settlement: SettlementMode;
  readonly balances: BalancePolicy;
  /** Absolute path of the world file it opens with; null for none. */
  readonly world: string | null;
  /** Markets of its own, in order; none when it opens a world. */
  readonly markets: readonly MarketTerms[];
  readonly accounts: readonly AccountTerms[];
  readonly steps: readonly Step[];
}

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

/** When an order expires: so long after it is placed, at a moment, or at something that is no moment. */
export type Expiry = { readonly after: number } | { readonly at: Millis } | { readonly text: string };

/** The words of an order line as they stand, which only a step that expects to be refused may get wrong. */
export interface OrderWords {
  readonly side: string;
  readonly size: string;
  readonly outcome: string;
  readonly price: string;
  readonly type: string;
  readonly expiry: Expiry | null;
  readonly market: string | null;
}

/** An order line of which every word is right; only what depends on the market is still to be seen. */
export interface ExactOrder {
  readonly side: Side;
  readonly size: Size;
  readonly outcome: Outcome;
  readonly price: Price;
  readonly orderType: OrderType;
  /** Set for GTD and only for GTD. */
  readonly expiry: { readonly after: number } | { readonly at: Millis } | null;
  readonly market: string | null;
}

/** What an order, cancel or request step says about its own outcome; null where it says nothing. */
export interface OwnExpectations {
  readonly status: Placed<OrderLook> | null;
  readonly fills: Placed<readonly Placed<FillLine>[]> | null;
  /** An error code, or why an order could not be canceled. */
  readonly rejects: Placed<string> | null;
}

/** A value with its place, for a failure to point at. */
export interface Placed<Value> {
  readonly value: Value;
  readonly place: Place;
}

export interface OrderStep extends StepBase {
  readonly kind: "order";
  readonly account: string;
  readonly words: OrderWords;
  /** Null when some word is wrong. */
  readonly exact: ExactOrder | null;
  /** The name given with `as`. */
  readonly name: string | null;
  readonly expects: OwnExpectations;
}

export interface CancelStep extends StepBase {
  readonly kind: "cancel";
  readonly account: string;
  /** The name of an order, or any text when the step expects to be refused. */
  readonly order: string;
  readonly expects: OwnExpectations;
}

export interface CancelAllStep extends StepBase {
  readonly kind: "cancelAll";
  readonly account: string;
  readonly expects: OwnExpectations;
}

/** Moves the clock to a moment, or to an order's expiration plus an offset in milliseconds. */
export interface AtStep extends StepBase {
  readonly kind: "at";
  readonly moment: { readonly at: Millis } | { readonly expiryOf: string; readonly offset: number };
}

/** The body of POST /sim/faults, as the step gives it. */
export interface FaultStep extends StepBase {
  readonly kind: "fault";
  readonly fault: Readonly<Record<string, string | number | boolean>>;
}

export interface SnapshotStep extends StepBase {
  readonly kind: "snapshot" | "restore";
  readonly name: string;
}

export interface ReplayStep extends StepBase {
  readonly kind: "replay";
  /** Absolute path. */
  readonly file: string;
  readonly market: string | null;
  /** How many rows are refused. */
  readonly rejected: number;
}

export interface GenerateStep extends StepBase {
  readonly kind: "generate";
  readonly orders: number;
  readonly accounts: number;
  readonly profile: string;
  readonly market: string | null;
}

/** Explores every order of some steps, each with the rest of the scenario after it. */
export interface RaceStep extends StepBase {
  readonly kind: "race";
  readonly steps: readonly Step[];
  /** What must hold after each order. */
  readonly after: readonly Expectation[];
}

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

/** A request as a client would send it, for what no other step can say. */
export interface RequestStep extends StepBase {
  readonly kind: "request";
  readonly method: string;
  /** As sent, from the origin: `/clob/order`. May hold `{token YES}`, `{order bid}`, `{address alice}`, `{market rain}`. */
  readonly path: string;
  /** Who signs it; null sends it unsigned. */
  readonly as: string | null;
  /** JSON, or a text that is sent as it stands; undefined for none. */
  readonly body: unknown;
  /** Replace what is made, after signing: null removes, several values send a header as often. */
  readonly headers: Readonly<Record<string, string | null | readonly string[]>>;
  readonly tamper: Tamper | null;
  readonly rejects: Placed<string> | null;
  /** What the answer must hold, at least. */
  readonly answers: Placed<unknown> | null;
}

export type Step =
  | OrderStep
  | CancelStep
  | CancelAllStep
  | AtStep
  | FaultStep
  | SnapshotStep
  | ReplayStep
  | GenerateStep
  | RaceStep
  | RequestStep
  | PlainStep
  | ChainStep;

/** One thing that must be true, with the place that says so. */
export type Expectation =
  | BookExpectation
  | TradesExpectation
  | OrderExpectation
  | BalanceExpectation
  | QuoteExpectation
  | HistoryExpectation
  | ChainExpectation
  | SupplyExpectation
  | SettledExpectation
  | HashExpectation
  | GoldenExpectation;
