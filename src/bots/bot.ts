import { type Account, availableOf, type Balance, openOrdersOf } from "../core/account.ts";
import { BID, type BookDirection } from "../core/book/book.ts";
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
  money,
  type Price,
  price,
  type Size,
  size,
} from "../core/units.ts";
import type { Chance, Draws, FairValue } from "./fair-value.ts";
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

/** Context of one turn of a bot. */
interface Turn {
  readonly state: State;
  readonly at: Millis;
  readonly bot: Bot;
  readonly market: Market;
  readonly fair: FairValue;
  readonly chance: Chance;
  /** Random numbers of this turn. */
  readonly draws: Draws;
}

/** Open order of the bot, in the terms of its book. */
export interface OwnOrder {
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

  /** Returns the best price of the side opposite to this direction; null if it is empty. */
  opposite(direction: BookDirection): Price | null {
    return this.#best(direction === BID ? "bestAsk" : "bestBid");
  }

  /** Returns the best price of the side of this direction; null if it is empty. */
  sameSide(direction: BookDirection): Price | null {
    return this.#best(direction === BID ? "bestBid" : "bestAsk");
  }

  #best(side: "bestBid" | "bestAsk"): Price | null {
    const { book } = this.#record;
    const tick = book?.[side] ?? 0;
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
    const points = history.countBefore(Math.floor(at / 1000) + 1);
    return points === 0 ? null : history.priceAt(points - 1);
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
    for (const order of openOrdersOf(state, this.#account)) {
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
