import type { DomainEvent } from "../../core/events.ts";
import { type Market, marketOfToken } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import type { ObservedSession } from "./observed-session.ts";
import { positionIn } from "./position-change.ts";
import { scalar } from "./yaml-text.ts";

/** A market that a session has to do with. */
export interface TouchedMarket {
  readonly number: number;
  /** What the scenario calls it. */
  readonly name: string;
  /** As it was when the session began; null when the session created it. */
  readonly before: Market | null;
  readonly after: Market;
}

/**
 * The markets that a session touched, by number: where something was placed, ended, issued, created, closed,
 * resolved, split, merged or redeemed, and where those who acted had orders open already; `others` are touched, too.
 */
export function touchedMarkets(
  session: ObservedSession,
  actors: readonly number[],
  others: readonly number[] = [],
): TouchedMarket[] {
  const { opening, acts, end } = session;
  const touched = new Set(others);
  for (const { events } of acts) {
    for (const event of events) {
      const market = marketIn(end, event);
      if (market !== null) touched.add(market);
    }
  }
  for (const account of actors) {
    for (let next = opening.accounts.find(account)?.firstOpen ?? 0; next !== 0; ) {
      const order = opening.orders.get(next);
      touched.add(marketOfToken(order.token));
      next = order.nextOpen;
    }
  }
  const names = new Set<string>();
  return [...touched]
    .sort((a, b) => a - b)
    .map((number) => {
      const after = end.markets.get(number);
      const name = freeName(after.slug, names);
      names.add(name);
      return { number, name, before: opening.markets.find(number) ?? null, after };
    });
}

function marketIn(state: State, event: DomainEvent): number | null {
  switch (event.kind) {
    case "orderPlaced":
      return marketOfToken(event.token);
    case "orderCanceled":
    case "orderExpired":
      return marketOfToken(state.orders.get(event.order).token);
    case "marketCreated":
    case "marketClosed":
    case "marketResolved":
    case "setsIssued":
    case "grantMinted":
      return event.market;
    case "transactionSent":
      return positionIn(state, event.content)?.market ?? null;
    default:
      return null;
  }
}

const LONGEST_NAME = 64;

/** A slug as a name that a scenario can give a market, and that no market before has. */
export function freeName(slug: string, taken: ReadonlySet<string>): string {
  const words =
    slug
      .toLowerCase()
      .match(/[a-z\d]+/g)
      ?.join("-") ?? "market";
  // What YAML would take for a number or for nothing is no name.
  const named = scalar(words) === words ? words : `market-${words}`;
  for (let next = 1; ; next += 1) {
    const ending = next === 1 ? "" : `-${next}`;
    const name = shortened(named, LONGEST_NAME - ending.length) + ending;
    if (!taken.has(name)) return name;
  }
}

/** The first words of a slug that are not too long together; of a single long word, its beginning. */
function shortened(slug: string, most: number): string {
  if (slug.length <= most) return slug;
  const end = slug.lastIndexOf("-", most);
  return slug.slice(0, end > 0 ? end : most);
}
