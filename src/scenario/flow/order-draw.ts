import { priceIn } from "../../core/market.ts";
import { type Stream, stream } from "../../core/random.ts";
import type { OrderType } from "../../core/terms.ts";
import {
  complement,
  FULL_PRICE,
  type Price,
  price as priceOf,
  type Size,
  size as sizeOf,
} from "../../core/units.ts";
import { FairValue } from "./fair-value.ts";
import type { Profile } from "./profiles.ts";
import type { Rehearsal, RehearsedOrder } from "./rehearsal.ts";

/** What the orders of a flow are drawn for. */
export interface DrawSubject {
  readonly seed: string;
  readonly profile: Profile;
  /** How many orders there will be. */
  readonly orders: number;
  readonly accounts: number;
  /** A divisor of 10,000. */
  readonly tickSize: Price;
  readonly minOrderSize: Size;
}

/** The most that a draw adds to the smallest order: 398 shares, and sometimes up to 0.99 more. */
export const MOST_ADDED = sizeOf(398 * 100 + 99);

/** How far past the best opposite price a taker is willing to go, in ticks. */
const MOST_SLIP = 2;
const LONGEST_LIFE_S = 120;

/** Draws the orders of a flow one after the other, each of them one that its account can pay. */
export class OrderDraw {
  readonly #subject: DrawSubject;
  readonly #rehearsal: Rehearsal;
  readonly #random: Stream;
  readonly #fair: FairValue;
  readonly #levels: number;

  constructor(subject: DrawSubject, rehearsal: Rehearsal) {
    this.#subject = subject;
    this.#rehearsal = rehearsal;
    this.#random = stream(subject.seed, "flow/orders");
    this.#fair = new FairValue(subject.seed, subject.profile, subject.orders);
    this.#levels = FULL_PRICE / subject.tickSize - 1;
  }

  /** The order that comes at this moment, as the rehearsal stands then. */
  next(number: number, at: number): RehearsedOrder {
    const { up, yes, takers } = this.#subject.profile;
    const isUp = this.#random.below(100) < up;
    const outcome = this.#random.below(100) < yes ? "YES" : "NO";
    const isTaker = this.#random.below(100) < takers;
    const fair = this.#fair.next();
    const touch = isTaker ? this.#touch(isUp) : null;
    const tick = touch === null ? this.#quote(isUp, fair) : this.#beyond(isUp, touch);
    const type = touch === null ? this.#makerType() : this.#takerType();
    const expiresAt = type === "GTD" ? at + this.#random.between(1, LONGEST_LIFE_S) * 1000 : null;
    const size = this.#size();
    const account = this.#random.below(this.#subject.accounts);
    const side = isUp === (outcome === "YES") ? "BUY" : "SELL";
    const price = priceIn(outcome === "NO", priceOf(tick * this.#subject.tickSize));
    return this.#payable({ number, account, side, outcome, price, size, type, expiresAt });
  }

  /** The best opposite price, in ticks of YES, or null when nobody stands there. */
  #touch(isUp: boolean): number | null {
    const { bestBid, bestAsk } = this.#rehearsal;
    const tick = isUp ? bestAsk : bestBid;
    return tick >= 1 && tick <= this.#levels ? tick : null;
  }

  #beyond(isUp: boolean, touch: number): number {
    const slip = this.#random.below(MOST_SLIP + 1);
    return this.#onLadder(isUp ? touch + slip : touch - slip);
  }

  /** On its own side of the fair value, rather near it than far. */
  #quote(isUp: boolean, fair: number): number {
    const { profile, tickSize } = this.#subject;
    const away = Math.min(this.#random.below(profile.depth), this.#random.below(profile.depth));
    return this.#onLadder(isUp ? Math.floor((fair - away) / tickSize) : Math.ceil((fair + away) / tickSize));
  }

  #onLadder(tick: number): number {
    return Math.min(this.#levels, Math.max(1, tick));
  }

  #makerType(): OrderType {
    return this.#random.oneIn(12) ? "GTD" : "GTC";
  }

  #takerType(): OrderType {
    const draw = this.#random.below(100);
    return draw < 55 ? "GTC" : draw < 85 ? "FAK" : "FOK";
  }

  /** Mostly whole shares; many small orders and few large ones, as the cube of an even draw gives them. */
  #size(): Size {
    const draw = this.#random.below(1000);
    const shares = Math.floor((draw * draw * draw) / 2_500_000);
    const cents = this.#random.oneIn(10) ? this.#random.below(100) : 0;
    return sizeOf(this.#subject.minOrderSize + shares * 100 + cents);
  }

  /**
   * The order of whoever is drawn, or of the next who can pay for it. Who cannot pay in the drawn outcome pays in the
   * other one, which comes to the same price of YES. Somebody always can: see `sharesNeeded`.
   */
  #payable(drawn: RehearsedOrder): RehearsedOrder {
    if (this.#rehearsal.canPay(drawn)) return drawn;
    const { accounts } = this.#subject;
    const mirrored = mirrorOf(drawn);
    for (let tried = 0; tried < accounts; tried += 1) {
      const account = (drawn.account + tried) % accounts;
      for (const order of [
        { ...drawn, account },
        { ...mirrored, account },
      ]) {
        if (this.#rehearsal.canPay(order)) return order;
      }
    }
    throw new Error("nobody can pay for an order of this flow");
  }
}

/** The same order in terms of the other outcome: selling NO for buying YES. */
const mirrorOf = (order: RehearsedOrder): RehearsedOrder => ({
  ...order,
  side: order.side === "BUY" ? "SELL" : "BUY",
  outcome: order.outcome === "YES" ? "NO" : "YES",
  price: complement(order.price),
});
