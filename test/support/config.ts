import type { ExchangeConfig } from "../../src/core/state.ts";

type SettlementConfig = Pick<ExchangeConfig, "settlement" | "balances">;

/** Blocks are mined only on request. Default for tests that do not concern settlement. */
export const UNSETTLED = { settlement: "manual", balances: "optimistic" } as const satisfies SettlementConfig;

/** A block every two seconds while something is pending, as in `clobsim serve`. */
export const AUTO = { settlement: "auto", balances: "optimistic" } as const satisfies SettlementConfig;
