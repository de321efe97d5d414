import type { SelfTradePolicy } from "./book/book.ts";
import type { ChainCommand, ExecuteTransaction, ProduceBlock, SealBlock } from "./chain/chain-commands.ts";
import type { Millis, Money, Price, Size } from "./units.ts";

export type Side = "BUY" | "SELL";
export type Outcome = "YES" | "NO";
export type OrderType = "GTC" | "GTD" | "FOK" | "FAK";
export type Matching = "complementary" | "independent";
export type WinningOutcome = Outcome | "SPLIT";

/** A wallet address: `0x` and 40 lower-case hex digits. */
export type Address = string;

export interface CreateEvent {
  readonly kind: "createEvent";
  readonly title: string;
  /** Unique among events. */
  readonly slug: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly endDate: Millis | null;
}

export interface CreateMarket {
  readonly kind: "createMarket";
  /** Number of the parent event. */
  readonly event: number;
  readonly question: string;
  /** Unique among markets. */
  readonly slug: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  /** A divisor of 10,000, so that every level has a mirror. */
  readonly tickSize: Price;
  readonly minOrderSize: Size;
  /** Taker fee, 0..10,000. */
  readonly feeRateBps: number;
  readonly matching: Matching;
  readonly selfTrade: SelfTradePolicy;
  readonly endDate: Millis | null;
}

export interface CloseMarket {
  readonly kind: "closeMarket";
  readonly market: number;
}

export interface ResolveMarket {
  readonly kind: "resolveMarket";
  readonly market: number;
  readonly winningOutcome: WinningOutcome;
}

export interface FundAccount {
  readonly kind: "fundAccount";
  readonly address: Address;
  readonly collateral: Money;
  /** Shares of single outcomes; the other half of each full set goes to the faucet. */
  readonly tokens: readonly { readonly tokenId: string; readonly size: Size }[];
  /** Shares of both outcomes of every market, present and future, minted when the account first touches the market. */
  readonly everyMarket: Size;
}

export interface DeriveCredentials {
  readonly kind: "deriveCredentials";
  readonly address: Address;
}

export interface PlaceOrder {
  readonly kind: "placeOrder";
  readonly address: Address;
  readonly tokenId: string;
  readonly side: Side;
  readonly price: Price;
  readonly size: Size;
  readonly orderType: OrderType;
  /** Set for GTD and only for GTD: the order is live while now < expiration. */
  readonly expiration: Millis | null;
}

export interface CancelOrder {
  readonly kind: "cancelOrder";
  readonly address: Address;
  readonly orderId: string;
}

export interface CancelAllOrders {
  readonly kind: "cancelAllOrders";
  readonly address: Address;
}

/** Due at the order's expiration; only the schedule makes it. */
export interface ExpireOrder {
  readonly kind: "expireOrder";
  readonly order: number;
}

/** Everything that can be asked of the exchange, as plain data. */
export type Command =
  | CreateEvent
  | CreateMarket
  | CloseMarket
  | ResolveMarket
  | FundAccount
  | DeriveCredentials
  | PlaceOrder
  | CancelOrder
  | CancelAllOrders
  | ChainCommand
  | TimedCommand;

/** What time alone causes: the schedule makes these, nobody asks for them. */
export type TimedCommand = ExpireOrder | ProduceBlock | ExecuteTransaction | SealBlock;

const TIMED: ReadonlySet<string> = new Set<TimedCommand["kind"]>([
  "expireOrder",
  "produceBlock",
  "executeTransaction",
  "sealBlock",
]);

/** Whether time alone caused a command. */
export const isCausedByTime = (command: Command): command is TimedCommand => TIMED.has(command.kind);

/** A command with its moment. */
export interface Stamped<C extends Command = Command> {
  readonly at: Millis;
  readonly command: C;
}
