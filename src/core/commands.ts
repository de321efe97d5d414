import type { SelfTradePolicy } from "./book/book.ts";
import type { SettlementFaultTerms } from "./chain/settlement-fault.ts";
import type { ContractCall } from "./chain/transaction.ts";
import {
  addressText,
  counted,
  marketText,
  orderIdText,
  orderText,
  priceText,
  sizeText,
  tokenIdText,
  usdcText,
} from "./format.ts";
import type { State } from "./state.ts";
import type { Address, Matching, OrderType, Side, WinningOutcome } from "./terms.ts";
import { toIso } from "./time.ts";
import type { Millis, Money, Price, Size } from "./units.ts";

/** What a command asks for, in words. */
type Words<Data> = (command: Readonly<Data>, state: State) => string;

/** What a command of one kind holds, and how it is put into words. */
const command = <Data>(words: Words<Data>): Words<Data> => words;

/** What time alone causes: the schedule makes these, nobody asks for them. */
const TIMED_COMMANDS = {
  /** Due at the order's expiration. */
  expireOrder: command<{ order: number }>(({ order }) => `${orderText(order)} is due to expire`),
  /** Mines the block that is due, or begins it. */
  produceBlock: command<object>(() => "a block is due"),
  /** Looks at one transaction for the block that is being put together. */
  executeTransaction: command<{ transaction: number }>(
    ({ transaction }) => `transaction ${transaction} is due`,
  ),
  /** Ends the block that is being put together. */
  sealBlock: command<object>(() => "the block is whole"),
};

/** Everything that can be asked of the exchange, by kind. Fields that name things are called as those are: `market`. */
const COMMANDS = {
  createEvent: command<{
    title: string;
    /** Unique among events. */
    slug: string;
    description: string;
    category: string;
    tags: readonly string[];
    endDate: Millis | null;
  }>(({ title }) => `create event ${JSON.stringify(title)}`),
  createMarket: command<{
    /** The parent event. */
    event: number;
    question: string;
    /** Unique among markets. */
    slug: string;
    description: string;
    category: string;
    tags: readonly string[];
    /** A divisor of 10,000, so that every level has a mirror. */
    tickSize: Price;
    minOrderSize: Size;
    /** Taker fee, 0..10,000. */
    feeRateBps: number;
    matching: Matching;
    selfTrade: SelfTradePolicy;
    endDate: Millis | null;
  }>(
    ({ slug, tickSize, feeRateBps }) =>
      `create market ${slug}, tick ${priceText(tickSize)}, fee ${feeRateBps} bps`,
  ),
  closeMarket: command<{ market: number }>(({ market }, state) => `close ${marketText(state, market)}`),
  resolveMarket: command<{ market: number; winningOutcome: WinningOutcome }>(
    ({ market, winningOutcome }, state) => `resolve ${marketText(state, market)} as ${winningOutcome}`,
  ),
  fundAccount: command<{
    address: Address;
    collateral: Money;
    /** Shares of single outcomes; the other half of each full set goes to the faucet. */
    tokens: readonly { readonly tokenId: string; readonly size: Size }[];
    /** Shares of both outcomes of every market, present and future, minted when the account first touches the market. */
    everyMarket: Size;
  }>(({ collateral, tokens, everyMarket }, state) => {
    const parts = [
      ...(collateral === 0 ? [] : [usdcText(collateral)]),
      ...tokens.map(({ tokenId, size }) => `${sizeText(size)} ${tokenIdText(state, tokenId)}`),
      ...(everyMarket === 0 ? [] : [`${sizeText(everyMarket)} of both outcomes of every market`]),
    ];
    return `fund ${parts.join(", ") || "nothing"}`;
  }),
  deriveCredentials: command<{ address: Address }>(() => "derive credentials"),

  placeOrder: command<{
    address: Address;
    tokenId: string;
    side: Side;
    price: Price;
    size: Size;
    orderType: OrderType;
    /** Set for GTD and only for GTD: the order is live while now < expiration. */
    expiration: Millis | null;
  }>(({ side, size, tokenId, price, orderType, expiration }, state) => {
    const until = expiration === null ? "" : ` until ${toIso(expiration)}`;
    const type = orderType === "GTC" ? "" : ` ${orderType}`;
    const [outcome = "", ...place] = tokenIdText(state, tokenId).split(" ");
    return `${side} ${sizeText(size)} ${outcome} @ ${priceText(price)}${type}${until} ${place.join(" ")}`;
  }),
  cancelOrder: command<{ address: Address; orderId: string }>(
    ({ orderId }, state) => `cancel ${orderIdText(state, orderId)}`,
  ),
  cancelAllOrders: command<{ address: Address }>(() => "cancel all"),

  /** A wallet's transaction for the settlement chain. */
  sendTransaction: command<{
    from: Address;
    to: Address;
    /** Null takes the next. */
    nonce: number | null;
    /** Wei, decimal. */
    value: string;
    gas: number;
    /** Wei per gas. */
    maxFeePerGas: number;
    maxPriorityFeePerGas: number;
    /** The call as bytes and as what they mean. */
    input: string;
    call: ContractCall;
    /** The signed bytes and their Keccak-256; null without a signature. */
    raw: string | null;
    hash: string | null;
  }>(({ call, to }) => `send ${call.kind} to ${addressText(to)}`),
  /** Mines blocks at once, the first with all that is pending. */
  mineBlocks: command<{ count: number }>(({ count }) => `mine ${counted(count, "block")}`),
  /** Replaces the latest blocks by empty ones. */
  reorganizeChain: command<{ depth: number }>(({ depth }) => `reorganize ${counted(depth, "block")}`),
  setSettlementFault: command<SettlementFaultTerms>(({ fault }) => `set settlement fault ${fault}`),
  /** Ends a fault, or all of them where it is null. */
  endSettlementFault: command<{ number: number | null }>(({ number }) =>
    number === null ? "end all settlement faults" : `end settlement fault ${number}`,
  ),
  /** Raises the fees of the exchange's own pending transactions, so that no base fee keeps them out of a block. */
  bumpFees: command<object>(() => "raise the fees of pending transactions"),
  /** Wei, decimal. */
  setNativeBalance: command<{ address: Address; wei: string }>(
    ({ wei }) => `set the native balance to ${wei} wei`,
  ),

  ...TIMED_COMMANDS,
};

export type CommandKind = keyof typeof COMMANDS;

/** A command of one kind, as plain data. */
export type CommandOf<Kind extends CommandKind> = { readonly kind: Kind } & Parameters<
  (typeof COMMANDS)[Kind]
>[0];

/** Everything that can be asked of the exchange. */
export type Command = { [Kind in CommandKind]: CommandOf<Kind> }[CommandKind];
export type TimedCommand = {
  [Kind in keyof typeof TIMED_COMMANDS]: CommandOf<Kind>;
}[keyof typeof TIMED_COMMANDS];

/** Whether time alone caused a command. */
export const isCausedByTime = (command: Command): command is TimedCommand =>
  Object.hasOwn(TIMED_COMMANDS, command.kind);

/** Whose command it is; null of what nobody in particular does. */
export function actorOf(command: Command): Address | null {
  if ("address" in command) return command.address;
  return command.kind === "sendTransaction" ? command.from : null;
}

/** What is asked for, in the words of a person. */
export const commandText = (command: Command, state: State): string =>
  (COMMANDS[command.kind] as Words<Command>)(command, state);

/** A command with its moment. */
export interface Stamped<C extends Command = Command> {
  readonly at: Millis;
  readonly command: C;
}
