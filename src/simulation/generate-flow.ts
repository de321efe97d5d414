import { priceIn } from "../core/market.ts";
import { type Stream, stream } from "../core/random.ts";
import type { OrderType } from "../core/terms.ts";
import {
  complement,
  FULL_PRICE,
  MAX_ISSUANCE,
  MAX_SIZE,
  notional,
  type Price,
  price,
  price as priceOf,
  type Size,
  size,
  size as sizeOf,
} from "../core/units.ts";
import {
  type CancelRow,
  type FlowRow,
  MAX_ACCOUNTS,
  MAX_FLOW_ORDERS,
  type PlaceRow,
  type Profile,
} from "./flow.ts";
import { MAX_FEE_BPS, type RestingOrder, SimulatedMarket, type SimulatedOrder } from "./simulator.ts";

/** The arrival process: the moments of rows in milliseconds since the start; some come together, then there is a pause. */
function* arrivalsOf(seed: string, { together, pauseMs }: Profile): Generator<number, never> {
  const random = stream(seed, "flow/pace");
  for (let at = 0; ; ) {
    const rows = random.between(...together);
    at += random.between(1, 2 * pauseMs - 1);
    for (let row = 0; row < rows; row += 1) yield at;
  }
}

/** The fair value stays so far from 0 and from 1, in 0.0001 USDC. */
const EDGE = 200;
/** Of what the value is away from its way, one part in so many is undone with each order. */
const PULL = 400;

/** In 0.0001 USDC at each order: a way from start to end, and a random walk that is pulled back to it. */
function* fairValuesOf({ seed, profile, orders }: FlowSubject): Generator<number, never> {
  const random = stream(seed, "flow/fair");
  const { fair, step } = profile;
  const [start, end] = fair;
  for (let order = 0, away = 0; ; order += 1) {
    away += random.between(-step, step) - Math.trunc(away / PULL);
    const way = start + Math.floor(((end - start) * order) / orders);
    yield Math.min(FULL_PRICE - EDGE, Math.max(EDGE, way + away));
  }
}

/** More than what is needed, so that accounts seldom stand in for one another. */
const AMPLE = 4;
const ROUND = 1000 * 100;
/** Of what an exchange may issue, one part in so many may fund one flow. */
const SHARE_OF_ISSUANCE = 4;

/**
 * With how many shares of each outcome, and as many USDC, every account starts so that somebody can pay for each order.
 *
 * Let M be the largest order, in shares and so at most in USDC, fee included. An order that pushes YES up is paid in USDC
 * or in shares of NO; if nobody could pay, n accounts would have less than 2nM of both free. But all USDC and NO together
 * never change by a fill, whatever changes hands, is minted or merged; only fees take away from them, at most
 * orders x M x 1 %, and those that rest hold at most M each. So 2n times the start must be (2n + resting) x M and the
 * fees. Down likewise, with shares of YES.
 * @throws RangeError when an exchange could not issue that much.
 */
function sharesNeeded({ accounts, orders, profile, minOrderSize }: FlowSubject): Size {
  const largest = minOrderSize + MAX_ADDED;
  const fees = Math.ceil((orders * largest * MAX_FEE_BPS) / (2 * FULL_PRICE));
  const needed = ((2 * accounts + profile.resting + 1) * largest + fees) / (2 * accounts);
  const shares = size(Math.ceil((AMPLE * needed) / ROUND) * ROUND);
  if (notional(FULL_PRICE, shares) * 3 * accounts > MAX_ISSUANCE / SHARE_OF_ISSUANCE) {
    throw new RangeError(
      `an exchange cannot issue what ${accounts} accounts need for ${orders} orders of up to ${largest / 100} shares`,
    );
  }
  return shares;
}

interface FlowSubject {
  readonly seed: string;
  readonly profile: Profile;
  readonly orders: number;
  readonly accounts: number;
  /** A divisor of 10,000. */
  readonly tickSize: Price;
  readonly minOrderSize: Size;
}

/** The most that a draw adds to the smallest order: 398 shares, and sometimes up to 0.99 more. */
const MAX_ADDED = sizeOf(398 * 100 + 99);

/** How far past the best opposite price a taker is willing to go, in ticks. */
const MAX_SLIP = 2;
const LONGEST_LIFE_S = 120;

/** Draws the orders of a flow one after the other, each of them one that its account can pay. */
export class OrderGenerator {
  readonly #subject: FlowSubject;
  readonly #market: SimulatedMarket;
  readonly #random: Stream;
  readonly #fair: Generator<number, never>;
  readonly #levels: number;

  constructor(subject: FlowSubject, market: SimulatedMarket) {
    this.#subject = subject;
    this.#market = market;
    this.#random = stream(subject.seed, "flow/orders");
    this.#fair = fairValuesOf(subject);
    this.#levels = FULL_PRICE / subject.tickSize - 1;
  }

  next(number: number, at: number): SimulatedOrder {
    const { up, yes, takers } = this.#subject.profile;
    const isUp = this.#random.below(100) < up;
    const outcome = this.#random.below(100) < yes ? "YES" : "NO";
    const isTaker = this.#random.below(100) < takers;
    const fair = this.#fair.next().value;
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
    const { bestBid, bestAsk } = this.#market.book;
    const tick = isUp ? bestAsk : bestBid;
    return tick >= 1 && tick <= this.#levels ? tick : null;
  }

  #beyond(isUp: boolean, touch: number): number {
    const slip = this.#random.below(MAX_SLIP + 1);
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
   * Of whoever is drawn, or of the next who can pay, in the other outcome at the same price of YES where need be. Somebody
   * always can: see `sharesNeeded`.
   */
  #payable(drawn: SimulatedOrder): SimulatedOrder {
    if (this.#market.canPay(drawn)) return drawn;
    const { accounts } = this.#subject;
    const mirrored = mirrorOf(drawn);
    for (let tried = 0; tried < accounts; tried += 1) {
      const account = (drawn.account + tried) % accounts;
      for (const order of [
        { ...drawn, account },
        { ...mirrored, account },
      ]) {
        if (this.#market.canPay(order)) return order;
      }
    }
    throw new Error("nobody can pay for an order of this flow");
  }
}

/** The same order in terms of the other outcome: selling NO for buying YES. */
const mirrorOf = (order: SimulatedOrder): SimulatedOrder => ({
  ...order,
  side: order.side === "BUY" ? "SELL" : "BUY",
  outcome: order.outcome === "YES" ? "NO" : "YES",
  price: complement(order.price),
});

export interface GenerateFlowOptions {
  readonly seed: string;
  /** How many orders are placed, up to `MAX_FLOW_ORDERS`; rows that fund and cancel come on top. */
  readonly orders: number;
  readonly accounts: number;
  readonly profile: Profile;
  /** Else a tick of 0.01 and orders from 1 share; `tickSize` is a divisor of 10,000. */
  readonly market?: { readonly tickSize: Price; readonly minOrderSize: Size };
}

/** Of so many orders that came last, one is chosen to be canceled soon. */
const RECENT = 6;

/**
 * First what funds the accounts, then orders and cancels, made as they are asked for. No row is refused where they are
 * played in order and in time in a complementary market without other orders, where nobody is kept from trading with
 * himself and the taker fee is at most 2 %. @throws RangeError when there is no such flow.
 */
export function generateFlow(options: GenerateFlowOptions): Generator<FlowRow> {
  const { tickSize = price(100), minOrderSize = size(100) } = options.market ?? {};
  const subject: FlowSubject = { ...options, tickSize, minOrderSize };
  refuseImpossible(subject);
  return rowsOf(subject, sharesNeeded(subject));
}

function* rowsOf(subject: FlowSubject, shares: Size): Generator<FlowRow> {
  const { seed, profile, orders, accounts } = subject;
  for (let account = 0; account < accounts; account += 1) yield* fundingRows(account, shares);
  const market = new SimulatedMarket(accounts, shares, subject.tickSize);
  const draw = new OrderGenerator(subject, market);
  const cancels = stream(seed, "flow/cancels");
  const arrivals = arrivalsOf(seed, profile);
  const nextMoment = (): number => {
    const at = arrivals.next().value;
    market.advanceTo(at);
    return at;
  };
  for (let number = 1; number <= orders; number += 1) {
    let at = nextMoment();
    const order = draw.next(number, at);
    market.place(order);
    yield placeRow(at, order);
    if (cancels.below(100) < profile.canceledSoon) {
      at = nextMoment();
      const resting = recentOrder(cancels, market, number);
      if (resting !== undefined) yield cancelRow(at, market, resting);
    }
    while (market.resting.length > profile.resting) {
      at = nextMoment();
      const { resting } = market;
      if (resting.length > profile.resting) yield cancelRow(at, market, cancels.pick(resting));
    }
  }
}

function recentOrder(random: Stream, market: SimulatedMarket, latest: number): RestingOrder | undefined {
  const first = random.below(RECENT);
  for (let tried = 0; tried < RECENT; tried += 1) {
    const resting = market.find(latest - ((first + tried) % RECENT));
    if (resting !== undefined) return resting;
  }
  return undefined;
}

function* fundingRows(account: number, shares: Size): Generator<FlowRow> {
  const base = { op: "fund", at: 0, account: nameOf(account), market: null } as const;
  yield { ...base, asset: "USDC", amount: notional(FULL_PRICE, shares) };
  yield { ...base, asset: "YES", amount: shares };
  yield { ...base, asset: "NO", amount: shares };
}

function placeRow(at: number, order: SimulatedOrder): PlaceRow {
  return {
    op: "place",
    at,
    account: nameOf(order.account),
    market: null,
    ref: refOf(order.number),
    side: order.side,
    outcome: order.outcome,
    price: order.price,
    size: order.size,
    type: order.type,
    expiresIn: order.expiresAt === null ? null : order.expiresAt - at,
  };
}

function cancelRow(at: number, market: SimulatedMarket, resting: RestingOrder): CancelRow {
  const { account, number } = resting.order;
  market.cancel(resting);
  return { op: "cancel", at, account: nameOf(account), market: null, ref: refOf(number) };
}

const nameOf = (account: number): string => `trader-${account + 1}`;
const refOf = (order: number): string => `o${order}`;

function refuseImpossible({ orders, accounts, tickSize, minOrderSize }: FlowSubject): void {
  expectWhole("orders", orders, 1, MAX_FLOW_ORDERS);
  expectWhole("accounts", accounts, 1, MAX_ACCOUNTS);
  expectWhole("tickSize", tickSize, 1, FULL_PRICE / 2);
  expectWhole("minOrderSize", minOrderSize, 1, MAX_SIZE - MAX_ADDED);
  if (FULL_PRICE % tickSize !== 0)
    throw new RangeError(`tickSize expects a divisor of 10000, found ${tickSize}`);
}

function expectWhole(what: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new RangeError(`${what} expects a whole number from ${least} to ${most}, found ${value}`);
}
