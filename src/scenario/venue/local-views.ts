import { ASK, BID, type BookDirection } from "../../core/book/book.ts";
import { bookFor, isMirrored, type Market, priceIn } from "../../core/market.ts";
import type { Outcome } from "../../core/terms.ts";
import { price, size } from "../../core/units.ts";
import type { BookView, Level } from "./views.ts";

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
