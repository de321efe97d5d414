import { createHash } from "node:crypto";
import { ASK, BID, type BookDirection } from "../../core/book/book.ts";
import { bookFor, isMirrored, type Market, type MarketBook, tokenIdIn } from "../../core/market.ts";
import type { Outcome } from "../../core/terms.ts";
import { toIso } from "../../core/time.ts";
import { type Price, price, type Size, size } from "../../core/units.ts";
import { lastTradeOf, priceFor, priceOrNull } from "./quotes.ts";
import { marketIdOf, type View } from "./view.ts";

/** The JSON of each book, made once per change of the book and token. */
export class BookPages {
  readonly #pages = new WeakMap<MarketBook, Record<Outcome, { sequence: number; json: string } | null>>();

  /** The body of GET /clob/book for one token, as text. */
  json(view: View, market: Market, outcome: Outcome): string {
    const lane = bookFor(market, outcome);
    let pages = this.#pages.get(lane);
    if (pages === undefined) {
      pages = { YES: null, NO: null };
      this.#pages.set(lane, pages);
    }
    let page = pages[outcome];
    if (page === null || page.sequence !== lane.sequence) {
      page = { sequence: lane.sequence, json: JSON.stringify(bookReply(view, market, outcome)) };
      pages[outcome] = page;
    }
    return page.json;
  }
}

/** The aggregated bids and asks of a token, best first (contract, section 4). */
export function bookReply(view: View, market: Market, outcome: Outcome): object {
  const { numbers } = view;
  const lane = bookFor(market, outcome);
  const mirrored = isMirrored(market, outcome);
  const bids = levelsOf(market, outcome, lane, mirrored ? ASK : BID);
  const asks = levelsOf(market, outcome, lane, mirrored ? BID : ASK);
  const shown = ([of, open, orders]: Level): object => ({
    price: numbers.price(of),
    size: numbers.size(open),
    orders,
  });
  return {
    tokenId: tokenIdIn(market, outcome),
    marketId: marketIdOf(view, market),
    outcome,
    bids: bids.map(shown),
    asks: asks.map(shown),
    tickSize: numbers.price(market.tickSize),
    lastTradePrice: priceOrNull(numbers, lastTradeOf(market, outcome)?.price ?? null),
    sequence: lane.sequence,
    hash: createHash("sha256")
      .update(JSON.stringify([bids, asks]))
      .digest("hex"),
    updatedAt: toIso(lane.updatedAt),
  };
}

/** A price level in the core's units, which is what the hash of a book covers. */
type Level = readonly [price: Price, open: Size, orders: number];

function levelsOf(market: Market, outcome: Outcome, lane: MarketBook, direction: BookDirection): Level[] {
  const levels: Level[] = [];
  lane.book?.depth(direction, (tick, open, orders) => {
    levels.push([priceFor(market, outcome, price(tick * market.tickSize)), size(open), orders]);
  });
  return levels;
}
