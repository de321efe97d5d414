import type { ReplyTo } from "../../api/endpoints.ts";
import { type ApiError, describeValue } from "../../api/errors.ts";
import { MONEY_PLACES, PRICE_PLACES, SIZE_PLACES, unitsOf } from "../../core/format.ts";
import type { ExchangeConfig } from "../../core/state.ts";
import type { Outcome } from "../../core/terms.ts";
import { parseIso } from "../../core/time.ts";
import { type Millis, type Price, price, type Size, size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { SessionLog } from "../../engine/journal.ts";
import type { World } from "../../simulation/world.ts";

/** Venues in this process return values. */
export type MaybePromise<T> = T | Promise<T>;

/** The result of an operation, or the API's error. */
export type Attempt<T> = { readonly ok: true; readonly value: T } | Refused;

export interface Refused {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

export type Canceled = ReplyTo<"cancelOrder">;

/** A token, by the name of its market in the scenario. */
export interface TokenRef {
  readonly market: string;
  readonly outcome: Outcome;
}

/** Checks after steps and in flows: all of them take as much time as the rest of a run, the checks of fills almost none. */
export type Checks = "all" | "fills";

export interface FlowResult extends Readonly<Record<"rows" | "placed" | "canceled" | "rejected", number>> {
  readonly firstRejection: RejectedRow | null;
  /** The last row, if a check failed after it or the exchange in this process threw at it. */
  readonly broken: BrokenRow | null;
}

/** A refused row of a flow; `text` is the row as a step, `who` its account. */
interface RejectedRow {
  /** From 1. */
  readonly row: number;
  readonly text: string;
  readonly who: string;
  readonly refusal: Refused;
}

/** A row of a flow after which invariants do not hold, or at which the exchange threw an error. */
export interface BrokenRow extends Pick<RejectedRow, "row" | "text"> {
  /** One sentence for each invariant that does not hold. */
  readonly violations: readonly string[];
  /** What the exchange threw, which is a defect. */
  readonly error?: unknown;
}

/** The answer to the request of a step. */
export interface RequestReply {
  readonly status: number;
  /** Parsed JSON, or the text if it is not JSON; null if there was no answer. */
  readonly body: unknown;
  /** The error code of the answer, or of the client. */
  readonly code: string | null;
}

/** History of an exchange: a report from its server, or its session in this process. */
export type VenueHistory =
  | { readonly kind: "report"; readonly text: string }
  | {
      readonly kind: "session";
      readonly world: World;
      readonly exchange: Exchange;
      readonly opening: { readonly config: ExchangeConfig; readonly start: Millis };
      readonly log: SessionLog;
    };

/** An order that expired. */
export interface Expired {
  readonly key: string;
  readonly at: Millis;
}

/** A venue failed for a reason outside the scenario; the message is for the user. */
export class VenueError extends Error {
  override readonly name = "VenueError";
}

/** A venue cannot run the scenario; the message says what it needs. */
export class NotRunnable extends Error {
  override readonly name = "NotRunnable";
}

export const DONE = { ok: true, value: null } as const;

export function refusedBy({ code, message, help }: ApiError): Refused {
  return { ok: false, code, message, hint: help.hint ?? null };
}

/** Converts a decimal of the API to units of 10^-places. @throws VenueError if it is none, or has more decimals. */
export function exact(value: number | string, places: number): number {
  const units = unitsOf(String(value), places);
  if (units !== null) return units;
  throw new VenueError(
    `the server answers ${describeValue(value)}, expected a number of at most ${places} decimals`,
  );
}

/** Returns a list or an object in a reply. @throws VenueError if it has none */
export function partIn<Reply, Key extends string & keyof Reply>(reply: Reply, key: Key): Reply[Key] {
  const { [key]: part } = reply;
  if (typeof part === "object" && part !== null) return part;
  throw new VenueError(`expected ${key} in the answer of the server, found ${describeValue(part)}`);
}

export const priceOf = (value: number | string): Price => price(exact(value, PRICE_PLACES));
/** Converts shares of the API to the core's units. @throws VenueError */
export const sizeOf = (value: number | string): Size => size(exact(value, SIZE_PLACES));
export const priceOrNull = (value: number | null): Price | null => (value === null ? null : priceOf(value));

type Order = ReplyTo<"explainOrder">["order"];

/** An order in a reply; its decimals may be strings. */
type OrderReply = Pick<Order, "id" | "status" | "cancelReason" | "expiration"> &
  Readonly<Record<"size" | "sizeMatched", number | string>>;

export const orderView = (order: OrderReply) => ({
  key: order.id,
  status: order.status,
  matched: sizeOf(order.sizeMatched),
  size: sizeOf(order.size),
  reason: order.cancelReason,
  expiration: order.expiration === null ? null : parseIso(order.expiration),
});

export type OrderView = ReturnType<typeof orderView>;

type Trade = ReplyTo<"placeOrder">["trades"][number];

/** A fill, seen from its taker, with the names of both parties. */
export type Fill = ReturnType<typeof fillOf>;

/** Converts a trade in the reply to a taker. */
export const fillOf = (trade: Trade, market: string, taker: string, maker: string) => ({
  trade: trade.id,
  /** The taker's. */
  order: trade.orderId,
  market,
  outcome: trade.outcome,
  side: trade.side,
  price: priceOf(trade.price),
  size: sizeOf(trade.size),
  taker,
  maker,
  makerOrder: trade.counterOrderId,
  matchType: trade.matchType,
});

function levelOf({ price, size, orders }: ReplyTo<"getBook">["bids"][number]) {
  return { price: priceOf(price), size: sizeOf(size), orders };
}
export type Level = ReturnType<typeof levelOf>;

/** Best first on both sides. */
export function bookView(book: ReplyTo<"getBook">) {
  return { bids: partIn(book, "bids").map(levelOf), asks: partIn(book, "asks").map(levelOf) };
}
export type BookView = ReturnType<typeof bookView>;

/** Amounts in micro-USDC or 0.01 share. */
export type HoldingView = ReturnType<typeof holdingsView>[number];

/** USDC first, then both tokens of each market in the markets' order. */
export function holdingsView(
  { collateral, tokens }: ReplyTo<"getAccount">,
  marketName: (id: string) => string,
) {
  const shares = tokens.map((token) => ({
    asset: { market: marketName(token.marketId), outcome: token.outcome },
    ...amounts(token, SIZE_PLACES),
  }));
  return [{ asset: "USDC" as const, ...amounts(collateral, MONEY_PLACES) }, ...shares];
}

const amounts = (of: ReplyTo<"getAccount">["collateral"], places: number) => ({
  balance: exact(of.balance, places),
  available: exact(of.available, places),
  reserved: exact(of.reserved, places),
  /** Balance of the wallet on the settlement chain. */
  onChain: exact(of.onChain, places),
});
