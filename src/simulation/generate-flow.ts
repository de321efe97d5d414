import { priceIn } from "../core/market.ts";
import { type Random, seededRandom } from "../core/random.ts";
import type { OrderType } from "../core/terms.ts";
import {
  complement,
  FULL_PRICE,
  MAX_ISSUANCE,
  MAX_SIZE,
  notional,
  type Price,
  price,
  type Size,
  size,
} from "../core/units.ts";
import { type FlowProfile, type FlowRow, MAX_ACCOUNTS, MAX_FLOW_ORDERS } from "./flow.ts";
import { MAX_FEE_BPS, type RestingOrder, SimulatedMarket, type SimulatedOrder } from "./simulator.ts";

/** The arrival process: times of rows in milliseconds since the start, in bursts with pauses. */
function* arrivalsOf(seed: string, { rowsAtOnce, pauseMs }: FlowProfile): Generator<number, never> {
  const random = seededRandom(seed, "flow/pace");
  for (let at = 0; ; ) {
    const rows = random.between(...rowsAtOnce);
    at += random.between(1, 2 * pauseMs - 1);
    for (let row = 0; row < rows; row += 1) yield at;
  }
}

/** Minimum distance of the fair value from 0 and from 1, in 0.0001 USDC. */
const EDGE = 200;
/** Each order reduces the distance of the value from its trend by this fraction (mean reversion). */
const PULL = 400;

/** The fair value at each order, in 0.0001 USDC: a linear trend and a mean-reverting random walk. */
function* fairValuesOf({ seed, profile, orders }: FlowSubject): Generator<number, never> {
  const random = seededRandom(seed, "flow/fair");
  const { fair, maxStep } = profile;
  const [start, end] = fair;
  for (let order = 0, away = 0; ; order += 1) {
    away += random.between(-maxStep, maxStep) - Math.trunc(away / PULL);
    const trend = start + Math.floor(((end - start) * order) / orders);
    yield Math.min(FULL_PRICE - EDGE, Math.max(EDGE, trend + away));
  }
}

/** Accounts get a multiple of what is needed, so that an order seldom has to change its account. */
const FUNDING_FACTOR = 4;
const ROUND = 1000 * 100;
/** A flow may use one part in this many of the maximum issuance. */
const ISSUANCE_DIVISOR = 4;

/**
 * Returns the number of shares of each outcome, and of USDC, that every account needs so that each order can be paid.
 *
 * Let M be the largest order, in shares and so at most in USDC, fee included. An order that pushes YES up is paid in USDC
 * or in shares of NO; if no account could pay, n accounts would have less than 2nM of both available. But the sum of all
 * USDC and NO does not change by a fill, also not by MINT or MERGE. Only fees reduce it, by at most orders x M x 1 %, and
 * each resting order reserves at most M. So 2n times the funding must be (2n + resting) x M plus the fees. The same holds
 * for orders that push YES down, with shares of YES.
 * @throws RangeError if an exchange could not issue that much.
 */
function sharesNeeded({ accounts, orders, profile, minOrderSize }: FlowSubject): Size {
  const largest = minOrderSize + MAX_ADDED;
  const fees = Math.ceil((orders * largest * MAX_FEE_BPS) / (2 * FULL_PRICE));
  const needed = ((2 * accounts + profile.maxResting + 1) * largest + fees) / (2 * accounts);
  const shares = size(Math.ceil((FUNDING_FACTOR * needed) / ROUND) * ROUND);
  if (notional(FULL_PRICE, shares) * 3 * accounts <= MAX_ISSUANCE / ISSUANCE_DIVISOR) return shares;
  throw new RangeError(
    `an exchange cannot issue what ${accounts} accounts need for ${orders} orders of up to ${largest / 100} shares`,
  );
}

type FlowSubject = Required<GenerateFlowOptions>;

/** Maximum size above the minimum order size: 398 shares, and sometimes up to 0.99 more. */
const MAX_ADDED = size(398 * 100 + 99);

/** Maximum distance of a taker's limit beyond the best opposite price, in ticks. */
const MAX_SLIP = 2;
const MAX_LIFETIME_S = 120;

/** Returns a function that draws the orders of a flow in order; each account can pay for its order. */
export function orderSource(subject: FlowSubject, market: SimulatedMarket) {
  const { accounts, profile, tickSize, minOrderSize } = subject;
  const random = seededRandom(subject.seed, "flow/orders");
  const fairValues = fairValuesOf(subject);
  const levels = FULL_PRICE / tickSize - 1;
  const percent = (percentage: number): boolean => random.below(100) < percentage;
  const onLadder = (tick: number): number => Math.min(levels, Math.max(1, tick));

  /** Returns the best opposite price, in ticks of YES; null if that side is empty. */
  const touchOf = (isUp: boolean): number | null => {
    const { bestBid, bestAsk } = market.book;
    const tick = isUp ? bestAsk : bestBid;
    return tick >= 1 && tick <= levels ? tick : null;
  };
  const beyond = (isUp: boolean, touch: number): number => {
    const slip = random.below(MAX_SLIP + 1);
    return onLadder(isUp ? touch + slip : touch - slip);
  };
  /** Draws a price on the order's side of the fair value, more likely near it. */
  const quote = (isUp: boolean, fair: number): number => {
    const away = Math.min(random.below(profile.maxDistance), random.below(profile.maxDistance));
    return onLadder(isUp ? Math.floor((fair - away) / tickSize) : Math.ceil((fair + away) / tickSize));
  };
  const makerType = (): OrderType => (random.oneIn(12) ? "GTD" : "GTC");
  const takerType = (): OrderType => {
    const draw = random.below(100);
    return draw < 55 ? "GTC" : draw < 85 ? "FAK" : "FOK";
  };
  /** Mostly whole shares; many small orders and few large ones, by the cube of a uniform draw. */
  const drawSize = (): Size => {
    const draw = random.below(1000);
    const shares = Math.floor((draw * draw * draw) / 2_500_000);
    const cents = random.oneIn(10) ? random.below(100) : 0;
    return size(minOrderSize + shares * 100 + cents);
  };
  /** Returns the order for the next account that can pay, if necessary in the other outcome. One can: see `sharesNeeded`. */
  const payable = (drawn: SimulatedOrder): SimulatedOrder => {
    if (market.canPay(drawn)) return drawn;
    const mirrored = mirrorOf(drawn);
    for (let tried = 0; tried < accounts; tried += 1) {
      const account = (drawn.account + tried) % accounts;
      for (const order of [drawn, mirrored]) {
        if (market.canPay({ ...order, account })) return { ...order, account };
      }
    }
    throw new Error("no account can pay for an order of this flow");
  };

  return (number: number, at: number): SimulatedOrder => {
    const isUp = percent(profile.upPercent);
    const outcome = percent(profile.yesPercent) ? "YES" : "NO";
    const isTaker = percent(profile.takerPercent);
    const fair = fairValues.next().value;
    const touch = isTaker ? touchOf(isUp) : null;
    const tick = touch === null ? quote(isUp, fair) : beyond(isUp, touch);
    const type = touch === null ? makerType() : takerType();
    const expiresAt = type === "GTD" ? at + random.between(1, MAX_LIFETIME_S) * 1000 : null;
    const size = drawSize();
    const account = random.below(accounts);
    const side = isUp === (outcome === "YES") ? "BUY" : "SELL";
    const limit = priceIn(outcome === "NO", price(tick * tickSize));
    return payable({ number, account, side, outcome, price: limit, size, type, expiresAt });
  };
}

/** Returns the equivalent order in the other outcome: selling NO for buying YES. */
const mirrorOf = (order: SimulatedOrder): SimulatedOrder => ({
  ...order,
  side: order.side === "BUY" ? "SELL" : "BUY",
  outcome: order.outcome === "YES" ? "NO" : "YES",
  price: complement(order.price),
});

export interface GenerateFlowOptions {
  readonly seed: string;
  /** Number of orders, up to `MAX_FLOW_ORDERS`; rows that fund and cancel are not counted. */
  readonly orders: number;
  readonly accounts: number;
  readonly profile: FlowProfile;
  /** A divisor of 10,000; default: 0.01 USDC. */
  readonly tickSize?: Price;
  /** Default: 1 share. */
  readonly minOrderSize?: Size;
}

/** Number of latest orders from which a recent one is chosen for a cancel. */
const RECENT = 6;

/**
 * Generates funding rows, then orders and cancels, lazily. No row is refused if they are played on time in a complementary
 * market without other orders, which allows self-trades and has a taker fee of at most 2 %.
 * @throws RangeError if there is no such flow.
 */
export function generateFlow(options: GenerateFlowOptions): Generator<FlowRow> {
  const subject: FlowSubject = { tickSize: price(100), minOrderSize: size(100), ...options };
  requirePossible(subject);
  return rowsOf(subject, sharesNeeded(subject));
}

function* rowsOf(subject: FlowSubject, shares: Size): Generator<FlowRow> {
  const { seed, profile, orders, accounts } = subject;
  for (let account = 0; account < accounts; account += 1) yield* fundingRows(account, shares);
  const market = new SimulatedMarket(accounts, shares, subject.tickSize);
  const draw = orderSource(subject, market);
  const cancels = seededRandom(seed, "flow/cancels");
  const arrivals = arrivalsOf(seed, profile);
  const nextMoment = (): number => {
    const at = arrivals.next().value;
    market.advanceTo(at);
    return at;
  };
  for (let number = 1; number <= orders; number += 1) {
    let at = nextMoment();
    const order = draw(number, at);
    market.place(order);
    yield placeRow(at, order);
    if (cancels.below(100) < profile.cancelPercent) {
      at = nextMoment();
      const resting = recentOrder(cancels, market, number);
      if (resting !== undefined) yield cancelRow(at, market, resting);
    }
    while (market.resting.length > profile.maxResting) {
      at = nextMoment();
      const { resting } = market;
      if (resting.length > profile.maxResting) yield cancelRow(at, market, cancels.pick(resting));
    }
  }
}

function recentOrder(random: Random, market: SimulatedMarket, latest: number): RestingOrder | undefined {
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

function placeRow(at: number, order: SimulatedOrder): FlowRow {
  const { side, outcome, price, size, type, expiresAt } = order;
  const [account, ref] = [nameOf(order.account), refOf(order.number)];
  const expiresIn = expiresAt === null ? null : expiresAt - at;
  return { op: "place", at, account, market: null, ref, side, outcome, price, size, type, expiresIn };
}

function cancelRow(at: number, market: SimulatedMarket, resting: RestingOrder): FlowRow {
  const { account, number } = resting.order;
  market.cancel(resting);
  return { op: "cancel", at, account: nameOf(account), market: null, ref: refOf(number) };
}

const nameOf = (account: number): string => `trader-${account + 1}`;
const refOf = (order: number): string => `o${order}`;

const MAXIMA = {
  orders: MAX_FLOW_ORDERS,
  accounts: MAX_ACCOUNTS,
  tickSize: FULL_PRICE / 2,
  minOrderSize: MAX_SIZE - MAX_ADDED,
};

function requirePossible(subject: FlowSubject): void {
  for (const [name, max] of Object.entries(MAXIMA)) {
    const value = subject[name as keyof typeof MAXIMA];
    if (!Number.isInteger(value) || value < 1 || value > max)
      throw new RangeError(`${name} expects a whole number from 1 to ${max}, found ${value}`);
  }
  if (FULL_PRICE % subject.tickSize !== 0)
    throw new RangeError(`tickSize expects a divisor of 10000, found ${subject.tickSize}`);
}
