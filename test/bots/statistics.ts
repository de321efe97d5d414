import type { State } from "../../src/core/state.ts";
import { millis } from "../../src/core/units.ts";
import type { Exchange } from "../../src/engine/exchange.ts";

const HOUR_MS = 3_600_000;
/** Interval between samples of the books, ms. */
const SAMPLE_MS = 300_000;

/** Statistics over a period, averages over the markets. */
export interface Statistics {
  /** Difference of the best prices, USDC. */
  readonly spread: number;
  /** Shares at the two best prices, and within 0.05 USDC of the mid price. */
  readonly touchDepth: number;
  readonly depth: number;
  /** Fraction of samples with both sides, 0 to 1. */
  readonly twoSided: number;
  readonly tradesAnHour: number;
  /** Orders and cancels of bots, per market. */
  readonly commandsAnHour: number;
  /** Shares of a taker order. */
  readonly tradeSize: number;
  /** Correlation of the direction of a taker order with that of the next. */
  readonly signs: number;
  /** Of changes of the mid price in five minutes: standard deviation in USDC, and kurtosis (normal distribution: 3). */
  readonly volatility: number;
  readonly kurtosis: number;
}

const mean = (figures: readonly number[]): number =>
  figures.reduce((sum, figure) => sum + figure, 0) / figures.length;

function correlation(figures: readonly number[]): number {
  const mid = mean(figures);
  const deviations = figures.map((figure) => figure - mid);
  const products = deviations.slice(1).map((figure, index) => figure * (deviations[index] as number));
  return mean(products) / mean(deviations.map((figure) => figure ** 2));
}

interface Samples {
  readonly spreads: number[];
  readonly touch: number[];
  readonly depth: number[];
  readonly mids: number[];
  count: number;
}

/** Advances time and samples every open market. */
export function measure(exchange: Exchange, hours: number): Statistics {
  const { state } = exchange;
  const markets = [...state.markets].filter(({ status }) => status === "ACTIVE");
  const before = { trades: state.trades.size, sequence: exchange.sequence };
  const books = new Map(
    markets.map(({ number }): [number, Samples] => [
      number,
      { spreads: [], touch: [], depth: [], mids: [], count: 0 },
    ]),
  );
  const end = exchange.now + hours * HOUR_MS;
  while (exchange.now < end) {
    exchange.advanceTo(millis(Math.min(end, exchange.now + SAMPLE_MS)));
    for (const [number, samples] of books) sample(exchange.state, number, samples);
  }
  const all = [...books.values()];
  const signs = signsAfter(state, before.trades);
  const changes = all.map(({ mids }) => mids.slice(1).map((mid, index) => mid - (mids[index] as number)));
  const count = [...signs.values()].reduce((sum, { length }) => sum + length, 0);
  let shares = 0;
  for (let number = before.trades + 1; number < state.trades.next; number += 1)
    shares += state.trades.get(number).size / 100;
  return {
    spread: mean(all.flatMap(({ spreads }) => spreads)),
    touchDepth: mean(all.flatMap(({ touch }) => touch)),
    depth: mean(all.flatMap(({ depth }) => depth)),
    twoSided: mean(all.map(({ spreads, count }) => spreads.length / count)),
    tradesAnHour: count / markets.length / hours,
    commandsAnHour: (exchange.sequence - before.sequence) / markets.length / hours,
    tradeSize: shares / count,
    signs: mean([...signs.values()].filter(({ length }) => length > 20).map(correlation)),
    volatility: Math.sqrt(mean(changes.flat().map((change) => change ** 2))),
    kurtosis: mean(changes.map(kurtosis).filter((figure) => !Number.isNaN(figure))),
  };
}

function kurtosis(figures: readonly number[]): number {
  const mid = mean(figures);
  const square = mean(figures.map((figure) => (figure - mid) ** 2));
  return mean(figures.map((figure) => (figure - mid) ** 4)) / square ** 2;
}

function sample(state: State, number: number, samples: Samples): void {
  const market = state.markets.get(number);
  const { book } = market.books[0];
  samples.count += 1;
  if (book === null || book.bestBid < 1 || book.bestAsk > book.levels) return;
  const tick = market.tickSize / 10_000;
  const [bid, ask] = [book.bestBid * tick, book.bestAsk * tick];
  const mid = (bid + ask) / 2;
  samples.spreads.push(ask - bid);
  samples.mids.push(mid);
  samples.touch.push((book.totalAt(0, book.bestBid) + book.totalAt(1, book.bestAsk)) / 100);
  let near = 0;
  for (const direction of [0, 1] as const) {
    book.depth(direction, (level, total) => {
      if (Math.abs(level * tick - mid) <= 0.05) near += total / 100;
    });
  }
  samples.depth.push(near);
}

/** By market: 1 for each taker order after a trade that buys YES or sells NO, -1 for the others. */
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
