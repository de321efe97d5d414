import type { BlockTerms, Mining, SettlementFaultTerms } from "./chain/chain.ts";
import type { CallContent, CallEffect, HoldReason } from "./chain/transaction.ts";
import type { CommandOf } from "./commands.ts";
import { addressText, counted, orderText, priceText, sizeText, usdcText } from "./format.ts";
import { type ORDER_TERMS, type Order, remainingOf, type Trade } from "./order.ts";
import type { State } from "./state.ts";
import { accountText, marketText } from "./state.ts";
import {
  type Address,
  CANCEL_REASONS,
  type CancelReason,
  MATCH_TYPES,
  ORDER_TYPES,
  SIDES,
  type WinningOutcome,
} from "./terms.ts";
import type { Money, Size } from "./units.ts";

/**
 * Describes an event; returns null if the text of its command says it already. `state` is the state after the command;
 * `placed` has the orders that the command placed.
 */
type Describe<Data> = (event: Readonly<Data>, state: State, placed: ReadonlySet<number>) => string | null;

const event = <Data>(describe: Describe<Data>): Describe<Data> => describe;

export interface OnChain {
  /** Number of the transaction that executes the change. */
  transaction: number;
}

export interface OfCall extends OnChain {
  gas: number;
  /** Wei per gas. */
  gasPrice: number;
}

/** Every domain event by kind. Fields that hold numbers of records are named after them: `order`, `market`. */
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
  /** Full sets are minted from newly issued USDC: YES shares for account `yes`, NO shares for account `no`. */
  setsIssued: event<OnChain & { market: number; size: Size; yes: number; no: number }>(
    ({ size, market }, state) => `${sizeText(size)} sets of ${marketText(state, market)} issued`,
  ),
  grantRaised: event<{ account: number; size: Size }>(
    ({ size }) => `gets ${sizeText(size)} of both outcomes of every market`,
  ),
  /** The account's grant in one market is minted, on first touch. */
  grantMinted: event<OnChain & { account: number; market: number; size: Size }>(() => null),
  credentialsDerived: event<{ account: number }>(() => "credentials derived"),

  orderPlaced: event<
    { order: number } & Pick<Order, keyof typeof ORDER_TERMS | "expiration" | "account" | "token"> &
      Pick<Order, "touch" | "fillableSize" | "blockingOwnOrder">
  >(({ order }) => orderText(order)),
  /** One fill between a taker and a resting maker. One transaction settles all fills of a taker. */
  orderTraded: event<
    OnChain & { trade: number } & Pick<Trade, "taker" | "maker" | "price" | "size" | "fee" | "matchType">
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

  /**
   * A wallet's transaction is pending. `replaces`: the pending one of the same nonce that it replaces; 0 if none. The
   * ledger undoes that one by a `callTakenBack`, if it was executed before a reorganization.
   */
  transactionSent: event<{ transaction: number; content: CallContent; replaces: number }>(
    ({ transaction }) => `transaction ${transaction} pending`,
  ),
  blocksAsked: event<{ count: number }>(({ count }) => `${counted(count, "block")} requested`),
  /** A block is mined with all pending transactions up to `lastTransaction`, none with an exception; `empty` blocks follow. */
  blocksMined: event<{ height: number; lastTransaction: number; empty: number }>(
    ({ height, empty }) => `block ${height} mined${empty === 0 ? "" : ` and ${empty} empty`}`,
  ),
  blockOpened: event<{ height: number; baseFee: number }>(({ height }) => `block ${height} opened`),
  blockSealed: event<{ height: number }>(({ height }) => `block ${height} mined`),
  /** A transaction other than a call is executed in the block. */
  transactionMined: event<{ transaction: number }>(({ transaction }) => `transaction ${transaction} mined`),
  /** A call is executed. `isRepeated`: the ledger already has its effect, from before a reorganization. */
  callExecuted: event<OfCall & { effect: CallEffect; isRepeated: boolean }>(
    ({ transaction }) => `transaction ${transaction} executed`,
  ),
  callReverted: event<OfCall & { reason: string }>(
    ({ transaction, reason }) => `transaction ${transaction} reverted: ${reason}`,
  ),
  /** The ledger undoes the effect of a call from before a reorganization; it is pending again, unless it was replaced. */
  callTakenBack: event<{ transaction: number }>(({ transaction }, { chain }) => {
    const isPending = chain.transactions.get(transaction).status === "PENDING";
    return `transaction ${transaction} undone, ${isPending ? "pending again" : "replaced"}`;
  }),
  /** A transaction is deferred until height `notBefore`, by a fault or by none (0). */
  transactionHeld: event<{ transaction: number; hold: HoldReason; notBefore: number; fault: number }>(
    ({ transaction, hold }) => `transaction ${transaction} deferred, ${hold}`,
  ),
  settlementLost: event<{ transaction: number; fault: number }>(
    ({ transaction }) => `transaction ${transaction} lost`,
  ),
  /** The ledger undoes the trades of a settlement. `isMined`: it is reverted in a block; else it was given up before. */
  settlementFailed: event<{ transaction: number; reason: string; isMined: boolean; fault: number }>(
    ({ transaction, reason }) => `transaction ${transaction} failed: ${reason}`,
  ),
  /**
   * The latest blocks are replaced with empty ones; their transactions are pending again. If `restoresPermissions`,
   * permissions return to what they were before these blocks; earlier versions kept them. If `usesBaseFee`, the first new
   * block uses up the base fee set for the next one.
   */
  chainReorganized: event<{ depth: number; restoresPermissions?: boolean; usesBaseFee?: boolean }>(
    ({ depth }) => `${counted(depth, "block")} replaced`,
  ),
  settlementFaultSet: event<SettlementFaultTerms & { number: number }>(
    ({ number }) => `settlement fault ${number}`,
  ),
  /** A fault ends; all faults if the number is 0. */
  settlementFaultEnded: event<{ number: number }>(({ number }) =>
    number === 0 ? "all faults ended" : `settlement fault ${number} ended`,
  ),
  /** The exchange raises the fees of its own pending transactions so that any base fee is met. */
  feesBumped: event<{ transactions: readonly number[] }>(
    ({ transactions }) => `fees of ${counted(transactions.length, "transaction")} raised`,
  ),
  /** `schedulesBlock`: a transaction of the wallet waited for gas money. */
  nativeBalanceSet: event<{ address: Address; wei: string; schedulesBlock?: boolean }>(
    ({ address, wei }) => `${addressText(address)} has ${wei} wei`,
  ),
  nonceSet: event<{ address: Address; nonce: number }>(
    ({ address, nonce }) => `the next nonce of ${addressText(address)} is ${nonce}`,
  ),
  /** A wallet's transaction is removed from the pool, and undone in the ledger if executed before a reorganization. */
  transactionDropped: event<{ transaction: number }>(
    ({ transaction }) => `transaction ${transaction} dropped`,
  ),
  miningSet: event<Mining>(({ mode }) => `mining is ${mode}`),
  blockTermsSet: event<BlockTerms>(() => "block header fields set"),
  /** Sets the base fee of the next block only, wei per gas. `schedulesBlock`: a pending transaction waited for such a fee. */
  nextBaseFeeSet: event<{ baseFee: number; schedulesBlock?: boolean }>(
    ({ baseFee }) => `the next base fee is ${baseFee} wei`,
  ),
};

const openText = (state: State, order: number): string => sizeText(remainingOf(state.orders.get(order)));

type Kinds = keyof typeof EVENTS;

/** A change of the state, of any kind or of one; only `apply` writes it. */
export type DomainEvent<Kind extends Kinds = Kinds> = {
  [Each in Kind]: { readonly kind: Each } & Parameters<(typeof EVENTS)[Each]>[0];
}[Kind];

/** Further events are only counted. */
const MAX_DESCRIBED = 6;

/** Describes the events of a command; `state` is the state after it. */
export function eventsText(events: readonly DomainEvent[], state: State): string {
  const placed = new Set(events.flatMap((event) => (event.kind === "orderPlaced" ? [event.order] : [])));
  const canceled = events.filter((event) => event.kind === "orderCanceled" && !placed.has(event.order));
  const others = canceled.length > 1 ? events.filter((event) => !canceled.includes(event)) : events;
  const parts = others.flatMap(
    (event) => (EVENTS[event.kind] as Describe<DomainEvent>)(event, state, placed) ?? [],
  );
  const shown = parts.slice(0, MAX_DESCRIBED);
  if (parts.length > MAX_DESCRIBED) shown.push(`and ${parts.length - MAX_DESCRIBED} more`);
  if (canceled.length > 1) shown.push(`canceled ${canceled.length}`);
  return shown.join(", ") || "nothing";
}

/** Consumer of 32-bit integers and texts, in order. */
export interface WordSink {
  mixWords(words: Int32Array, from: number, to: number): void;
  mixText(text: string): void;
}

/** Returns the place of a value in a short list, from 1; 0 if it is not there. `indexOf` is a call that takes longer. */
function codeIn<Value>(values: readonly Value[], value: Value): number {
  for (let index = 0; index < values.length; index += 1) if (values[index] === value) return index + 1;
  return 0;
}

/** Upper bound of the words of one event. */
const MAX_EVENT_WORDS = 32;
const TWO_32 = 4_294_967_296;
const NONE = 0x7fff_fffd;

/** Words of the latest encoded events, cached because the journal and the state hash need the same ones in turn. */
class EventWords {
  #events: readonly DomainEvent[] | null = null;
  #words = new Int32Array(1024);
  #count = 0;
  /** Texts between the words, each before the word at index `at`. */
  #texts: { readonly at: number; readonly text: string }[] = [];

  /** Mixes the words of events into a sink, in order. */
  mixInto(sink: WordSink, events: readonly DomainEvent[]): void {
    if (events !== this.#events) this.#encode(events);
    let from = 0;
    for (const { at, text } of this.#texts) {
      sink.mixWords(this.#words, from, at);
      sink.mixText(text);
      from = at;
    }
    sink.mixWords(this.#words, from, this.#count);
  }

  #encode(events: readonly DomainEvent[]): void {
    this.#events = null;
    if (this.#texts.length > 0) this.#texts = [];
    let count = 0;
    for (const event of events) {
      if (count + MAX_EVENT_WORDS > this.#words.length) {
        const longer = new Int32Array(this.#words.length * 2);
        longer.set(this.#words);
        this.#words = longer;
      }
      count = this.#encodeEvent(event, this.#words, count);
    }
    this.#count = count;
    this.#events = events;
  }

  /**
   * Encodes frequent events field by field, others as text. Numbers of records, prices and sizes are one word each. Returns
   * the index after the event. Words are written one by one here, because V8 does not inline so many calls of a function.
   */
  #encodeEvent(event: DomainEvent, words: Int32Array, from: number): number {
    let at = from;
    switch (event.kind) {
      case "orderPlaced":
        words[at++] = 1;
        words[at++] = event.order;
        words[at++] = event.account;
        words[at++] = event.token;
        words[at++] = event.price;
        words[at++] = event.size;
        at = putNumber(words, at, event.expiration);
        at = putNumber(words, at, event.touch);
        at = putNumber(words, at, event.fillableSize);
        at = putNumber(words, at, event.blockingOwnOrder);
        words[at++] = codeIn(SIDES, event.side);
        words[at++] = codeIn(ORDER_TYPES, event.orderType);
        return at;
      case "orderTraded":
        words[at++] = 2;
        words[at++] = event.trade;
        words[at++] = event.taker;
        words[at++] = event.maker;
        words[at++] = event.price;
        words[at++] = event.size;
        at = putNumber(words, at, event.fee);
        words[at++] = event.transaction;
        words[at++] = codeIn(MATCH_TYPES, event.matchType);
        return at;
      case "orderRested":
        words[at++] = 3;
        return putNumber(words, at, event.order);
      case "orderExpired":
        words[at++] = 4;
        return putNumber(words, at, event.order);
      case "blocksMined":
        words[at++] = 5;
        at = putNumber(words, at, event.height);
        at = putNumber(words, at, event.lastTransaction);
        return putNumber(words, at, event.empty);
      case "orderCanceled":
        words[at++] = 7;
        at = putNumber(words, at, event.order);
        words[at++] = codeIn(CANCEL_REASONS, event.reason);
        return at;
      case "transactionMined":
        words[at++] = 8;
        return putNumber(words, at, event.transaction);
      default:
        words[at++] = 6;
        this.#texts.push({ at, text: sortedText(event) });
        return at;
    }
  }
}

/** Encodes an integer below 2^53 or null from index `at` on. Returns the index after it. */
function putNumber(words: Int32Array, at: number, value: number | null): number {
  if (value === null) {
    words[at] = NONE;
    return at + 1;
  }
  words[at] = value;
  if (value >>> 0 === value) return at + 1;
  words[at + 1] = Math.floor(value / TWO_32);
  return at + 2;
}

const EVENT_WORDS = new EventWords();

/**
 * Mixes events into a sink. Equal events give equal words in every version of Node and on every machine. An event that is
 * not encoded field by field is mixed as JSON with sorted keys.
 */
export const mixEvents = (sink: WordSink, events: readonly DomainEvent[]): void =>
  EVENT_WORDS.mixInto(sink, events);

function sortedText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedText).join(",")}]`;
  let text = "";
  for (const name of Object.keys(value).sort()) {
    const field = (value as Record<string, unknown>)[name];
    if (field !== undefined) text += `${text === "" ? "" : ","}"${name}":${sortedText(field)}`;
  }
  return `{${text}}`;
}
