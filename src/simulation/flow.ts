import type { OrderType, Outcome, Side } from "../core/terms.ts";
import type { Money, Price, Size } from "../core/units.ts";

/** The columns of a flow, in the order in which they are written; `market` only where there are several. */
export const COLUMNS = [
  "at",
  "account",
  "op",
  "ref",
  "side",
  "outcome",
  "price",
  "size",
  "type",
  "market",
] as const;
export type Column = (typeof COLUMNS)[number];

interface RowBase {
  /** Milliseconds since the start of the flow, never less than those of the row before. */
  readonly at: number;
  readonly account: string;
  /** Name of the market; null leaves it to the reader, as where there is only one. */
  readonly market: string | null;
}

export interface PlaceRow extends RowBase {
  readonly op: "place";
  /** Name of the order in the flow; empty when nothing refers to it. */
  readonly ref: string;
  readonly side: Side;
  readonly outcome: Outcome;
  readonly price: Price;
  readonly size: Size;
  readonly type: OrderType;
  /** Milliseconds after `at` at which a GTD order expires, at least 1; null for the other types. */
  readonly expiresIn: number | null;
}

export interface CancelRow extends RowBase {
  readonly op: "cancel";
  readonly ref: string;
}

interface CancelAllRow extends RowBase {
  readonly op: "cancel-all";
}

export interface FundCollateralRow extends RowBase {
  readonly op: "fund";
  readonly asset: "USDC";
  readonly amount: Money;
}

export interface FundSharesRow extends RowBase {
  readonly op: "fund";
  readonly asset: Outcome;
  readonly amount: Size;
}

export type FlowRow = PlaceRow | CancelRow | CancelAllRow | FundCollateralRow | FundSharesRow;

export const MAX_NAME_LENGTH = 128;

export const NAME_PATTERNS = {
  account: /^[a-zA-Z][\w-]{0,127}$/,
  market: /^[a-zA-Z0-9][\w-]{0,127}$/,
  ref: /^[a-zA-Z0-9][\w.:-]{0,127}$/,
} as const;

export type FlowFormat = "csv" | "ndjson";

/** How the rows of a file are written, by the end of its name; undefined for one that says nothing. */
export function formatOf(path: string): FlowFormat | undefined {
  if (/\.csv$/i.test(path)) return "csv";
  return /\.(?:ndjson|jsonl)$/i.test(path) ? "ndjson" : undefined;
}

export const MAX_FLOW_ORDERS = 10_000_000;
export const MAX_ACCOUNTS = 10_000;

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

export const PROFILE_NAMES = Object.keys(PROFILES) as readonly ProfileName[];

export const profileNamed = (name: string): Profile | undefined => {
  const known = PROFILE_NAMES.find((each) => each === name);
  return known === undefined ? undefined : PROFILES[known];
};
