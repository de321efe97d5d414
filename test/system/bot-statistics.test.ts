import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { BOT_PROFILES, type BotProfile, type BotProfileName, PROFILES } from "../../src/bots/profiles.ts";
import { violations } from "../../src/core/invariants.ts";
import type { Market } from "../../src/core/market.ts";
import type { State } from "../../src/core/state.ts";
import { millis } from "../../src/core/units.ts";
import type { Exchange } from "../../src/engine/exchange.ts";
import { generateWorld } from "../../src/simulation/generate-world.ts";
import { HOUR_MS, openWithBots } from "../bots/open.ts";
import { table } from "../support/markdown.ts";

/** Interval between samples of the books, ms. */
const SAMPLE_MS = 300_000;

/** Statistics over a period, averages over the markets. */
interface Statistics {
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

/** A book with both sides. */
type Sample = Readonly<Record<"spread" | "touch" | "depth" | "mid", number>>;

/** Advances time and samples every open market. */
function measure(exchange: Exchange, hours: number): Statistics {
  const { state } = exchange;
  const markets = [...state.markets].filter(({ status }) => status === "ACTIVE");
  const before = { trades: state.trades.size, sequence: exchange.sequence };
  const samples: Sample[][] = markets.map(() => []);
  const end = exchange.now + hours * HOUR_MS;
  let times = 0;
  for (; exchange.now < end; times += 1) {
    exchange.advanceTo(millis(Math.min(end, exchange.now + SAMPLE_MS)));
    for (const [index, { number }] of markets.entries())
      samples[index]?.push(...sampleOf(exchange.state.markets.get(number)));
  }
  const all = samples.flat();
  const signs = signsAfter(state, before.trades);
  const changes = samples.map((own) =>
    own.slice(1).map(({ mid }, index) => mid - (own[index] as Sample).mid),
  );
  const count = [...signs.values()].reduce((sum, { length }) => sum + length, 0);
  let shares = 0;
  for (let number = before.trades + 1; number < state.trades.next; number += 1)
    shares += state.trades.get(number).size / 100;
  return {
    spread: mean(all.map(({ spread }) => spread)),
    touchDepth: mean(all.map(({ touch }) => touch)),
    depth: mean(all.map(({ depth }) => depth)),
    twoSided: mean(samples.map(({ length }) => length / times)),
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

/** Returns a sample of a market's book; nothing if one of its sides is empty. */
function sampleOf({ tickSize, books: [{ book }] }: Market): Sample[] {
  if (book === null || book.bestBid < 1 || book.bestAsk > book.levels) return [];
  const tick = tickSize / 10_000;
  const [bid, ask] = [book.bestBid * tick, book.bestAsk * tick];
  const mid = (bid + ask) / 2;
  const touch = (book.totalAt(0, book.bestBid) + book.totalAt(1, book.bestAsk)) / 100;
  let depth = 0;
  for (const direction of [0, 1] as const) {
    book.depth(direction, (level, total) => {
      if (Math.abs(level * tick - mid) <= 0.05) depth += total / 100;
    });
  }
  return [{ spread: ask - bid, touch, depth, mid }];
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

const PAGE = fileURLToPath(new URL("../../docs/guide/bots.md", import.meta.url));
const MARKETS = 10;
const HOURS: Readonly<Record<BotProfileName, number>> = { thin: 24, normal: 24, busy: 3, toxic: 6 };

/** A statistic in the guide: its name, its digits, and its range for `normal`. */
const FIGURES: Readonly<
  Record<keyof Statistics, readonly [label: string, digits: number, low: number, high: number]>
> = {
  spread: ["spread", 4, 0.008, 0.03],
  touchDepth: ["shares at the two best prices", 0, 100, 3_000],
  depth: ["shares within 0.05 of the mid price", 0, 1_000, 30_000],
  twoSided: ["fraction of time with both sides", 3, 0.99, 1],
  tradesAnHour: ["taker orders per hour", 0, 20, 100],
  tradeSize: ["shares of a taker order", 0, 20, 200],
  signs: ["autocorrelation of trade signs, lag 1", 2, 0.05, 0.5],
  volatility: ["standard deviation of the mid price's change in 5 min", 4, 0.001, 0.01],
  kurtosis: ["kurtosis of that change (normal distribution: 3)", 0, 5, 100],
  commandsAnHour: ["commands per hour", 0, 100, 500],
};

const statistics = new Map<BotProfileName, Statistics>();
let broken: readonly unknown[] = [];

beforeAll(async () => {
  const world = await generateWorld({ seed: "bots", markets: MARKETS });
  for (const profile of BOT_PROFILES) {
    const { exchange } = openWithBots(profile, { world });
    statistics.set(profile, measure(exchange, HOURS[profile]));
    if (profile === "normal") broken = violations(exchange.state);
  }
});

describe("a day of normal", () => {
  it.each(Object.entries(FIGURES))("is like that of a real market: %s", (name, [, , low, high]) => {
    const figure = statistics.get("normal")?.[name as keyof Statistics];
    expect(figure).toBeGreaterThanOrEqual(low);
    expect(figure).toBeLessThanOrEqual(high);
  });

  it("breaks no invariant", () => {
    expect(broken).toEqual([]);
  });
});

describe("the profiles", () => {
  const statistic = (profile: BotProfileName, name: keyof Statistics): number =>
    statistics.get(profile)?.[name] ?? Number.NaN;

  it("keep both sides of their books", () => {
    for (const profile of BOT_PROFILES) expect(statistic(profile, "twoSided")).toBeGreaterThan(0.98);
  });

  it("trade more if they are busier", () => {
    expect(statistic("normal", "tradesAnHour")).toBeGreaterThan(4 * statistic("thin", "tradesAnHour"));
    expect(statistic("busy", "tradesAnHour")).toBeGreaterThan(4 * statistic("normal", "tradesAnHour"));
    expect(statistic("busy", "depth")).toBeGreaterThan(statistic("normal", "depth"));
  });

  it("quote wider spreads with few trades or many informed bots", () => {
    expect(statistic("thin", "spread")).toBeGreaterThan(1.3 * statistic("normal", "spread"));
    expect(statistic("toxic", "spread")).toBeGreaterThan(1.3 * statistic("normal", "spread"));
    expect(statistic("toxic", "volatility")).toBeGreaterThan(2 * statistic("normal", "volatility"));
  });
});

const price = (units: number): string => String(units / 10_000);
const count = String;
const shares = (units: number): string => String(units / 100);
const SPANS = { h: 3_600_000, min: 60_000, s: 1_000, ms: 1 };
const time = (ms: number): string => {
  const [unit, length = 1] = Object.entries(SPANS).find(([, length]) => ms % length === 0) ?? [];
  return `${ms / length} ${unit}`;
};

/** Label and format of each parameter in the guide. */
type Labels<Terms> = {
  readonly [Name in keyof Terms]: readonly [label: string, text: (value: number) => string];
};
const common = {
  count: ["number of bots", count],
  everyMs: ["mean time between checks of a market", time],
} as const;
const PARAMETERS: { readonly [Part in keyof BotProfile]: Labels<BotProfile[Part]> } = {
  maker: {
    ...common,
    size: ["shares of a quote at the first level (n times that at level n), ± 40 %", shares],
    levels: ["price levels on each side", count],
    gap: ["distance between levels, USDC", price],
    risk: ["γσ²τ at a price of 0.5, USDC for 100 shares of inventory", price],
    premium: ["(1/γ) ln(1 + γ/κ) at a price of 0.5, USDC", price],
    lagMs: ["delay until it knows the fair value", time],
  },
  noise: {
    ...common,
    size: [
      "minimum shares of an order; Pareto distribution with exponent 2, up to 20 times the minimum",
      shares,
    ],
    active: ["fraction of half hours in which it is active", count],
    oneSided: ["fraction of its orders then on one side", count],
    marketable: ["fraction of its orders that take; the others rest", count],
    patienceMs: ["longest time that an order rests", time],
  },
  momentum: {
    ...common,
    size: ["shares of an order", shares],
    windowMs: ["period of the return", time],
    threshold: ["minimum return, USDC", price],
  },
  informed: {
    ...common,
    size: ["shares of an order", shares],
    edge: ["minimum distance from the fair value, plus the fee, USDC", price],
  },
  fair: {
    volatility: ["standard deviation per hour, on the stretched scale", count],
    newsEveryMs: ["mean time between news", time],
    news: ["standard deviation of a news change, on the stretched scale", count],
  },
};

it("the guide has the figures and parameters", async () => {
  const rounded = (figure: number, digits: number): string => figure.toFixed(digits);
  const figures = Object.entries(FIGURES).map(([name, [label, digits, low, high]]) => [
    label,
    ...BOT_PROFILES.map((profile) =>
      rounded(statistics.get(profile)?.[name as keyof Statistics] ?? 0, digits),
    ),
    `${low} to ${high}`,
  ]);
  const parameters = Object.entries<Labels<Record<string, number>>>(PARAMETERS).flatMap(([part, names]) =>
    Object.entries(names).map(([name, [label, text]]) => [
      part === "fair" ? "fair value" : part,
      label,
      ...BOT_PROFILES.map((profile) => {
        const terms: BotProfile = PROFILES[profile];
        const values: object = terms[part as keyof BotProfile];
        return text((values as Readonly<Record<string, number>>)[name] ?? Number.NaN);
      }),
    ]),
  );
  const page = readFileSync(PAGE, "utf8")
    .replace(
      /(<!-- statistics -->\n)[\s\S]*(<!-- \/statistics -->)/,
      `$1\n${table(["on average", ...BOT_PROFILES, "range for a day of normal"], figures)}\n\n$2`,
    )
    .replace(
      /(<!-- parameters -->\n)[\s\S]*(<!-- \/parameters -->)/,
      `$1\n${table(["of", "parameter", ...BOT_PROFILES], parameters)}\n\n$2`,
    );
  await expect(page).toMatchFileSnapshot(PAGE);
});
