import type { EventRecord, Market } from "../core/market.ts";
import type { State } from "../core/state.ts";
import { compareSums } from "../core/units.ts";

export type MarketSort = "volume" | "liquidity" | "createdAt" | "endDate";

const LAST = Number.POSITIVE_INFINITY;

/** Who comes first by each sort; ties go by id, whose counter is the number. */
const ORDERS: Readonly<Record<MarketSort, (a: Market, b: Market) => number>> = {
  volume: (a, b) => compareSums(b.volume, a.volume),
  liquidity: (a, b) => compareSums(b.liquidity, a.liquidity),
  createdAt: (a, b) => b.createdAt - a.createdAt,
  endDate: (a, b) => compare(a.endDate ?? LAST, b.endDate ?? LAST),
};

/** The markets of one exchange in the order of each sort, sorted anew only after something has changed. */
export class MarketRanking {
  #state: State | null = null;
  readonly #ranked = new Map<MarketSort, { sequence: number; markets: Market[] }>();

  /** All markets in the order of a sort; `sequence` tells when the state has changed. */
  ranked(state: State, sequence: number, sort: MarketSort): readonly Market[] {
    if (this.#state !== state) this.#ranked.clear();
    this.#state = state;
    let entry = this.#ranked.get(sort);
    if (entry === undefined || entry.markets.length !== state.markets.size) {
      entry = { sequence: -1, markets: [...state.markets] };
      this.#ranked.set(sort, entry);
    }
    if (entry.sequence !== sequence) {
      const order = ORDERS[sort];
      entry.markets.sort((a, b) => order(a, b) || a.number - b.number);
      entry.sequence = sequence;
    }
    return entry.markets;
  }
}

const compare = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0);

/** Events, newest first. */
export const rankedEvents = (state: State): EventRecord[] =>
  [...state.events].sort((a, b) => b.createdAt - a.createdAt || a.number - b.number);

/** Whether something carries a tag or category slug. */
export const carries = (
  { category, tags }: { readonly category: string; readonly tags: readonly string[] },
  tag: string,
): boolean => category === tag || tags.includes(tag);
