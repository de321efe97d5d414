import type { State } from "../../src/core/state.ts";
import { millis } from "../../src/core/units.ts";
import type { Exchange } from "../../src/engine/exchange.ts";

const HOUR_MS = 3_600_000;
/** How often books are looked at, ms. */
const SAMPLE_MS = 300_000;

/** What a market looked like over a time, on average over its markets. */
export interface Statistics {
  /** Between the best prices, USDC. */
  readonly spread: number;
  /** Shares at both best prices together, and within 0.05 USDC of the middle. */
  readonly touchDepth: number;
  readonly depth: number;
  /** How many samples of books had both sides, 0 to 1. */
  readonly twoSided: number;
  readonly tradesAnHour: number;
  /** Orders and cancels of bots, per market. */
  readonly commandsAnHour: number;
  /** Shares of one trade. */
  readonly tradeSize: number;
  /** Correlation of the direction of a trade's taker with that of the next. */
  readonly signs: number;
  /** Of changes of the middle in five minutes: standard deviation in USDC, and kurtosis, 3 of a normal distribution. */
  readonly volatility: number;
  readonly kurtosis: number;
}

const mean = (figures: readonly number[]): number =>
  figures.reduce((sum, figure) => sum + figure, 0) / figures.length;

function correlation(figures: readonly number[]): number {
  const middle = mean(figures);
  const away = figures.map((figure) => figure - middle);
  const products = away.slice(1).map((figure, index) => figure * (away[index] as number));
  return mean(products) / mean(away.map((figure) => figure ** 2));
}

interface Books {
  readonly spreads: number[];
  readonly touch: number[];
  readonly depth: number[];
  readonly middles: number[];
  samples: number;
}

/** Lets time pass and looks at every open market on the way. */
export function measured(exchange: Exchange, hours: number): Statistics {
  const { state } = exchange;
  const markets = [...state.markets].filter(({ status }) => status === "ACTIVE");
  const before = { trades: state.trades.size, sequence: exchange.sequence };
  const books = new Map(
    markets.map(({ number }): [number, Books] => [
      number,
      { spreads: [], touch: [], depth: [], middles: [], samples: 0 },
    ]),
  );
  const end = exchange.now + hours * HOUR_MS;
  while (exchange.now < end) {
    exchange.advanceTo(millis(Math.min(end, exchange.now + SAMPLE_MS)));
    for (const [number, seen] of books) sample(exchange.state, number, seen);
  }
  const all = [...books.values()];
  const signs = signsAfter(state, before.trades);
  const changes = all.map(({ middles }) =>
    middles.slice(1).map((middle, index) => middle - (middles[index] as number)),
  );
  const count = [...signs.values()].reduce((sum, { length }) => sum + length, 0);
  let shares = 0;
  for (let number = before.trades + 1; number < state.trades.next; number += 1)
    shares += state.trades.get(number).size / 100;
  return {
    spread: mean(all.flatMap(({ spreads }) => spreads)),
    touchDepth: mean(all.flatMap(({ touch }) => touch)),
    depth: mean(all.flatMap(({ depth }) => depth)),
    twoSided: mean(all.map(({ spreads, samples }) => spreads.length / samples)),
    tradesAnHour: count / markets.length / hours,
    commandsAnHour: (exchange.sequence - before.sequence) / markets.length / hours,
    tradeSize: shares / count,
    signs: mean([...signs.values()].filter(({ length }) => length > 20).map(correlation)),
    volatility: Math.sqrt(mean(changes.flat().map((change) => change ** 2))),
    kurtosis: mean(changes.map(kurtosis).filter((figure) => !Number.isNaN(figure))),
  };
}

function kurtosis(figures: readonly number[]): number {
  const middle = mean(figures);
  const square = mean(figures.map((figure) => (figure - middle) ** 2));
  return mean(figures.map((figure) => (figure - middle) ** 4)) / square ** 2;
}

function sample(state: State, number: number, seen: Books): void {
  const market = state.markets.get(number);
  const { book } = market.books[0];
  seen.samples += 1;
  if (book === null || book.bestBid < 1 || book.bestAsk > book.levels) return;
  const tick = market.tickSize / 10_000;
  const [bid, ask] = [book.bestBid * tick, book.bestAsk * tick];
  const middle = (bid + ask) / 2;
  seen.spreads.push(ask - bid);
  seen.middles.push(middle);
  seen.touch.push((book.totalAt(0, book.bestBid) + book.totalAt(1, book.bestAsk)) / 100);
  let near = 0;
  for (const direction of [0, 1] as const) {
    book.depth(direction, (level, total) => {
      if (Math.abs(level * tick - middle) <= 0.05) near += total / 100;
    });
  }
  seen.depth.push(near);
}

/** By market: 1 for each taker who bought YES or sold NO since a trade, -1 for the others. One order is one sign. */
function signsAfter(state: State, trade: number): Map<number, number[]> {
  const signs = new Map<number, number[]>();
  let order = 0;
  for (let number = trade + 1; number < state.trades.next; number += 1) {
    const { taker } = state.trades.get(number);
    if (taker === order) continue;
    order = taker;
    const { token, side } = state.orders.get(taker);
    const own = signs.get(token >> 1) ?? [];
    own.push((side === "BUY") === ((token & 1) === 0) ? 1 : -1);
    signs.set(token >> 1, own);
  }
  return signs;
}
