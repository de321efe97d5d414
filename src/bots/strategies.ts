import { ASK, BID, type BookDirection } from "../core/book/book.ts";
import type { Command } from "../core/commands.ts";
import { unreachable } from "../core/terms.ts";
import { FULL_PRICE, millis } from "../core/units.ts";
import type { BookView, OwnOrder } from "./bot.ts";
import { STREAM } from "./fair-value.ts";
import type { BotProfile, InformedTerms, MakerTerms, MomentumTerms, NoiseTerms } from "./profiles.ts";

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

const other = (direction: BookDirection): BookDirection => (direction === BID ? ASK : BID);

/** Yields the commands of a bot for one book in one turn. */
export function* act(view: BookView, terms: BotProfile): Generator<Command> {
  const { market, at, bot } = view.turn;
  if (market.endDate !== null && at >= market.endDate - LAST_MS) {
    for (const own of view.ownOrders) yield view.cancel(own);
    return;
  }
  switch (bot.kind) {
    case "maker":
      return yield* makeMarket(view, terms.maker);
    case "noise":
      return yield* tradeAtRandom(view, terms.noise);
    case "momentum":
      return yield* followTrend(view, terms.momentum);
    case "informed":
      return yield* takeMispriced(view, terms.informed);
    default:
      throw unreachable(bot.kind);
  }
}

/** Maintains quotes on both sides around the reservation price: cancels outdated ones and places missing ones. */
function* makeMarket(view: BookView, terms: MakerTerms): Generator<Command> {
  const { draws, at } = view.turn;
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
          size: terms.size * (0.6 + 0.8 * draws.uniform()) * (level + 1),
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
function* tradeAtRandom(view: BookView, terms: NoiseTerms): Generator<Command> {
  const { at, bot, market, chance, draws } = view.turn;
  for (const own of view.ownOrders) {
    if (own.order.createdAt <= at - terms.patienceMs) yield view.cancel(own);
  }
  const index = Math.floor(at / INTERVAL_MS + bot.number / INTERVAL_OFFSETS);
  const interval = chance.of(STREAM.interval, bot.number, market.number, index);
  if (!interval.chance(terms.active)) return;
  const mainSide = interval.chance(0.5) ? BID : ASK;
  const direction = draws.chance(terms.oneSided) ? mainSide : other(mainSide);
  const size = terms.size * draws.pareto(MAX_MULTIPLE);
  if (draws.chance(terms.marketable)) {
    yield* cross(view, direction, size);
    return;
  }
  const away = direction === BID ? -1 : 1;
  const best = view.sameSide(direction) ?? view.fairAt(at) + away * SLIPPAGE;
  const step = Math.max(view.tick, TOLERANCE);
  const price = best + away * (Math.floor(draws.pareto(MAX_MULTIPLE)) - 2) * step;
  const facing = view.opposite(direction);
  const isCrossing = facing !== null && (facing - price) * -away <= 0;
  yield* view.place(direction, isCrossing ? facing + away * view.tick : price, size, "GTC");
}

/** Buys after a rise, sells after a fall; otherwise reduces the position step by step. */
function* followTrend(view: BookView, { windowMs, threshold, size }: MomentumTerms): Generator<Command> {
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
function* takeMispriced(view: BookView, { edge, size }: InformedTerms): Generator<Command> {
  const { at, market } = view.turn;
  const fair = view.fairAt(at);
  const margin = edge + (Math.min(fair, FULL_PRICE - fair) * market.feeRateBps) / 10_000;
  const ask = view.opposite(BID);
  const bid = view.opposite(ASK);
  if (ask !== null && ask <= fair - margin) yield* view.place(BID, fair - margin, size, "FAK");
  else if (bid !== null && bid >= fair + margin) yield* view.place(ASK, fair + margin, size, "FAK");
}

/** Takes orders at the best price and up to the slippage beyond. */
function* cross(view: BookView, direction: BookDirection, size: number): Generator<Command> {
  const facing = view.opposite(direction);
  if (facing === null) return;
  const slippage = Math.max(view.tick, SLIPPAGE);
  yield* view.place(direction, facing + (direction === BID ? slippage : -slippage), size, "FAK");
}
