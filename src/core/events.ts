import type { BlockTerms, Mining } from "./chain/chain.ts";
import type { SettlementFaultTerms } from "./chain/settlement-fault.ts";
import type { CallContent, CallEffect, HoldReason } from "./chain/transaction.ts";
import type { CommandOf } from "./commands.ts";
import {
  accountText,
  addressText,
  counted,
  marketText,
  orderText,
  priceText,
  sizeText,
  usdcText,
} from "./format.ts";
import { remainingOf } from "./order.ts";
import type { State } from "./state.ts";
import type { Address, CancelReason, MatchType, OrderType, Side, WinningOutcome } from "./terms.ts";
import type { Millis, Money, Price, Size } from "./units.ts";

/**
 * What an event says in words; null where the words of its command say it already. The state is that behind it; `placed`
 * are the orders that came with it.
 */
type Words<Data> = (event: Readonly<Data>, state: State, placed: ReadonlySet<number>) => string | null;

/** What an event of one kind holds, and how it is put into words. */
const event = <Data>(words: Words<Data>): Words<Data> => words;

/** Of something on the settlement chain. */
interface OnChain {
  /** The transaction that brings it there. */
  transaction: number;
}

/** A transaction that a block has looked at. */
interface OfCall extends OnChain {
  gas: number;
  /** Wei per gas. */
  gasPrice: number;
}

/** Everything that can happen to the state, by kind. Fields that name things are called as those are: `order`, `market`. */
const EVENTS = {
  eventCreated: event<Omit<CommandOf<"createEvent">, "kind"> & { event: number }>(
    ({ event }) => `event ${event}`,
  ),
  marketCreated: event<Omit<CommandOf<"createMarket">, "kind"> & OnChain & { market: number }>(
    ({ market }) => `market ${market}`,
  ),
  marketClosed: event<{ market: number }>(() => "closed"),
  marketResolved: event<OnChain & { market: number; winningOutcome: WinningOutcome }>(
    ({ winningOutcome }) => `resolved as ${winningOutcome}`,
  ),

  accountOpened: event<{ account: number; address: Address }>(({ account }) => `account ${account}`),
  collateralIssued: event<OnChain & { account: number; amount: Money }>(
    ({ amount }) => `gets ${usdcText(amount)}`,
  ),
  /** Full sets minted from newly issued USDC: the YES shares to one account, the NO shares to another or the same. */
  setsIssued: event<OnChain & { market: number; size: Size; yes: number; no: number }>(
    ({ size, market }, state) => `${sizeText(size)} sets of ${marketText(state, market)} issued`,
  ),
  /** Raises what an account is granted in every market it touches. */
  grantRaised: event<{ account: number; size: Size }>(
    ({ size }) => `gets ${sizeText(size)} of both outcomes of every market`,
  ),
  /** The account's grant in one market is minted, on first touch. */
  grantMinted: event<OnChain & { account: number; market: number; size: Size }>(() => null),
  credentialsDerived: event<{ account: number }>(() => "credentials derived"),

  orderPlaced: event<{
    order: number;
    account: number;
    token: number;
    side: Side;
    price: Price;
    size: Size;
    orderType: OrderType;
    expiration: Millis | null;
    /** The best opposite price when it came, in terms of its own token; null when the other side was empty. */
    touch: Price | null;
    /** How much it could have filled at its limit when it came. */
    fillableSize: Size;
    /** The first order of its own account that stood in its way under a self-trade policy; 0 for none. */
    blockingOwnOrder: number;
  }>(({ order }) => orderText(order)),
  /** One fill between a taker and a resting maker. One transaction settles all fills of a taker. */
  orderTraded: event<
    OnChain & {
      trade: number;
      taker: number;
      maker: number;
      /** In terms of the taker's token; the maker's own limit price. */
      price: Price;
      size: Size;
      /** Paid by the taker, in USDC. */
      fee: Money;
      matchType: MatchType;
    }
  >(({ size, price, maker, fee, matchType }, state) => {
    const from = accountText(state, state.orders.get(maker).account);
    const how = matchType === "COMPLEMENTARY" ? "" : ` ${matchType}`;
    const paid = fee === 0 ? "" : `, fee ${usdcText(fee)}`;
    return `fills ${sizeText(size)} @ ${priceText(price)} from ${from}${how}${paid}`;
  }),
  orderRested: event<{ order: number }>(
    ({ order }, state) => `rests ${openText(state, order)} @ ${priceText(state.orders.get(order).price)}`,
  ),
  orderCanceled: event<{ order: number; reason: CancelReason }>(({ order, reason }, state, placed) =>
    placed.has(order)
      ? `canceled ${openText(state, order)}, ${reason}`
      : `canceled ${orderText(order)} with ${openText(state, order)} open${reason === "USER" ? "" : `, ${reason}`}`,
  ),
  orderExpired: event<{ order: number }>(({ order }, state) => `expired with ${openText(state, order)} open`),

  /** A wallet's transaction has come. `replaces`: the pending one of the same nonce whose place it takes; 0 for none. */
  transactionSent: event<{ transaction: number; content: CallContent; replaces: number }>(
    ({ transaction }) => `transaction ${transaction} pending`,
  ),
  /** Blocks are to be mined at once. */
  blocksAsked: event<{ count: number }>(({ count }) => `${counted(count, "block")} to be mined`),
  /** A block is mined with all that is pending up to a transaction, none of which is an exception; empty ones may follow. */
  blocksMined: event<{ height: number; lastTransaction: number; empty: number }>(
    ({ height, empty }) => `block ${height} mined${empty === 0 ? "" : ` and ${empty} empty`}`,
  ),
  /** A block is begun, to be put together transaction by transaction. */
  blockOpened: event<{ height: number; baseFee: number }>(({ height }) => `block ${height} begun`),
  blockSealed: event<{ height: number }>(({ height }) => `block ${height} mined`),
  /** A transaction that is no call is in the block and carried out. */
  transactionMined: event<{ transaction: number }>(({ transaction }) => `transaction ${transaction} mined`),
  /** A call is carried out. `isRepeated`: the ledger has its effect since before a reorganization. */
  callExecuted: event<OfCall & { effect: CallEffect; isRepeated: boolean }>(
    ({ transaction }) => `transaction ${transaction} carried out`,
  ),
  /** A call is in the block and of no effect but its cost. */
  callReverted: event<OfCall & { reason: string }>(
    ({ transaction, reason }) => `transaction ${transaction} reverted: ${reason}`,
  ),
  /** The ledger takes back what a call did before a reorganization: the call is pending, to be carried out anew. */
  callTakenBack: event<{ transaction: number }>(
    ({ transaction }) => `transaction ${transaction} taken back, still pending`,
  ),
  /** A transaction is put off, until a height, by a fault or by none (0). */
  transactionHeld: event<{ transaction: number; hold: HoldReason; notBefore: number; fault: number }>(
    ({ transaction, hold }) => `transaction ${transaction} put off, ${hold}`,
  ),
  /** A settlement will never be mined, and nobody is told. */
  settlementLost: event<{ transaction: number; fault: number }>(
    ({ transaction }) => `transaction ${transaction} lost`,
  ),
  /** The ledger takes the trades of a settlement back. `isMined`: a block has it, reverted; else it was given up before. */
  settlementFailed: event<{ transaction: number; reason: string; isMined: boolean; fault: number }>(
    ({ transaction, reason }) => `transaction ${transaction} failed: ${reason}`,
  ),
  /**
   * The latest blocks are replaced by empty ones; what they held is pending again. Permissions are given, taken back and
   * used up anew where `restoresPermissions` says so; earlier versions have kept them.
   */
  chainReorganized: event<{ depth: number; restoresPermissions?: boolean }>(
    ({ depth }) => `${counted(depth, "block")} replaced`,
  ),
  settlementFaultSet: event<SettlementFaultTerms & { number: number }>(
    ({ number }) => `settlement fault ${number}`,
  ),
  /** A fault is over; all of them when the number is 0. */
  settlementFaultEnded: event<{ number: number }>(({ number }) =>
    number === 0 ? "all faults ended" : `settlement fault ${number} ended`,
  ),
  /** The exchange raises the fees of its own pending transactions to whatever the base fee is. */
  feesBumped: event<{ transactions: readonly number[] }>(
    ({ transactions }) => `fees of ${counted(transactions.length, "transaction")} raised`,
  ),
  /** An address has so much of the native currency, in wei as decimal text. */
  nativeBalanceSet: event<{ address: Address; wei: string }>(
    ({ address, wei }) => `${addressText(address)} has ${wei} wei`,
  ),
  nonceSet: event<{ address: Address; nonce: number }>(
    ({ address, nonce }) => `the next nonce of ${addressText(address)} is ${nonce}`,
  ),
  /** A wallet's transaction is taken out of the pool, and out of the ledger if that has it since before a reorganization. */
  transactionDropped: event<{ transaction: number }>(
    ({ transaction }) => `transaction ${transaction} dropped`,
  ),
  /** Blocks are mined otherwise from now on. */
  miningSet: event<Mining>(({ mode }) => `mining is ${mode}`),
  /** Blocks say this of themselves from the next one on. */
  blockTermsSet: event<BlockTerms>(() => "what blocks say of themselves is set"),
  /** Wei per gas of the next block alone. */
  nextBaseFeeSet: event<{ baseFee: number }>(({ baseFee }) => `the next base fee is ${baseFee} wei`),
};

const openText = (state: State, order: number): string => sizeText(remainingOf(state.orders.get(order)));

export type EventKind = keyof typeof EVENTS;

/** An event of one kind, as plain data. */
export type EventOf<Kind extends EventKind> = { readonly kind: Kind } & Parameters<(typeof EVENTS)[Kind]>[0];

/** Everything that can happen to the state; only `apply` writes it there. */
export type DomainEvent = { [Kind in EventKind]: EventOf<Kind> }[EventKind];

/** More events than these are counted. */
const MAX_TOLD = 6;

/** What a command has caused, in words; the state is that behind it. */
export function eventsText(events: readonly DomainEvent[], state: State): string {
  const placed = new Set(events.flatMap((event) => (event.kind === "orderPlaced" ? [event.order] : [])));
  const canceled = events.filter((event) => event.kind === "orderCanceled" && !placed.has(event.order));
  const others = canceled.length > 1 ? events.filter((event) => !canceled.includes(event)) : events;
  const parts = others.flatMap(
    (event) => (EVENTS[event.kind] as Words<DomainEvent>)(event, state, placed) ?? [],
  );
  const shown = parts.slice(0, MAX_TOLD);
  if (parts.length > MAX_TOLD) shown.push(`and ${parts.length - MAX_TOLD} more`);
  if (canceled.length > 1) shown.push(`canceled ${canceled.length}`);
  return shown.join(", ") || "nothing";
}
