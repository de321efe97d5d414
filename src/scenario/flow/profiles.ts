/** How a generated order flow behaves; prices in 0.0001 USDC, shares of a hundred as whole numbers. */
export interface Profile {
  /** Of 100 orders, how many push the price of YES up: they buy YES or sell NO. */
  readonly up: number;
  /** Of 100 orders, how many are about YES; the others are about NO. */
  readonly yes: number;
  /** Of 100 orders, how many take the best opposite price, when there is one; the others quote. */
  readonly takers: number;
  /** After 100 orders, how many orders are canceled that came just before. */
  readonly canceledSoon: number;
  /** The most orders that rest at once: for each one more, some order is canceled. */
  readonly resting: number;
  /** What YES is worth at the start and at the end. */
  readonly fair: readonly [start: number, end: number];
  /** The largest step of that worth from order to order, beside its way from start to end. */
  readonly step: number;
  /** How far from its worth an order quotes at most. */
  readonly depth: number;
  /** How many rows come at one moment, at least and at most. */
  readonly together: readonly [least: number, most: number];
  /** The usual pause between such moments, in milliseconds. */
  readonly pauseMs: number;
}

/** Buyers and sellers around a price that hardly moves. */
const BALANCED: Profile = {
  up: 50,
  yes: 60,
  takers: 22,
  canceledSoon: 10,
  resting: 200,
  fair: [5000, 5000],
  step: 20,
  depth: 900,
  together: [1, 1],
  pauseMs: 250,
};

/** The named profiles. */
export const PROFILES = {
  balanced: BALANCED,
  /** The price rises from 0.25 to 0.75 over the run. */
  trending: {
    ...BALANCED,
    up: 55,
    fair: [2500, 7500],
  },
  /** Most orders buy YES, few sell it. */
  "one-sided": {
    ...BALANCED,
    up: 85,
    yes: 90,
    fair: [4500, 5500],
  },
  /** Most orders are canceled soon after they came. */
  "cancel-heavy": {
    ...BALANCED,
    takers: 12,
    canceledSoon: 75,
    resting: 60,
  },
  /** Long silences, then many rows at the same moment. */
  bursts: {
    ...BALANCED,
    together: [10, 60],
    pauseMs: 20_000,
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;

/** The names of all profiles. */
export const PROFILE_NAMES = Object.keys(PROFILES) as readonly ProfileName[];

/** The profile of a name, or undefined. */
export const profileNamed = (name: string): Profile | undefined => {
  const known = PROFILE_NAMES.find((each) => each === name);
  return known === undefined ? undefined : PROFILES[known];
};
