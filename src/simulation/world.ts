import type { End } from "./calendar.ts";

/**
 * A world: what an exchange holds before its first client comes. Plain data that does not know when it is opened:
 * every moment is relative to the start, so one file opens at any `--start`.
 */
export type World = WorldContent &
  (
    | {
        /** Written by hand and by earlier versions. */
        readonly format: "clobsim-world/1";
        /** The opening history, oldest first. */
        readonly flow: readonly FlowRow[];
      }
    | {
        readonly format: "clobsim-world/2";
        /** The same, packed: six integers an order, as `packFlow` has them. */
        readonly flow: readonly number[];
      }
  );

interface WorldContent {
  /** Decides ids, secrets and dev accounts of the exchange that opens this world. */
  readonly seed: string;
  /** Addresses of the dev accounts (lower case); their private keys are functions of the seed. */
  readonly devAccounts: readonly string[];
  /** The wallets whose orders make the opening history. */
  readonly traders: readonly WorldTrader[];
  readonly events: readonly WorldEvent[];
}

export interface WorldTrader {
  /** 20 bytes, `0x` and lower-case hex. */
  readonly address: string;
  /** USDC. */
  readonly collateral: number;
  /** Shares of both outcomes of every market, minted as full sets when the trader first touches a market. */
  readonly shares: number;
}

/** In the texts of an event and its markets, `{endDate}` stands for the day on which it ends: "November 30, 2026". */
export interface WorldEvent extends End {
  readonly title: string;
  readonly slug: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  /** Milliseconds before the start, negative. */
  readonly createdAt: number;
  readonly markets: readonly WorldMarket[];
}

export interface WorldMarket extends End {
  readonly question: string;
  readonly slug: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** USDC per share: 0.1, 0.01, 0.005, 0.0025, 0.001 or 0.0001. */
  readonly tickSize: number;
  /** Shares. */
  readonly minOrderSize: number;
  readonly feeRateBps: number;
  readonly matching: "complementary" | "independent";
  /** Milliseconds before the start, negative. */
  readonly createdAt: number;
  /** Set when the market was resolved before the start: what won, and when (negative milliseconds). */
  readonly resolved: { readonly at: number; readonly winningOutcome: "YES" | "NO" } | null;
}

/**
 * One order of the opening history: moment (milliseconds relative to the start, negative), index into `traders`,
 * index into the markets of all events in order, side, outcome, price in USDC, size in shares, time in force.
 */
export type FlowRow = readonly [
  at: number,
  trader: number,
  market: number,
  side: "BUY" | "SELL",
  outcome: "YES" | "NO",
  price: number,
  size: number,
  orderType: "GTC" | "FAK",
];
