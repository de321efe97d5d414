import type { Size } from "../core/units.ts";

/** Parameters that all kinds of bots have. */
interface CommonTerms {
  readonly count: number;
  /** Mean time between two turns in one market, ms. Turns are a Poisson process. */
  readonly everyMs: number;
  /** Size of an order: of a maker per level, of others the minimum. 0.01 share. */
  readonly size: Size;
}

/**
 * Market makers after Avellaneda and Stoikov (2008), with an infinite horizon. The reservation price is the fair value
 * minus inventory x risk; half of the spread is risk / 2 + premium.
 */
interface MakerTerms extends CommonTerms {
  /** Number of quotes on each side of each book. */
  readonly levels: number;
  /** Distance between two levels, at least a tick. 0.0001 USDC. */
  readonly gap: number;
  /** Gamma x sigma^2 x tau at a price of 0.5, smaller towards 0 and 1: 0.0001 USDC per 100 shares of inventory. */
  readonly risk: number;
  /** (1 / gamma) ln(1 + gamma / kappa), the profit per fill without adverse selection: 0.0001 USDC. */
  readonly premium: number;
  /** Delay with which makers know the fair value, ms; the source of informed traders' profit (Glosten and Milgrom, 1985). */
  readonly lagMs: number;
}

/**
 * Noise traders: the zero intelligence of Gode and Sunder (1993), with Poisson rates of limit orders, market orders and
 * cancels after Daniels, Farmer et al. (2003). Each is active only in some intervals, and then mostly on one side, because
 * it splits one large order (Lillo, Mike and Farmer, 2005).
 */
interface NoiseTerms extends CommonTerms {
  /** Share of the intervals in which one is active in a market, 0 to 1. */
  readonly active: number;
  /** Share of its orders on the main side of an interval, 0.5 to 1. */
  readonly oneSided: number;
  /** Share of its orders that take resting orders, 0 to 1; the others rest. */
  readonly marketable: number;
  /** Maximum time that an order rests, ms. */
  readonly patienceMs: number;
}

/** Momentum traders: they buy after a rise, sell after a fall, and otherwise close their position. */
interface MomentumTerms extends CommonTerms {
  /** Period over which they measure the price change, ms. */
  readonly windowMs: number;
  /** Minimum price change on which they trade, 0.0001 USDC. */
  readonly threshold: number;
}

/** Informed traders, who know the fair value (Glosten and Milgrom, 1985; Kyle, 1985). */
interface InformedTerms extends CommonTerms {
  /** Minimum distance of a price from the fair value, in addition to the fee: 0.0001 USDC. */
  readonly edge: number;
}

/** Process of a market's fair value, on a scale that stretches prices near 0 and 1, as log-odds do. */
export interface FairTerms {
  /** Standard deviation per hour; at a price of 0.5, 0.01 is half a cent. */
  readonly volatility: number;
  /** Mean time between two pieces of news, ms, and their standard deviation on the same scale. */
  readonly newsEveryMs: number;
  readonly news: number;
}

/** Bots of a market, and the process of its fair value. */
export interface BotProfile {
  readonly maker: MakerTerms;
  readonly noise: NoiseTerms;
  readonly momentum: MomentumTerms;
  readonly informed: InformedTerms;
  readonly fair: FairTerms;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const shares = (count: number): Size => (count * 100) as Size;

const NORMAL: BotProfile = {
  maker: {
    count: 3,
    everyMs: 30 * SECOND,
    size: shares(150),
    levels: 3,
    gap: 100,
    risk: 12,
    premium: 60,
    lagMs: 20 * SECOND,
  },
  noise: {
    count: 8,
    everyMs: 2 * MINUTE,
    size: shares(20),
    active: 0.25,
    oneSided: 0.85,
    marketable: 0.6,
    patienceMs: 30 * MINUTE,
  },
  momentum: { count: 2, everyMs: 10 * MINUTE, size: shares(40), windowMs: 20 * MINUTE, threshold: 150 },
  informed: { count: 1, everyMs: 2 * MINUTE, size: shares(100), edge: 50 },
  fair: { volatility: 0.012, newsEveryMs: 8 * HOUR, news: 0.05 },
};

/** Profiles by name, the least active first. */
export const PROFILES = {
  /** One maker with a wide spread; few trades. */
  thin: {
    maker: {
      ...NORMAL.maker,
      count: 1,
      everyMs: 2 * MINUTE,
      size: shares(60),
      levels: 2,
      gap: 200,
      premium: 180,
    },
    noise: { ...NORMAL.noise, count: 3, everyMs: 10 * MINUTE, size: shares(10), patienceMs: 2 * HOUR },
    momentum: { ...NORMAL.momentum, count: 1, everyMs: 30 * MINUTE, size: shares(20) },
    informed: { ...NORMAL.informed, everyMs: 10 * MINUTE, size: shares(40) },
    fair: NORMAL.fair,
  },
  normal: NORMAL,
  /** Several trades a minute, deep books. */
  busy: {
    maker: { ...NORMAL.maker, count: 4, everyMs: 10 * SECOND, size: shares(400), levels: 5, premium: 40 },
    noise: {
      ...NORMAL.noise,
      count: 16,
      everyMs: 20 * SECOND,
      size: shares(30),
      active: 0.12,
      patienceMs: 10 * MINUTE,
    },
    momentum: { ...NORMAL.momentum, count: 4, everyMs: 3 * MINUTE, size: shares(80), windowMs: 10 * MINUTE },
    informed: { ...NORMAL.informed, count: 2, everyMs: MINUTE, size: shares(200) },
    fair: { ...NORMAL.fair, volatility: 0.02, newsEveryMs: 4 * HOUR },
  },
  /** News every hour, and many informed traders who know it before the makers do. */
  toxic: {
    maker: { ...NORMAL.maker, risk: 30, premium: 120, lagMs: 2 * MINUTE },
    noise: { ...NORMAL.noise, count: 4 },
    momentum: { ...NORMAL.momentum, count: 3, everyMs: 3 * MINUTE },
    informed: { ...NORMAL.informed, count: 6, everyMs: MINUTE, size: shares(150) },
    fair: { volatility: 0.03, newsEveryMs: HOUR, news: 0.12 },
  },
} satisfies Readonly<Record<string, BotProfile>>;

export type BotProfileName = keyof typeof PROFILES;
export const BOT_PROFILES = Object.keys(PROFILES) as readonly BotProfileName[];

/** Kinds of bots, in the order in which they act at the same moment. */
export const KINDS = ["maker", "noise", "momentum", "informed"] as const;
export type Kind = (typeof KINDS)[number];

/** Returns the maximum number of bots of a kind in any profile. */
export const maxCountOf = (kind: Kind): number =>
  Math.max(...BOT_PROFILES.map((name) => PROFILES[name][kind].count));
