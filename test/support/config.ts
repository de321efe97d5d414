import type { ExchangeConfig } from "../../src/core/state.ts";

type SettlementConfig = Pick<ExchangeConfig, "settlement" | "balances">;

/** Blocks are mined only when asked for: what a test of trading has that says nothing of settlement. */
export const UNSETTLED = {
  settlement: "manual",
  balances: "optimistic",
} as const satisfies SettlementConfig;

/** A block every two seconds while something is pending, as `clobsim serve` has it. */
export const AUTO = {
  settlement: "auto",
  balances: "optimistic",
} as const satisfies SettlementConfig;
