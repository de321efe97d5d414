import type { SelfTradePolicy } from "./book/book.ts";
import type { SettlementFaultTerms } from "./chain/settlement-fault.ts";
import type { ContractCall } from "./chain/transaction.ts";
import type { Address, Matching, OrderType, Side, WinningOutcome } from "./terms.ts";
import type { Millis, Money, Price, Size } from "./units.ts";

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

/** A wallet's transaction for the settlement chain. */
export interface SendTransaction {
  readonly kind: "sendTransaction";
  readonly from: Address;
  readonly to: Address;
  /** Null takes the next. */
  readonly nonce: number | null;
  /** Wei, decimal. */
  readonly value: string;
  readonly gas: number;
  /** Wei per gas. */
  readonly maxFeePerGas: number;
  readonly maxPriorityFeePerGas: number;
  /** The call as bytes and as what they mean. */
  readonly input: string;
  readonly call: ContractCall;
  /** The signed bytes and their Keccak-256; null without a signature. */
  readonly raw: string | null;
  readonly hash: string | null;
}

/** Mines blocks at once, the first with all that is pending. */
export interface MineBlocks {
  readonly kind: "mineBlocks";
  readonly count: number;
}

/** Replaces the latest blocks by empty ones. */
export interface ReorganizeChain {
  readonly kind: "reorganizeChain";
  readonly depth: number;
}

export interface SetSettlementFault extends SettlementFaultTerms {
  readonly kind: "setSettlementFault";
}

/** Ends a fault, or all of them. */
export interface EndSettlementFault {
  readonly kind: "endSettlementFault";
  /** Null ends all. */
  readonly number: number | null;
}

/** Raises the fees of the exchange's own pending transactions, so that no base fee keeps them out of a block. */
interface BumpFees {
  readonly kind: "bumpFees";
}

export interface SetNativeBalance {
  readonly kind: "setNativeBalance";
  readonly address: Address;
  /** Wei, decimal. */
  readonly wei: string;
}

/** Mines the block that is due; only the schedule makes it, as the two that follow. */
interface ProduceBlock {
  readonly kind: "produceBlock";
}

/** Looks at one transaction for the block that is being put together. */
export interface ExecuteTransaction {
  readonly kind: "executeTransaction";
  readonly transaction: number;
}

/** Ends the block that is being put together. */
interface SealBlock {
  readonly kind: "sealBlock";
}

/** What can be asked of the settlement chain. */
export type ChainCommand =
  | SendTransaction
  | MineBlocks
  | ReorganizeChain
  | SetSettlementFault
  | EndSettlementFault
  | BumpFees
  | SetNativeBalance;

/** A command of one kind. */
export type CommandOf<Kind extends Command["kind"]> = Extract<Command, { readonly kind: Kind }>;
