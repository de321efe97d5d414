import { availableOf } from "../core/account.ts";
import { BID, type BookDirection } from "../core/book/book.ts";
import type { Command } from "../core/commands.ts";
import { idOf } from "../core/ids.ts";
import {
  bookFor,
  directionIn,
  isMirrored,
  type Market,
  type MarketBook,
  marketOfToken,
  outcomeOf,
  priceIn,
  tokenIdIn,
  tokenOf,
} from "../core/market.ts";
import { type Order, reservationOf } from "../core/order.ts";
import { balanceOf, shortfallOf } from "../core/rules/ledger.ts";
import { findAccount, type State } from "../core/state.ts";
import type { Address, OrderType, Outcome, Side } from "../core/terms.ts";
import { complement, FULL_PRICE, type Millis, money, type Price, price, size } from "../core/units.ts";
import { approvalsOf } from "../simulation/opening.ts";
import type { Draws } from "./chance.ts";
import type { FairValue } from "./fair-value.ts";

/** What one funding by the faucet brings: USDC, or shares of both outcomes. */
const FUNDING = { collateral: money(100_000_000_000), shares: size(1_000_000) };
/** Bots trade whole shares: 0.01 share. */
const LOT = 100;

/** Who looks, at what, and when. */
export interface Look {
  readonly state: State;
  readonly at: Millis;
  readonly address: Address;
  readonly market: Market;
  readonly fair: FairValue;
  /** The bot's own, of this look. */
  readonly draws: Draws;
}

/** An open order of the bot, in the terms of its book. */
export interface OwnOrder {
  readonly order: Order;
  readonly direction: BookDirection;
  readonly price: Price;
}

/**
 * One book of a market as a bot has it before itself, in the terms of `outcome`: where both outcomes share the book, that is
 * YES. It answers what the bot knows, and makes commands of what it wants; the exchange decides them.
 */
export class Desk {
  readonly look: Look;
  readonly outcome: Outcome;
  readonly #record: MarketBook;

  constructor(look: Look, outcome: Outcome) {
    this.look = look;
    this.outcome = outcome;
    this.#record = bookFor(look.market, outcome);
  }

  get tick(): Price {
    return this.look.market.tickSize;
  }

  /** What others offer to an order of this direction: the best price of the opposite side, null where nobody stands. */
  opposite(direction: BookDirection): Price | null {
    return this.#best(direction === BID ? "bestAsk" : "bestBid");
  }

  /** The best price of the order's own side. */
  beside(direction: BookDirection): Price | null {
    return this.#best(direction === BID ? "bestBid" : "bestAsk");
  }

  #best(side: "bestBid" | "bestAsk"): Price | null {
    const { book } = this.#record;
    const tick = book?.[side] ?? 0;
    return book === null || tick < 1 || tick > book.levels ? null : price(tick * this.tick);
  }

  /** The fair value at a moment, in 0.0001 USDC, not rounded. */
  fairAt(at: number): number {
    const { fair, state, market } = this.look;
    const value = fair.at(state, market, at);
    return this.outcome === "YES" ? value : FULL_PRICE - value;
  }

  /** The price that was traded last by a moment; null where nothing was. */
  tradedBy(at: Millis): Price | null {
    const { history } = this.#record;
    const points = history.countBefore(Math.floor(at / 1000) + 1);
    return points === 0 ? null : history.priceAt(points - 1);
  }

  /** Shares of this outcome less those of the other one, in 100 shares. */
  get inventory(): number {
    const { market } = this.look;
    const other = this.outcome === "YES" ? "NO" : "YES";
    return (this.#owned(market, this.outcome).balance - this.#owned(market, other).balance) / (100 * LOT);
  }

  #owned(market: Market, outcome: Outcome) {
    return balanceOf(findAccount(this.look.state, this.look.address), tokenOf(market.number, outcome));
  }

  /** The bot's open orders in this book, oldest first. */
  get ownOrders(): OwnOrder[] {
    const { state, address, market } = this.look;
    const found: OwnOrder[] = [];
    for (let next = findAccount(state, address)?.firstOpen ?? 0; next !== 0; ) {
      const order = state.orders.get(next);
      next = order.nextOpen;
      if (marketOfToken(order.token) !== market.number) continue;
      const outcome = outcomeOf(order.token);
      if (bookFor(market, outcome) !== this.#record) continue;
      const mirrored = isMirrored(market, outcome);
      found.push({
        order,
        direction: directionIn(mirrored, order.side),
        price: priceIn(mirrored, order.price),
      });
    }
    return found;
  }

  /** The nearest price at which an order may rest with one of the other side beyond it. */
  within(wanted: number, direction: BookDirection): number {
    const [low, high] = direction === BID ? [1, 2] : [2, 1];
    return Math.min(FULL_PRICE - high * this.tick, Math.max(low * this.tick, wanted));
  }

  /** Whole shares, at least the market's minimum. */
  lots(wanted: number): number {
    return Math.max(this.look.market.minOrderSize, LOT, Math.round(wanted / LOT) * LOT);
  }

  *cancel({ order }: OwnOrder): Generator<Command> {
    const { state, address } = this.look;
    yield { kind: "cancelOrder", address, orderId: idOf(state.idPrefixes.order, order.number) };
  }

  /** Takes what rests up to a price. */
  take(direction: BookDirection, limit: number, wanted: number): Generator<Command> {
    return this.place(direction, limit, wanted, "FAK");
  }

  /**
   * An order at a price of this book, rounded to the tick that is worse for others, and away from 0 and 1. A bot sells what
   * it has; else it buys the other outcome where that is the same, and is given what it lacks.
   */
  *place(
    direction: BookDirection,
    limit: number,
    wanted: number,
    orderType: Extract<OrderType, "GTC" | "FAK">,
  ): Generator<Command> {
    const { state, address, market } = this.look;
    const { balances } = state.config;
    const ticks = direction === BID ? Math.floor(limit / this.tick) : Math.ceil(limit / this.tick);
    const own = price(Math.min(FULL_PRICE - this.tick, Math.max(this.tick, ticks * this.tick)));
    const lots = size(this.lots(wanted));
    const asked: { outcome: Outcome; side: Side; price: Price } =
      direction === BID
        ? { outcome: this.outcome, side: "BUY", price: own }
        : { outcome: this.outcome, side: "SELL", price: own };
    if (market.matching === "complementary") {
      const seller = direction === BID ? "NO" : "YES";
      const isOwned = availableOf(this.#owned(market, seller), balances) >= lots;
      asked.outcome = (direction === BID) === isOwned ? "NO" : "YES";
      asked.side = isOwned ? "SELL" : "BUY";
      if (asked.outcome === "NO") asked.price = complement(own);
    }
    const token = tokenOf(market.number, asked.outcome);
    const order = { side: asked.side, price: asked.price, size: lots, orderType, expiration: null };
    const required = reservationOf(order, lots, market.feeRateBps);
    const account = findAccount(state, address);
    if (shortfallOf(account, market, { side: order.side, token }, required, balances) !== null) {
      yield* this.#funding(order.side);
    }
    yield { kind: "placeOrder", address, tokenId: tokenIdIn(market, asked.outcome), ...order };
  }

  *#funding(side: Side): Generator<Command> {
    const { state, address, market } = this.look;
    const isFirst = findAccount(state, address) === undefined;
    const tokens =
      side === "BUY" ? [] : market.tokenIds.map((tokenId) => ({ tokenId, size: FUNDING.shares }));
    const collateral = side === "BUY" ? FUNDING.collateral : money(0);
    const funding = { kind: "fundAccount", address, collateral, tokens, everyMarket: size(0) } as const;
    yield funding;
    if (isFirst && state.config.approvals === "required") yield* approvalsOf(funding);
  }
}
