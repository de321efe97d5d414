import type { EventRecord, Market } from "../core/market.ts";
import type { State } from "../core/state.ts";

export type MarketSort = "volume" | "liquidity" | "createdAt" | "endDate";

const LAST = Number.POSITIVE_INFINITY;

/** Smallest key first; ties go by id, whose counter is the number. */
const KEYS: Readonly<Record<MarketSort, (market: Market) => number>> = {
  volume: (market) => -market.volume,
  liquidity: (market) => -market.liquidity,
  createdAt: (market) => -market.createdAt,
  endDate: (market) => market.endDate ?? LAST,
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
      const key = KEYS[sort];
      entry.markets.sort((a, b) => compare(key(a), key(b)) || a.number - b.number);
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
