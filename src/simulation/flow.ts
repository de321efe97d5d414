import { quoted } from "../core/format.ts";
import type { OrderType, Outcome, Side } from "../core/terms.ts";
import type { Money, Price, Size } from "../core/units.ts";

/** Columns of a flow, in the order in which they are written; `market` only for several markets. */
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
  /** Milliseconds since the start of the flow; never decreases. */
  readonly at: number;
  readonly account: string;
  /** Name of the market; null for the default market of the reader. */
  readonly market: string | null;
}

export interface PlaceRow extends RowBase {
  readonly op: "place";
  /** Name of the order in the flow; empty if no row refers to it. */
  readonly ref: string;
  readonly side: Side;
  readonly outcome: Outcome;
  readonly price: Price;
  readonly size: Size;
  readonly type: OrderType;
  /** Milliseconds from `at` until a GTD order expires, at least 1; null for other types. */
  readonly expiresIn: number | null;
}

type FundRow = RowBase & { readonly op: "fund" } & (
    | { readonly asset: "USDC"; readonly amount: Money }
    | { readonly asset: Outcome; readonly amount: Size }
  );

export type FlowRow =
  | PlaceRow
  | (RowBase & { readonly op: "cancel"; readonly ref: string })
  | (RowBase & { readonly op: "cancel-all" })
  | FundRow;

export type FlowFormat = "csv" | "ndjson";

/** Names of files that `formatOf` knows. */
export const FLOW_FILE = "a file ending in .csv, .ndjson or .jsonl";

/** Returns the format of a file by its extension; undefined for other extensions. */
export function formatOf(path: string): FlowFormat | undefined {
  if (/\.csv$/i.test(path)) return "csv";
  return /\.(?:ndjson|jsonl)$/i.test(path) ? "ndjson" : undefined;
}

export const MAX_FLOW_ORDERS = 10_000_000;
export const MAX_ACCOUNTS = 10_000;

/** Parameters of a generated order flow; prices in 0.0001 USDC, shares in percent. */
export interface FlowProfile {
  /** Percentage of orders that push the price of YES up: they buy YES or sell NO. */
  readonly upPercent: number;
  /** Percentage of orders for YES; the others are for NO. */
  readonly yesPercent: number;
  /** Percentage of orders that take the best opposite price, if there is one; the others quote. */
  readonly takerPercent: number;
  /** Percentage of orders after which a recent order is canceled. */
  readonly cancelPercent: number;
  /** Maximum number of resting orders; above it, a random order is canceled. */
  readonly maxResting: number;
  /** Fair value of YES at the start and at the end. */
  readonly fair: readonly [start: number, end: number];
  /** Largest random step of the fair value from order to order, in addition to its trend. */
  readonly maxStep: number;
  /** Maximum distance of a quote from the fair value. */
  readonly maxDistance: number;
  /** Minimum and maximum number of rows at one moment. */
  readonly rowsAtOnce: readonly [min: number, max: number];
  /** Mean pause between such moments, in milliseconds. */
  readonly pauseMs: number;
}

/** Buyers and sellers around an almost constant price. */
const BALANCED: FlowProfile = {
  upPercent: 50,
  yesPercent: 60,
  takerPercent: 22,
  cancelPercent: 10,
  maxResting: 200,
  fair: [5000, 5000],
  maxStep: 20,
  maxDistance: 900,
  rowsAtOnce: [1, 1],
  pauseMs: 250,
};

export const PROFILES = {
  balanced: BALANCED,
  /** The price rises from 0.25 to 0.75. */
  trending: { ...BALANCED, upPercent: 55, fair: [2500, 7500] },
  /** Most orders buy YES, few sell it. */
  "one-sided": { ...BALANCED, upPercent: 85, yesPercent: 90, fair: [4500, 5500] },
  /** Most orders are canceled soon after they are placed. */
  "cancel-heavy": { ...BALANCED, takerPercent: 12, cancelPercent: 75, maxResting: 60 },
  /** Long pauses, then many rows at the same moment. */
  bursts: { ...BALANCED, rowsAtOnce: [10, 60], pauseMs: 20_000 },
} as const satisfies Record<string, FlowProfile>;

export type FlowProfileName = keyof typeof PROFILES;

export const FLOW_PROFILES = Object.keys(PROFILES) as readonly FlowProfileName[];

/** A flow cannot be read; the message says what was expected and what was found. */
export class FlowError extends Error {
  override readonly name = "FlowError";
  /** The file as the caller named it. */
  readonly file: string;
  /** From 1; 0 for the whole file. */
  readonly line: number;
  /** From 1, in UTF-16 code units as in editors; 0 for the whole file. */
  readonly column: number;

  constructor(file: string, line: number, column: number, message: string) {
    super(message);
    this.file = file;
    this.line = line;
    this.column = column;
  }
}

const MAX_SHOWN = 60;

/** Quotes a text for a message, shortened and with invisible characters escaped; `nothing` for an empty text. */
export function shown(text: string): string {
  if (text === "") return "nothing";
  return quoted(text, MAX_SHOWN).replace(
    /(?! )[\p{C}\p{Z}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
