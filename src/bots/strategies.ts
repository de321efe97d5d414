import { ASK, BID, type BookDirection } from "../core/book/book.ts";
import type { Command } from "../core/commands.ts";
import { FULL_PRICE, millis } from "../core/units.ts";
import { unreachable } from "../core/unreachable.ts";
import { STREAM } from "./chance.ts";
import type { Desk, OwnOrder } from "./desk.ts";
import type { InformedTerms, MakerTerms, MomentumTerms, NoiseTerms, Profile } from "./profiles.ts";

/** Nobody trades in the last hour before a market's end date, and orders are withdrawn by then. */
const LAST_MS = 3_600_000;
/** How long a noise trader works on one large order, ms. */
const STRETCH_MS = 1_800_000;
/** So many begin at different moments. */
const STAGGERED = 16;
/** How far beyond the best price a taker goes; never less than a tick. 0.0001 USDC. */
const SLIPPAGE = 100;
/** What a quote may be away from where it would be placed now, about; never less than a tick. 0.0001 USDC. */
const TOLERANCE = 50;
/** Largest order in sizes of the smallest. */
const LARGEST = 20;
/** Where momentum traders stop, in 100 shares. */
const MAX_INVENTORY = 10;

const other = (direction: BookDirection): BookDirection => (direction === BID ? ASK : BID);

/** What a bot of a kind does at one look at one book. */
export function* act(desk: Desk, terms: Profile): Generator<Command> {
  const { market, at, bot } = desk.look;
  if (market.endDate !== null && at >= market.endDate - LAST_MS) {
    for (const own of desk.ownOrders) yield desk.cancel(own);
    return;
  }
  switch (bot.kind) {
    case "maker":
      return yield* makeMarket(desk, terms.maker);
    case "noise":
      return yield* tradeAtRandom(desk, terms.noise);
    case "momentum":
      return yield* followTrend(desk, terms.momentum);
    case "informed":
      return yield* takeMispriced(desk, terms.informed);
    default:
      throw unreachable(bot.kind);
  }
}

/** Keeps quotes on both sides around the reservation price: cancels those that are off, and fills the gaps. */
function* makeMarket(desk: Desk, terms: MakerTerms): Generator<Command> {
  const { draws, at } = desk.look;
  const fair = desk.fairAt(at - terms.lagMs);
  const slope = (4 * fair * (FULL_PRICE - fair)) / FULL_PRICE ** 2;
  const risk = terms.risk * slope;
  const reservation = fair - desk.inventory * risk;
  const half = risk / 2 + terms.premium * slope;
  const open = desk.ownOrders;
  const missing: { readonly direction: BookDirection; readonly price: number; readonly size: number }[] = [];
  const gap = Math.max(terms.gap, desk.tick);
  for (const direction of [BID, ASK] as const) {
    const away = direction === BID ? -1 : 1;
    for (let level = 0; level < terms.levels; level += 1) {
      const wanted = desk.within(reservation + away * (half + level * gap), direction);
      const index = open.findIndex((own) => own.direction === direction && isNear(own, wanted, desk));
      if (index >= 0) open.splice(index, 1);
      else
        missing.push({
          direction,
          price: wanted,
          size: terms.size * (0.6 + 0.8 * draws.uniform()) * (level + 1),
        });
    }
  }
  for (const own of open) yield desk.cancel(own);
  for (const { direction, price, size } of missing) yield* desk.place(direction, price, size, "GTC");
}

/** Whether a quote stands about where it would be placed now. */
function isNear({ direction, price }: OwnOrder, wanted: number, { tick }: Desk): boolean {
  const worse = direction === BID ? wanted - price : price - wanted;
  const width = Math.max(tick, TOLERANCE);
  return worse >= -width / 2 && worse <= width * 1.5;
}

/** Takes, rests or withdraws by chance. */
function* tradeAtRandom(desk: Desk, terms: NoiseTerms): Generator<Command> {
  const { at, bot, market, chance, draws } = desk.look;
  for (const own of desk.ownOrders) {
    if (own.order.createdAt <= at - terms.patienceMs) yield desk.cancel(own);
  }
  const since = Math.floor(at / STRETCH_MS + bot.number / STAGGERED);
  const stretch = chance.of(STREAM.stretch, bot.number, market.number, since);
  if (!stretch.chance(terms.active)) return;
  const usual = stretch.chance(0.5) ? BID : ASK;
  const direction = draws.chance(terms.oneSided) ? usual : other(usual);
  const size = terms.size * draws.pareto(LARGEST);
  if (draws.chance(terms.marketable)) {
    yield* cross(desk, direction, size);
    return;
  }
  const away = direction === BID ? -1 : 1;
  const best = desk.beside(direction) ?? desk.fairAt(at) + away * SLIPPAGE;
  const step = Math.max(desk.tick, TOLERANCE);
  const price = best + away * (Math.floor(draws.pareto(LARGEST)) - 2) * step;
  const facing = desk.opposite(direction);
  const isCrossing = facing !== null && (facing - price) * -away <= 0;
  yield* desk.place(direction, isCrossing ? facing + away * desk.tick : price, size, "GTC");
}

/** Buys what has risen, sells what has fallen; else goes back to nothing, a bit at a time. */
function* followTrend(desk: Desk, { windowMs, threshold, size }: MomentumTerms): Generator<Command> {
  const { at } = desk.look;
  const [before, last] = [desk.tradedBy(millis(at - windowMs)), desk.tradedBy(at)];
  const change = before === null || last === null ? 0 : last - before;
  const { inventory } = desk;
  if (Math.abs(change) >= Math.max(threshold, desk.tick)) {
    const direction = change > 0 ? BID : ASK;
    const held = direction === BID ? inventory : -inventory;
    if (held < MAX_INVENTORY) yield* cross(desk, direction, size);
  } else if (inventory !== 0) {
    const held = Math.abs(inventory) * 10_000;
    if (held >= desk.lots(0)) yield* cross(desk, inventory > 0 ? ASK : BID, Math.min(size, held));
  }
}

/** Takes what is priced wrong by more than its edge and the fee. */
function* takeMispriced(desk: Desk, { edge, size }: InformedTerms): Generator<Command> {
  const { at, market } = desk.look;
  const fair = desk.fairAt(at);
  const margin = edge + (Math.min(fair, FULL_PRICE - fair) * market.feeRateBps) / 10_000;
  const ask = desk.opposite(BID);
  const bid = desk.opposite(ASK);
  if (ask !== null && ask <= fair - margin) yield* desk.take(BID, fair - margin, size);
  else if (bid !== null && bid >= fair + margin) yield* desk.take(ASK, fair + margin, size);
}

/** Takes the best price and a bit beyond. */
function* cross(desk: Desk, direction: BookDirection, size: number): Generator<Command> {
  const facing = desk.opposite(direction);
  if (facing === null) return;
  const slippage = Math.max(desk.tick, SLIPPAGE);
  yield* desk.take(direction, facing + (direction === BID ? slippage : -slippage), size);
}
