import type { Size } from "../core/units.ts";

/** What every trader of a kind has: how many there are, and how often each looks at each market. */
interface Crew {
  readonly count: number;
  /** Mean time between two looks at one market, ms. Looks are a Poisson process. */
  readonly everyMs: number;
  /** Of one order: of a maker per level, of others the least. 0.01 share. */
  readonly size: Size;
}

/**
 * Market makers after Avellaneda and Stoikov (2008), in the form without an end of time. The reservation price is the
 * fair value less inventory x risk; half of the spread is risk / 2 + premium.
 */
export interface MakerTerms extends Crew {
  /** On each side of each book. */
  readonly levels: number;
  /** Between two levels; never less than a tick. 0.0001 USDC. */
  readonly gap: number;
  /** Gamma x sigma^2 x tau at a price of 0.5, smaller towards 0 and 1: 0.0001 USDC per 100 shares of inventory. */
  readonly risk: number;
  /** (1 / gamma) ln(1 + gamma / kappa), what is earned by who is never picked off: 0.0001 USDC. */
  readonly premium: number;
  /** How late makers learn of the fair value, ms: what informed traders live on (Glosten and Milgrom, 1985). */
  readonly lagMs: number;
}

/**
 * Noise traders: the zero intelligence of Gode and Sunder (1993), with Poisson rates of limit orders, market orders and
 * cancels as Daniels, Farmer et al. (2003) have them. Each is at work only now and then, and then mostly on one side, for
 * it splits one large order (Lillo, Mike and Farmer, 2005).
 */
export interface NoiseTerms extends Crew {
  /** Part of the time in which one is at work in a market, 0 to 1. */
  readonly active: number;
  /** How many of its orders then take the side of that stretch, 0.5 to 1. */
  readonly oneSided: number;
  /** Part of its orders that take what rests, 0 to 1; the others rest. */
  readonly marketable: number;
  /** How long an order rests at most, ms. */
  readonly patienceMs: number;
}

/** Momentum traders: they buy what has risen and sell what has fallen, and go back to nothing when neither has happened. */
export interface MomentumTerms extends Crew {
  /** The stretch of time whose return they look at, ms. */
  readonly windowMs: number;
  /** The least return that moves them, 0.0001 USDC. */
  readonly threshold: number;
}

/** Informed traders, who know the fair value (Glosten and Milgrom, 1985; Kyle, 1985). */
export interface InformedTerms extends Crew {
  /** How far a price must be from the fair value, besides the fee: 0.0001 USDC. */
  readonly edge: number;
}

/** How the fair value of a market moves. Its scale stretches prices near 0 and 1, as log-odds do. */
export interface FairTerms {
  /** Standard deviation of an hour; at a price of 0.5, 0.01 is half a cent. */
  readonly volatility: number;
  /** Mean time between two pieces of news, ms, and how large a usual one is on the same scale. */
  readonly newsEveryMs: number;
  readonly news: number;
}

/** A market's population, and what moves its fair value. */
export interface Profile {
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

const NORMAL: Profile = {
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

/** Each profile by its name, the quietest first. */
export const PROFILES = {
  /** One maker, far apart; a trade now and then. */
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
  /** News every hour, and many who know it before the makers do. */
  toxic: {
    maker: { ...NORMAL.maker, risk: 30, premium: 120, lagMs: 2 * MINUTE },
    noise: { ...NORMAL.noise, count: 4 },
    momentum: { ...NORMAL.momentum, count: 3, everyMs: 3 * MINUTE },
    informed: { ...NORMAL.informed, count: 6, everyMs: MINUTE, size: shares(150) },
    fair: { volatility: 0.03, newsEveryMs: HOUR, news: 0.12 },
  },
} satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof PROFILES;
export const BOT_PROFILES = Object.keys(PROFILES) as readonly ProfileName[];

/** The kinds of bots, in the order in which those of one moment act. */
export const KINDS = ["maker", "noise", "momentum", "informed"] as const;
export type Kind = (typeof KINDS)[number];

/** How many of a kind there are in any profile. */
export const mostOf = (kind: Kind): number =>
  Math.max(...BOT_PROFILES.map((name) => PROFILES[name][kind].count));
