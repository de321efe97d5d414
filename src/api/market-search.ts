import MiniSearch from "minisearch";
import type { EventRecord, Market } from "../core/market.ts";
import type { State } from "../core/state.ts";
import type { Table } from "../core/table.ts";
import { compareSums } from "../core/units.ts";

type MarketSort = "volume" | "liquidity" | "createdAt" | "endDate";

const LAST = Number.POSITIVE_INFINITY;

/** Comparator of each sort; ties are broken by id, whose counter is the number. */
const ORDERS: Readonly<Record<MarketSort, (a: Market, b: Market) => number>> = {
  volume: (a, b) => compareSums(b.volume, a.volume),
  liquidity: (a, b) => compareSums(b.liquidity, a.liquidity),
  createdAt: (a, b) => b.createdAt - a.createdAt,
  endDate: (a, b) => compare(a.endDate ?? LAST, b.endDate ?? LAST),
};

/** Caches the markets of one exchange in the order of each sort until the state changes. */
export class MarketRanking {
  #state: State | null = null;
  readonly #ranked = new Map<MarketSort, { sequence: number; markets: Readonly<Market>[] }>();

  /** Returns all markets in the order of a sort; a new `sequence` means that the state has changed. */
  ranked(state: State, sequence: number, sort: MarketSort): readonly Readonly<Market>[] {
    if (this.#state !== state) this.#ranked.clear();
    this.#state = state;
    const entry = this.#ranked.get(sort);
    if (entry?.sequence === sequence) return entry.markets;
    const { markets } = state;
    const known = entry?.markets.length === markets.size ? entry.markets : null;
    const order = ORDERS[sort];
    const ranked = Array.from({ length: markets.size }, (_, index) =>
      markets.peek(known?.[index]?.number ?? index + 1),
    );
    ranked.sort((a, b) => order(a, b) || a.number - b.number);
    this.#ranked.set(sort, { sequence, markets: ranked });
    return ranked;
  }
}

const compare = <T extends number | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

export const rankedEvents = (state: State): EventRecord[] =>
  [...state.events].sort((a, b) => b.createdAt - a.createdAt || a.number - b.number);

export const carries = (
  { category, tags }: { readonly category: string; readonly tags: readonly string[] },
  tag: string,
): boolean => category === tag || tags.includes(tag);

interface Found {
  readonly type: "event" | "market";
  readonly number: number;
}

type Texts = ReturnType<typeof textsOf>;

/** Returns the searched texts of an event or a market, which never change. */
const textsOf = (item: Readonly<EventRecord> | Readonly<Market>) => ({
  title: "question" in item ? item.question : item.title,
  text: [item.description, item.category, ...item.tags].join(" "),
});

/** Letters that decomposition leaves whole, as a person would type them. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ı: "i",
  ð: "d",
  þ: "th",
};

/** Removes case and accents from a word, independent of the locale. */
export const folded = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[ßæœøłđıðþ]/g, (letter) => FOLDED[letter] ?? letter);

const wordsOf = (text: string): string[] => folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];

type Items = Pick<Table<EventRecord> | Table<Market>, "size" | "peek">;

/** Full-text search over the events and markets of one exchange; each search first indexes new ones. */
export class SearchIndex {
  #state: State | null = null;
  #index = emptyIndex();
  /** What is indexed, by number. */
  #events: Texts[] = [];
  #markets: Texts[] = [];

  /** Returns the matches of all words of the query (prefixes count): best first, then events before markets, oldest first. */
  search(state: State, query: string): Found[] {
    this.#update(state);
    const words = wordsOf(query);
    if (words.length === 0) return [];
    const results = this.#index.search(words.join(" "), {
      combineWith: "AND",
      prefix: true,
      boost: { title: 3 },
    });
    return results
      .sort((a, b) => b.score - a.score || compare(a.type, b.type) || a.number - b.number)
      .map(({ type, number }) => ({ type, number }));
  }

  #update(state: State): void {
    const { events, markets } = state;
    // A snapshot replaces the state by an equal copy; a restored one may have other events and markets.
    const isOther = this.#state !== state && !(isIn(events, this.#events) && isIn(markets, this.#markets));
    if (isOther) [this.#index, this.#events, this.#markets] = [emptyIndex(), [], []];
    this.#state = state;
    this.#addNew("event", events, this.#events);
    this.#addNew("market", markets, this.#markets);
  }

  #addNew(type: Found["type"], items: Items, indexed: Texts[]): void {
    while (indexed.length < items.size) {
      const texts = textsOf(items.peek(indexed.length + 1));
      const number = indexed.push(texts);
      this.#index.add({ id: `${type} ${number}`, type, number, ...texts });
    }
  }
}

/** Whether the first items have these texts. */
const isIn = (items: Items, indexed: readonly Texts[]): boolean =>
  indexed.length <= items.size &&
  indexed.every(({ title, text }, index) => {
    const found = textsOf(items.peek(index + 1));
    return found.title === title && found.text === text;
  });

const emptyIndex = () =>
  new MiniSearch({
    fields: ["title", "text"],
    storeFields: ["type", "number"],
    tokenize: wordsOf,
    processTerm: (term) => term,
  });
