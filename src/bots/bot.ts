import { type Account, availableOf, type Balance, openOrdersOf } from "../core/account.ts";
import { ASK, BID, type BookDirection } from "../core/book/book.ts";
import { approvalsOf, type Command, type CommandOf } from "../core/commands.ts";
import { houseAddress, idOf } from "../core/ids.ts";
import {
  bookFor,
  directionIn,
  isMirrored,
  type Market,
  type MarketBook,
  marketOfToken,
  outcomeOf,
  pointsBefore,
  priceAtPoint,
  priceIn,
  tokenIdIn,
  tokenOf,
} from "../core/market.ts";
import { type Order, reservationOf } from "../core/order.ts";
import { balanceOf, shortfallOf } from "../core/rules/ledger.ts";
import { findAccount, type State } from "../core/state.ts";
import type { Address, OrderType, Outcome, Side } from "../core/terms.ts";
import {
  complement,
  FULL_PRICE,
  type Millis,
  millis,
  money,
  type Price,
  price,
  type Size,
  size,
} from "../core/units.ts";
import { type FairValue, type RandomStream, type RandomStreams, STREAM } from "./fair-value.ts";
import { type BotProfile, KINDS, type Kind, maxCountOf } from "./profiles.ts";

/** Account that trades in every market by a strategy. */
export interface Bot {
  /** `bot-maker-1`; its address is a function of the name and the exchange's seed, and has no private key. */
  readonly name: string;
  readonly kind: Kind;
  readonly address: Address;
  /** Key of its random streams, the same in all profiles. */
  readonly number: number;
}

const NUMBERS_PER_KIND = 1_000;

/** Returns the bots of a profile; of all profiles if null. */
export const botsOf = (seed: string, profile: BotProfile | null): readonly Bot[] =>
  KINDS.flatMap((kind, index) =>
    Array.from({ length: profile?.[kind].count ?? maxCountOf(kind) }, (_, place) => {
      const name = `bot-${kind}-${place + 1}`;
      return { name, kind, address: houseAddress(seed, name), number: index * NUMBERS_PER_KIND + place };
    }),
  );

/** Amount of one funding by the faucet: USDC, or shares of both outcomes. */
const FUNDING = { collateral: money(100_000_000_000), shares: size(1_000_000) };
/** Bots trade whole shares: 0.01 share. */
const LOT = 100;

interface Turn {
  readonly state: State;
  readonly at: Millis;
  readonly bot: Bot;
  readonly market: Market;
  readonly fair: FairValue;
  readonly streams: RandomStreams;
  /** Of this turn. */
  readonly random: RandomStream;
}

/** Open order of the bot, in the terms of its book. */
interface OwnOrder {
  readonly order: Order;
  readonly direction: BookDirection;
  readonly price: Price;
}

/**
 * A bot's view of one book of a market, in the terms of `outcome`, which is YES if both outcomes share the book. It has the
 * bot's queries and makes its commands; the exchange decides them.
 */
export class BookView {
  readonly turn: Turn;
  readonly outcome: Outcome;
  readonly #record: MarketBook;

  constructor(turn: Turn, outcome: Outcome) {
    this.turn = turn;
    this.outcome = outcome;
    this.#record = bookFor(turn.market, outcome);
  }

  get tick(): Price {
    return this.turn.market.tickSize;
  }

  /** Returns the best price of a side; null if it is empty. */
  best(side: BookDirection): Price | null {
    const { book } = this.#record;
    const tick = (side === BID ? book?.bestBid : book?.bestAsk) ?? 0;
    return book === null || tick < 1 || tick > book.levels ? null : price(tick * this.tick);
  }

  /** Returns the fair value at a time, in 0.0001 USDC, not rounded. */
  fairAt(at: number): number {
    const { fair, state, market } = this.turn;
    const value = fair.at(state, market, at);
    return this.outcome === "YES" ? value : FULL_PRICE - value;
  }

  /** Returns the last traded price at a time; null if there was no trade. */
  tradedBy(at: Millis): Price | null {
    const { history } = this.#record;
    const points = pointsBefore(history, Math.floor(at / 1000) + 1);
    return points === 0 ? null : priceAtPoint(history.get(points));
  }

  /** Shares of this outcome minus those of the other one, in 100 shares. */
  get inventory(): number {
    const other = this.outcome === "YES" ? "NO" : "YES";
    return (this.#owned(this.outcome).balance - this.#owned(other).balance) / (100 * LOT);
  }

  get #account(): Account | undefined {
    return findAccount(this.turn.state, this.turn.bot.address);
  }

  #owned(outcome: Outcome): Readonly<Balance<number>> {
    return balanceOf(this.#account, tokenOf(this.turn.market.number, outcome));
  }

  /** Open orders of the bot in this book, oldest first. */
  get ownOrders(): OwnOrder[] {
    const { state, market } = this.turn;
    const found: OwnOrder[] = [];
    // A loop, because most orders are in other books: an array of all would make bots take 1.5 times as long.
    for (const order of openOrdersOf(state, this.#account)) {
      const { token, side } = order;
      const outcome = outcomeOf(token);
      if (marketOfToken(token) !== market.number || bookFor(market, outcome) !== this.#record) continue;
      const mirrored = isMirrored(market, outcome);
      found.push({ order, direction: directionIn(mirrored, side), price: priceIn(mirrored, order.price) });
    }
    return found;
  }

  /** Limits a price so that an order rests inside (0, 1) with room for a level of the opposite side. */
  clampPrice(wanted: number, direction: BookDirection): number {
    const [low, high] = direction === BID ? [1, 2] : [2, 1];
    return Math.min(FULL_PRICE - high * this.tick, Math.max(low * this.tick, wanted));
  }

  /** Rounds a size to whole shares, at least the market's minimum. */
  roundSize(wanted: number): number {
    return Math.max(this.turn.market.minOrderSize, LOT, Math.round(wanted / LOT) * LOT);
  }

  cancel({ order }: OwnOrder): Command {
    const { state, bot } = this.turn;
    const orderId = idOf(state.idPrefixes.order, order.number);
    return { kind: "cancelOrder", address: bot.address, orderId };
  }

  /**
   * Places an order at a price of this book, rounded to the tick that is less favorable to others, between 0 and 1. Funds
   * the bot from the faucet before if necessary.
   */
  *place(
    direction: BookDirection,
    limit: number,
    wanted: number,
    orderType: Extract<OrderType, "GTC" | "FAK">,
  ): Generator<Command> {
    const { state, bot, market } = this.turn;
    const ticks = direction === BID ? Math.floor(limit / this.tick) : Math.ceil(limit / this.tick);
    const own = price(Math.min(FULL_PRICE - this.tick, Math.max(this.tick, ticks * this.tick)));
    const lots = size(this.roundSize(wanted));
    const { outcome, ...terms } = this.#termsOf(direction, own, lots);
    const required = reservationOf(terms, lots, market.feeRateBps);
    const asset = { side: terms.side, token: tokenOf(market.number, outcome) };
    const shortfall = shortfallOf(this.#account, market, asset, required, state.config.balances);
    if (shortfall !== null) yield* this.#funding(terms.side);
    const tokenId = tokenIdIn(market, outcome);
    const order = { ...terms, size: lots, orderType, expiration: null };
    yield { kind: "placeOrder", address: bot.address, tokenId, ...order };
  }

  /** Sells shares if the bot has enough; else buys the other outcome, which is equivalent in a shared book. */
  #termsOf(direction: BookDirection, own: Price, lots: Size) {
    const { state, market } = this.turn;
    const isBuyer = direction === BID;
    if (market.matching === "independent") {
      return { outcome: this.outcome, side: isBuyer ? "BUY" : "SELL", price: own } as const;
    }
    const [bought, sold] = isBuyer ? (["YES", "NO"] as const) : (["NO", "YES"] as const);
    const isSold = availableOf(this.#owned(sold), state.config.balances) >= lots;
    const outcome = isSold ? sold : bought;
    const terms = { outcome, side: isSold ? "SELL" : "BUY" } as const;
    return { ...terms, price: outcome === "NO" ? complement(own) : own };
  }

  *#funding(side: Side): Generator<Command> {
    const { state, bot, market } = this.turn;
    const isFirst = this.#account === undefined;
    const funding: CommandOf<"fundAccount"> = {
      kind: "fundAccount",
      address: bot.address,
      collateral: side === "BUY" ? FUNDING.collateral : money(0),
      tokens: side === "BUY" ? [] : market.tokenIds.map((tokenId) => ({ tokenId, size: FUNDING.shares })),
      everyMarket: size(0),
    };
    yield funding;
    if (isFirst && state.config.approvals === "required") yield* approvalsOf(funding);
  }
}

/** Bots cancel their orders and stop trading an hour before a market's end date, ms. */
const LAST_MS = 3_600_000;
/** Time that a noise trader works on one large order, ms. */
const INTERVAL_MS = 1_800_000;
/** Number of different offsets at which the intervals of noise traders begin. */
const INTERVAL_OFFSETS = 16;
/** Distance beyond the best price that a taker accepts, at least a tick. 0.0001 USDC. */
const SLIPPAGE = 100;
/** Distance from its current target at which a quote is replaced, approximately; at least a tick. 0.0001 USDC. */
const TOLERANCE = 50;
/** Largest order as a multiple of the smallest. */
const MAX_MULTIPLE = 20;
/** Maximum position of momentum traders, in 100 shares. */
const MAX_INVENTORY = 10;

/** Yields the commands of a bot for one book in one turn. */
export function* act(view: BookView, terms: BotProfile): Generator<Command> {
  const { market, at, bot } = view.turn;
  if (market.endDate !== null && at >= market.endDate - LAST_MS) {
    for (const own of view.ownOrders) yield view.cancel(own);
    return;
  }
  yield* STRATEGIES[bot.kind](view, terms);
}

type Strategy = (view: BookView, terms: BotProfile) => Generator<Command>;
const STRATEGIES: Readonly<Record<Kind, Strategy>> = {
  maker: makeMarket,
  noise: tradeAtRandom,
  momentum: followTrend,
  informed: takeMispriced,
};

/** Maintains quotes on both sides around the reservation price: cancels outdated ones and places missing ones. */
function* makeMarket(view: BookView, { maker: terms }: BotProfile): Generator<Command> {
  const { random, at } = view.turn;
  const fair = view.fairAt(at - terms.lagMs);
  const slope = (4 * fair * (FULL_PRICE - fair)) / FULL_PRICE ** 2;
  const risk = terms.risk * slope;
  const reservation = fair - view.inventory * risk;
  const half = risk / 2 + terms.premium * slope;
  const open = view.ownOrders;
  const missing: { readonly direction: BookDirection; readonly price: number; readonly size: number }[] = [];
  const gap = Math.max(terms.gap, view.tick);
  for (const direction of [BID, ASK] as const) {
    const away = direction === BID ? -1 : 1;
    for (let level = 0; level < terms.levels; level += 1) {
      const wanted = view.clampPrice(reservation + away * (half + level * gap), direction);
      const index = open.findIndex((own) => own.direction === direction && isNear(own, wanted, view));
      if (index >= 0) open.splice(index, 1);
      else
        missing.push({
          direction,
          price: wanted,
          size: terms.size * (0.6 + 0.8 * random.uniform()) * (level + 1),
        });
    }
  }
  for (const own of open) yield view.cancel(own);
  for (const { direction, price, size } of missing) yield* view.place(direction, price, size, "GTC");
}

/** Whether a quote is close to its current target. */
function isNear({ direction, price }: OwnOrder, wanted: number, { tick }: BookView): boolean {
  const worse = direction === BID ? wanted - price : price - wanted;
  const width = Math.max(tick, TOLERANCE);
  return worse >= -width / 2 && worse <= width * 1.5;
}

/** Takes, places or cancels orders at random. */
function* tradeAtRandom(view: BookView, { noise: terms }: BotProfile): Generator<Command> {
  const { at, bot, market, streams, random } = view.turn;
  for (const own of view.ownOrders) {
    if (own.order.createdAt <= at - terms.patienceMs) yield view.cancel(own);
  }
  const index = Math.floor(at / INTERVAL_MS + bot.number / INTERVAL_OFFSETS);
  const interval = streams.of(STREAM.interval, bot.number, market.number, index);
  if (!interval.bernoulli(terms.active)) return;
  const mainSide = interval.bernoulli(0.5) ? BID : ASK;
  const direction = random.bernoulli(terms.oneSided) ? mainSide : mainSide === BID ? ASK : BID;
  const size = terms.size * random.pareto(MAX_MULTIPLE);
  if (random.bernoulli(terms.marketable)) {
    yield* cross(view, direction, size);
    return;
  }
  const away = direction === BID ? -1 : 1;
  const best = view.best(direction) ?? view.fairAt(at) + away * SLIPPAGE;
  const step = Math.max(view.tick, TOLERANCE);
  const price = best + away * (Math.floor(random.pareto(MAX_MULTIPLE)) - 2) * step;
  const facing = view.best(direction === BID ? ASK : BID);
  const isCrossing = facing !== null && (facing - price) * -away <= 0;
  yield* view.place(direction, isCrossing ? facing + away * view.tick : price, size, "GTC");
}

/** Buys after a rise, sells after a fall; otherwise reduces the position step by step. */
function* followTrend(view: BookView, { momentum }: BotProfile): Generator<Command> {
  const { windowMs, threshold, size } = momentum;
  const { at } = view.turn;
  const [before, last] = [view.tradedBy(millis(at - windowMs)), view.tradedBy(at)];
  const change = before === null || last === null ? 0 : last - before;
  const { inventory } = view;
  if (Math.abs(change) >= Math.max(threshold, view.tick)) {
    const direction = change > 0 ? BID : ASK;
    const held = direction === BID ? inventory : -inventory;
    if (held < MAX_INVENTORY) yield* cross(view, direction, size);
  } else if (inventory !== 0) {
    const held = Math.abs(inventory) * 10_000;
    if (held >= view.roundSize(0)) yield* cross(view, inventory > 0 ? ASK : BID, Math.min(size, held));
  }
}

/** Takes orders whose price differs from the fair value by more than the edge and the fee. */
function* takeMispriced(view: BookView, { informed }: BotProfile): Generator<Command> {
  const { edge, size } = informed;
  const { at, market } = view.turn;
  const fair = view.fairAt(at);
  const margin = edge + (Math.min(fair, FULL_PRICE - fair) * market.feeRateBps) / 10_000;
  const [bid, ask] = [view.best(BID), view.best(ASK)];
  if (ask !== null && ask <= fair - margin) yield* view.place(BID, fair - margin, size, "FAK");
  else if (bid !== null && bid >= fair + margin) yield* view.place(ASK, fair + margin, size, "FAK");
}

/** Takes orders at the best price and up to the slippage beyond. */
function* cross(view: BookView, direction: BookDirection, size: number): Generator<Command> {
  const facing = view.best(direction === BID ? ASK : BID);
  if (facing === null) return;
  const slippage = Math.max(view.tick, SLIPPAGE);
  yield* view.place(direction, facing + (direction === BID ? slippage : -slippage), size, "FAK");
}
