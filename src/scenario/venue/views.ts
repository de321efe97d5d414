import { unitsOf } from "../../api/decimals.ts";
import type { ReplyTo } from "../../api/endpoints.ts";
import type { ApiError } from "../../api/errors.ts";
import { ASK, BID, type BookDirection } from "../../core/book/book.ts";
import { MONEY_PLACES, PRICE_PLACES, SIZE_PLACES } from "../../core/format.ts";
import { bookFor, isMirrored, type Market, priceIn } from "../../core/market.ts";
import type { ExchangeConfig } from "../../core/state.ts";
import type { Outcome } from "../../core/terms.ts";
import { parseIso } from "../../core/time.ts";
import { type Millis, type Price, price, type Size, size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Entry } from "../../engine/journal.ts";
import type { World } from "../../simulation/world.ts";

/** Sooner or later: in this process every answer is there at once. */
export type Soon<T> = T | Promise<T>;

/** What was asked for, or why not, in the words of the API. */
export type Attempt<T> = { readonly ok: true; readonly value: T } | Refused;

export interface Refused {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

export interface Canceled {
  readonly canceled: readonly string[];
  /** Why an own order could not be canceled: `already matched`. */
  readonly notCanceled: readonly string[];
}

/** A token of the exchange, as the venue finds it by the names of the scenario. */
export interface TokenRef {
  readonly market: string;
  readonly outcome: Outcome;
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

/** All that was done on an exchange: a report of its own, or its accepted commands. */
export type VenueHistory =
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
  readonly key: string;
  readonly at: Millis;
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

export const DONE = { ok: true, value: null } as const;

/** A refusal of the API. */
export const refusedBy = ({ code, message, help }: ApiError): Refused => ({
  ok: false,
  code,
  message,
  hint: help.hint ?? null,
});

/** The same attempt, of which only its success matters. */
export const done = (attempt: Attempt<unknown>): Attempt<null> => (attempt.ok ? DONE : attempt);

/** What was asked for. @throws VenueError where it was refused. */
export function required<Value>(attempt: Attempt<Value>): Value {
  if (attempt.ok) return attempt.value;
  throw new VenueError(`${attempt.code}: ${attempt.message}`);
}

/** A decimal of the API in units of 10^-places. @throws VenueError when it is none. */
function exact(value: number | string, places: number): number {
  const units = unitsOf(value, places);
  if (units === null)
    throw new VenueError(
      `the server answers ${JSON.stringify(value)}, which has more than ${places} decimals`,
    );
  return units;
}

const priceOf = (value: number | string): Price => price(exact(value, PRICE_PLACES));
/** Shares of the API in the core's units. @throws VenueError */
export const sizeOf = (value: number | string): Size => size(exact(value, SIZE_PLACES));
const priceOrNull = (value: number | null): Price | null => (value === null ? null : priceOf(value));

type Order = ReplyTo<"explainOrder">["order"];

/** An order of a reply, whose decimals may be texts. */
type OrderReply = Pick<Order, "id" | "orderType" | "status" | "cancelReason" | "expiration"> &
  Readonly<Record<"size" | "sizeMatched", number | string>>;

export const orderView = (order: OrderReply) => ({
  key: order.id,
  orderType: order.orderType,
  status: order.status,
  matched: sizeOf(order.sizeMatched),
  size: sizeOf(order.size),
  reason: order.cancelReason,
  expiration: order.expiration === null ? null : parseIso(order.expiration),
});

export type OrderView = ReturnType<typeof orderView>;

type Trade = ReplyTo<"placeOrder">["trades"][number];

/** A fill as its taker sees it, with both parties by name. */
export type Fill = ReturnType<typeof fillOf>;

/** A fill as its taker's reply tells it. */
export const fillOf = (trade: Trade, taker: string, maker: string, markets: MarketMap) => ({
  trade: trade.id,
  /** Its taker's. */
  order: trade.orderId,
  market: markets.nameOf(trade.marketId),
  outcome: trade.outcome,
  side: trade.side,
  price: priceOf(trade.price),
  size: sizeOf(trade.size),
  taker,
  maker,
  makerOrder: trade.counterOrderId,
  matchType: trade.matchType,
});

const levelOf = ({ price, size, orders }: ReplyTo<"getBook">["bids"][number]) => ({
  price: priceOf(price),
  size: sizeOf(size),
  orders,
});
export type Level = ReturnType<typeof levelOf>;

/** Best first on both sides. */
export const bookView = ({ bids, asks }: ReplyTo<"getBook">) => ({
  bids: bids.map(levelOf),
  asks: asks.map(levelOf),
});
export type BookView = ReturnType<typeof bookView>;

/** Units of the asset: micro-USDC, or 0.01 share. */
export type HoldingView = ReturnType<typeof holdingsView>[number];

/** USDC first, then both tokens of each market in the markets' order. */
export function holdingsView({ collateral, tokens }: ReplyTo<"getAccount">, markets: MarketMap) {
  const shares = tokens.map((token) => ({
    asset: { market: markets.nameOf(token.marketId), outcome: token.outcome },
    ...amounts(token, SIZE_PLACES),
  }));
  return [{ asset: "USDC" as const, ...amounts(collateral, MONEY_PLACES) }, ...shares];
}

const amounts = (of: ReplyTo<"getAccount">["collateral"], places: number) => ({
  balance: exact(of.balance, places),
  available: exact(of.available, places),
  reserved: exact(of.reserved, places),
  /** What the wallet holds on the settlement chain. */
  onChain: exact(of.onChain, places),
});

/** The shares that a market has issued: as the chain has them, and as the ledger counts with what is pending. */
export function supplyView({ onChain, ledger }: ReplyTo<"getSupply">) {
  const shares = ({ YES, NO }: typeof onChain) => ({ YES: sizeOf(YES), NO: sizeOf(NO) });
  return { onChain: shares(onChain), ledger: shares(ledger) };
}

/** A market's price step, and its smallest order. */
export const gridView = ({ tickSize, minOrderSize }: ReplyTo<"getMarket">) => ({
  tickSize: priceOf(tickSize),
  minOrderSize: sizeOf(minOrderSize),
});

const MID_PLACES = 5;

type Quotes = ReplyTo<"getPrice"> &
  ReplyTo<"getMidpoint"> &
  ReplyTo<"getSpread"> &
  ReplyTo<"getLastTradePrice">;

/** Of a token in its own terms; the mid in 0.00001 USDC. */
export const quoteView = ({ bestBid, bestAsk, mid, spread, lastTradePrice }: Quotes) => ({
  bid: priceOrNull(bestBid),
  ask: priceOrNull(bestAsk),
  mid: mid === null ? null : exact(mid, MID_PLACES),
  spread: priceOrNull(spread),
  last: priceOrNull(lastTradePrice),
});

export const historyView = ({ data }: ReplyTo<"getPricesHistory">) =>
  data.map(({ t, p }) => ({ t, price: priceOf(p) }));

/** An order's story as sentences; of one that rests, also how it stands and its place in the queue. */
export function storyLines({ order, story, summary, queue }: ReplyTo<"explainOrder">): readonly string[] {
  const lines = story.map(({ what }) => what);
  if (order.status !== "LIVE") return lines;
  if (queue === null) return [...lines, summary];
  const { orders, shares } = queue.nowBehind;
  const place =
    orders === 0
      ? "first in the queue at its price"
      : `place ${orders + 1} in the queue at its price, behind ${shares} shares`;
  return [...lines, summary, place];
}

/** Both sides of an outcome's book, best first, in its own terms. */
export function book(market: Market, outcome: Outcome): BookView {
  const mirrored = isMirrored(market, outcome);
  const lane = bookFor(market, outcome);
  const side = (direction: BookDirection): Level[] => {
    const levels: Level[] = [];
    lane.book?.depth(direction, (tick, open, orders) => {
      levels.push({ price: priceIn(mirrored, price(tick * market.tickSize)), size: size(open), orders });
    });
    return levels;
  };
  return { bids: side(mirrored ? ASK : BID), asks: side(mirrored ? BID : ASK) };
}

/** A market of an exchange. */
interface MarketRef {
  /** As the scenario calls it. */
  readonly name: string;
  readonly id: string;
  readonly conditionId: string;
  readonly tokens: Readonly<Record<Outcome, string>>;
  readonly isComplementary: boolean;
}

/** The markets of an exchange by the scenario's names, and back. */
export class MarketMap {
  readonly #byName = new Map<string, MarketRef>();
  readonly #byId = new Map<string, MarketRef>();

  add(market: MarketRef): void {
    this.#byName.set(market.name, market);
    this.#byId.set(market.id, market);
  }

  /** In the order in which they were added. */
  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** @throws Error when there is none. */
  named(name: string): MarketRef {
    const found = this.#byName.get(name);
    if (found === undefined) throw new Error(`no market ${name}`);
    return found;
  }

  nameOf(id: string): string {
    return this.#byId.get(id)?.name ?? id;
  }

  /** The id of `YES` or `rain YES`. */
  tokenNamed(words: string): string {
    const [first = "", second] = words.split(/\s+/);
    return this.tokenId(
      second === undefined ? { market: null, outcome: first } : { market: first, outcome: second },
    );
  }

  /** The id of a token; of an unknown one, its own words. Without a market's name the first market's. */
  tokenId({ market, outcome }: { readonly market: string | null; readonly outcome: string }): string {
    const found = market === null ? [...this.#byName.values()][0] : this.#byName.get(market);
    const id = outcome === "YES" || outcome === "NO" ? found?.tokens[outcome] : undefined;
    return id ?? (market === null ? outcome : `${outcome} in ${market}`);
  }
}

/** A market as a reply describes it. */
export function marketRef(
  name: string,
  { id, conditionId, tokens, matching }: ReplyTo<"closeMarket">,
): MarketRef {
  const tokenOf = (of: Outcome): string => tokens.find(({ outcome }) => outcome === of)?.tokenId ?? "";
  const isComplementary = matching === "complementary";
  return { name, id, conditionId, tokens: { YES: tokenOf("YES"), NO: tokenOf("NO") }, isComplementary };
}
