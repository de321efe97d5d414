import { marketOfTokenId } from "../../api/refusals.ts";
import { fillsOf } from "../../api/replies/order-reply.ts";
import type { View } from "../../api/replies/view.ts";
import { type Account, fillOf, tradeOfFill } from "../../core/account.ts";
import { outcomeOf } from "../../core/market.ts";
import type { Numbered } from "../../core/numbered.ts";
import { findMarket, outcomeIn, ownOrder } from "./lookup.ts";

/** Fills in order of time, reached by their place, counted from 1. */
export interface Fills {
  readonly size: number;
  get(place: number): number;
}

export interface FillFilter {
  readonly token_id: string | undefined;
  readonly market: string | undefined;
  readonly order: string | undefined;
  /** Unix seconds: the range is `after <= second < before`. */
  readonly after: number | undefined;
  readonly before: number | undefined;
}

/** The account's fills that a filter lets through, found by index and bisection; only a market's two tokens are merged. */
export function fillsMatching(view: View, account: Account, filter: FillFilter): Fills {
  const fills = withinScope(view, account, filter);
  const secondOf = (place: number): number =>
    Math.floor(view.state.trades.get(tradeOfFill(fills.get(place))).at / 1000);
  const { before, after } = filter;
  const end = before === undefined ? fills.size : placesUpTo(fills.size, (place) => secondOf(place) < before);
  const start = after === undefined ? 0 : placesUpTo(fills.size, (place) => secondOf(place) < after);
  return { size: Math.max(0, end - start), get: (place) => fills.get(start + place) };
}

/** How many places from the first on satisfy a condition that holds up to some place and not after. */
function placesUpTo(size: number, holds: (place: number) => boolean): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function withinScope(view: View, account: Account, filter: FillFilter): Fills {
  const market = filter.market === undefined ? undefined : findMarket(view, filter.market);
  const token = filter.token_id === undefined ? undefined : marketOfTokenId(view, filter.token_id);
  if (market !== undefined && filter.token_id !== undefined) outcomeIn(view, market, filter.token_id);
  if (filter.order !== undefined) {
    const order = ownOrder(view, account, filter.order);
    const isElsewhere =
      (token !== undefined && order.token !== token.token) ||
      (market !== undefined && order.token >> 1 !== market.number);
    return listed(
      isElsewhere ? [] : fillsOf(view, order).map(({ trade, role }) => fillOf(trade.number, role)),
    );
  }
  const holding = account.holdings.get((token?.market ?? market)?.number ?? 0);
  if (token !== undefined) {
    return (outcomeOf(token.token) === "YES" ? holding?.yesFills : holding?.noFills) ?? NONE;
  }
  if (market === undefined) return account.fills;
  return holding === undefined ? NONE : merged(holding.yesFills, holding.noFills);
}

const NONE: Fills = { size: 0, get: () => 0 };

const listed = (fills: readonly number[]): Fills => ({
  size: fills.length,
  get: (place) => fills[place - 1] as number,
});

/** Two lists of fills as one: a fill's number grows with time. */
function merged(a: Numbered<number> | null, b: Numbered<number> | null): Fills {
  if (a === null || b === null) return a ?? b ?? NONE;
  return listed([...a, ...b].sort((x, y) => x - y));
}
