import type { PositionChange } from "../../api/position-transaction.ts";
import type { SelfTradePolicy } from "../../core/book/book.ts";
import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import type { OrderStatus } from "../../core/order.ts";
import type {
  BalancePolicy,
  CancelReason,
  Matching,
  MatchType,
  OrderType,
  Outcome,
  SettlementMode,
  Side,
  WinningOutcome,
} from "../../core/terms.ts";
import type { Millis, Money, Price, Size } from "../../core/units.ts";
import type { ProfileName } from "../../simulation/flow.ts";
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
  readonly status: Placed<OrderState> | null;
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
  readonly profile: ProfileName;
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

/** What a wallet does on the chain itself. Its transaction is tried before it is sent, as wallets do. */
export interface CallStep extends StepBase {
  readonly kind: PositionChange["kind"];
  readonly account: string;
  readonly market: string | null;
  readonly change: PositionChange;
  readonly rejects: Placed<string> | null;
}

/** Why a wallet's transaction does not come to the chain: it would have no effect, or no node takes it. */
export const TRANSACTION_CODES = ["TRANSACTION_REVERTED", "TRANSACTION_REFUSED"] as const;
export type TransactionCode = (typeof TRANSACTION_CODES)[number];

/** Mines blocks, whatever the mode. */
export interface MineStep extends StepBase {
  readonly kind: "mine";
  readonly blocks: number;
}

/** Puts empty blocks in the place of the latest ones. */
export interface ReorgStep extends StepBase {
  readonly kind: "reorg";
  readonly depth: number;
  readonly rejects: Placed<string> | null;
}

/** Stands for the order that is placed next: no name of an order holds a blank. */
export const NEXT_ORDER = "next order";

/** Lets something go wrong with settlements; null ends it: of `failSettlement` what fails them, else everything. */
export interface SettlementFaultStep extends StepBase {
  readonly kind: "failSettlement" | "chainFault";
  readonly fault: SettlementFaultTerms | null;
  /** The order whose settlement alone it hits, by name, or `next order`, the one that is placed next; null for any. */
  readonly of: string | null;
}

/** Lets the exchange raise the fees of what it has pending. */
export interface BumpStep extends StepBase {
  readonly kind: "bump";
}

/** The steps of the settlement chain. */
export type ChainStep = CallStep | MineStep | ReorgStep | SettlementFaultStep | BumpStep;

/** What stands in the book of a token. */
interface BookExpectation {
  readonly kind: "book";
  readonly place: Place;
  readonly token: TokenName;
  /** Best first; null compares nothing. */
  readonly bids: readonly LevelLine[] | null;
  readonly asks: readonly LevelLine[] | null;
}

/** All trades since the last such expectation, in order. */
interface TradesExpectation {
  readonly kind: "trades";
  readonly place: Place;
  readonly trades: readonly Placed<TradeLine>[];
}

/** The state of an order named before. */
interface OrderExpectation {
  readonly kind: "order";
  readonly place: Place;
  readonly name: string;
  readonly state: OrderState;
}

/** What an account has of one asset. */
interface BalanceExpectation {
  readonly kind: "balance";
  readonly place: Place;
  readonly account: string;
  readonly state: BalanceState;
}

/** The prices of a token. */
interface QuoteExpectation {
  readonly kind: "quote";
  readonly place: Place;
  readonly token: TokenName;
  readonly state: QuoteState;
}

/** Prices of a token; undefined compares nothing, null says there is none. The mid counts in 0.00001 USDC. */
export interface QuoteState {
  readonly bid?: Price | null;
  readonly ask?: Price | null;
  readonly mid?: number | null;
  readonly spread?: Price | null;
  readonly last?: Price | null;
}

/** The whole price history of a token. */
export interface HistoryExpectation {
  readonly kind: "history";
  readonly place: Place;
  readonly token: TokenName;
  /** Oldest first, times in Unix seconds. */
  readonly points: readonly { readonly t: number; readonly price: Price }[];
}

/** How the settlement chain stands: its latest block, the latest that is final, how many transactions wait for one. */
export interface ChainExpectation {
  readonly kind: "chain";
  readonly place: Place;
  readonly part: "head" | "confirmed" | "pending";
  readonly count: number;
}

/** How many shares of a market there are on the chain. */
interface SupplyExpectation {
  readonly kind: "supply";
  readonly place: Place;
  readonly market: string | null;
  /** Null: of both outcomes, so many sets. */
  readonly outcome: Outcome | null;
  readonly size: Size;
}

/** How far the settlement of an order's fills has come, in their order. */
export interface SettledExpectation {
  readonly kind: "settled";
  readonly place: Place;
  readonly name: string;
  /** One for all of them, or one for each. */
  readonly statuses: SettlementStatus | readonly SettlementStatus[];
}

/** The hash of everything; empty where it is to be written. */
export interface HashExpectation {
  readonly kind: "stateHash";
  readonly place: Place;
  readonly hash: string;
  /** Offsets of the value in its file, in UTF-16 code units, for `--update`: quotes that it has stay outside. */
  readonly range: readonly [start: number, end: number];
  /** What a new hash is to stand between: quotes where the value has none, a space where it would touch the colon. */
  readonly around: readonly [before: string, after: string];
}

/** Books and trades as a file holds them. */
interface GoldenExpectation {
  readonly kind: "golden";
  readonly place: Place;
  /** Absolute path. */
  readonly file: string;
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

/** What every step has: its number from 1 in the scenario, its text as a person reads it, its place. */
export interface StepBase {
  readonly number: number;
  readonly text: string;
  readonly place: Place;
}

export interface FundStep extends StepBase {
  readonly kind: "fund";
  readonly account: string;
  readonly funding: Funding;
}

export interface AdvanceStep extends StepBase {
  readonly kind: "advance";
  /** Milliseconds. */
  readonly by: number;
}

export interface CloseStep extends StepBase {
  readonly kind: "close";
  readonly market: string | null;
}

export interface ResolveStep extends StepBase {
  readonly kind: "resolve";
  readonly market: string | null;
  readonly outcome: WinningOutcome;
}

export interface ExpectStep extends StepBase {
  readonly kind: "expect";
  readonly expectations: readonly Expectation[];
}

/** The steps that nothing but their own words decides. */
type PlainStep = FundStep | AdvanceStep | CloseStep | ResolveStep | ExpectStep;
