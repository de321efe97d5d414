import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { BOT_PROFILES, PROFILES, type Profile, type ProfileName } from "../../src/bots/profiles.ts";
import { violations } from "../../src/core/invariants/invariants.ts";
import { generateWorld } from "../../src/simulation/generate-world.ts";
import { table } from "../support/markdown.ts";
import { openWithBots } from "./open.ts";
import { measure, type Statistics } from "./statistics.ts";

const PAGE = fileURLToPath(new URL("../../docs/guide/bots.md", import.meta.url));
const MARKETS = 10;
const HOURS: Readonly<Record<ProfileName, number>> = { thin: 24, normal: 24, busy: 3, toxic: 6 };

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

const statistics = new Map<ProfileName, Statistics>();
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
  const statistic = (profile: ProfileName, name: keyof Statistics): number =>
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
const SPAN = [
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;
const time = (ms: number): string => {
  const [unit, length] = SPAN.find(([, length]) => ms % length === 0) ?? (["ms", 1] as const);
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
const PARAMETERS: { readonly [Part in keyof Profile]: Labels<Profile[Part]> } = {
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
        const terms: Profile = PROFILES[profile];
        const values: object = terms[part as keyof Profile];
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
