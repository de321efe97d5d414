import { type Stream, stream } from "../../core/random.ts";
import { FULL_PRICE, MAX_SIZE, notional, type Price, price, type Size, size } from "../../core/units.ts";
import { sharesNeeded } from "./flow-funding.ts";
import { MOST_ACCOUNTS, MOST_ORDERS } from "./flow-limits.ts";
import type { CancelRow, FlowRow, PlaceRow } from "./flow-row.ts";
import { type DrawSubject, MOST_ADDED, OrderDraw } from "./order-draw.ts";
import { Pace } from "./pace.ts";
import type { Profile } from "./profiles.ts";
import { Rehearsal, type RehearsedOrder, type RestingOrder } from "./rehearsal.ts";

export interface GenerateFlowOptions {
  /** Decides every row. */
  readonly seed: string;
  /** How many orders are placed, up to `MOST_ORDERS`; rows that fund and cancel come on top. */
  readonly orders: number;
  /** How many accounts there are, `trader-1` and so on, up to `MOST_ACCOUNTS`. */
  readonly accounts: number;
  readonly profile: Profile;
  /** Else a tick of 0.01 and orders from 1 share; `tickSize` is a divisor of 10,000. */
  readonly market?: { readonly tickSize: Price; readonly minOrderSize: Size };
}

/** Of so many orders that came last, one is chosen to be canceled soon. */
const RECENT = 6;

/**
 * The rows of an order flow, made as they are asked for: first what funds the accounts, then orders and cancels. Played in
 * order and in time in a complementary market without other orders, where nobody is kept from trading with himself and
 * the taker fee is at most 2 %, no row is refused.
 * @throws RangeError when there is no such flow.
 */
export function generateFlow(options: GenerateFlowOptions): Generator<FlowRow> {
  const { tickSize = price(100), minOrderSize = size(100) } = options.market ?? {};
  const subject: DrawSubject = { ...options, tickSize, minOrderSize };
  refuseImpossible(subject);
  return rowsOf(subject, sharesNeeded(subject));
}

function* rowsOf(subject: DrawSubject, shares: Size): Generator<FlowRow> {
  const { seed, profile, orders, accounts } = subject;
  for (let account = 0; account < accounts; account += 1) yield* fundingRows(account, shares);
  const rehearsal = new Rehearsal(accounts, shares, subject.tickSize);
  const draw = new OrderDraw(subject, rehearsal);
  const cancels = stream(seed, "flow/cancels");
  const pace = new Pace(seed, profile);
  for (let number = 1; number <= orders; number += 1) {
    let at = nextMoment(pace, rehearsal);
    const order = draw.next(number, at);
    rehearsal.place(order);
    yield placeRow(at, order);
    if (cancels.below(100) < profile.canceledSoon) {
      at = nextMoment(pace, rehearsal);
      const resting = recentOrder(cancels, rehearsal, number);
      if (resting !== undefined) yield cancelRow(at, rehearsal, resting);
    }
    while (rehearsal.resting.length > profile.resting) {
      at = nextMoment(pace, rehearsal);
      const { resting } = rehearsal;
      if (resting.length > profile.resting) yield cancelRow(at, rehearsal, cancels.pick(resting));
    }
  }
}

/** Lets time pass until the next row comes. */
function nextMoment(pace: Pace, rehearsal: Rehearsal): number {
  const at = pace.next();
  rehearsal.advanceTo(at);
  return at;
}

/** One of the latest orders that still rests, if there is any. */
function recentOrder(random: Stream, rehearsal: Rehearsal, latest: number): RestingOrder | undefined {
  const first = random.below(RECENT);
  for (let tried = 0; tried < RECENT; tried += 1) {
    const resting = rehearsal.find(latest - ((first + tried) % RECENT));
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

function placeRow(at: number, order: RehearsedOrder): PlaceRow {
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

function cancelRow(at: number, rehearsal: Rehearsal, resting: RestingOrder): CancelRow {
  const { account, number } = resting.order;
  rehearsal.cancel(resting);
  return { op: "cancel", at, account: nameOf(account), market: null, ref: refOf(number) };
}

const nameOf = (account: number): string => `trader-${account + 1}`;
const refOf = (order: number): string => `o${order}`;

function refuseImpossible({ orders, accounts, tickSize, minOrderSize }: DrawSubject): void {
  expectWhole("orders", orders, 1, MOST_ORDERS);
  expectWhole("accounts", accounts, 1, MOST_ACCOUNTS);
  expectWhole("tickSize", tickSize, 1, FULL_PRICE / 2);
  expectWhole("minOrderSize", minOrderSize, 1, MAX_SIZE - MOST_ADDED);
  if (FULL_PRICE % tickSize !== 0)
    throw new RangeError(`tickSize expects a divisor of 10000, found ${tickSize}`);
}

function expectWhole(what: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new RangeError(`${what} expects a whole number from ${least} to ${most}, found ${value}`);
}
