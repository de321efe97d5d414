import type { PositionChange } from "../../api/position-transaction.ts";
import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import type { Outcome } from "../../core/commands.ts";
import type { Size } from "../../core/units.ts";
import type { Attempt, OrderKey, Soon } from "./venue.ts";

/** The numbers of the latest block and of the latest that is final, and how many transactions wait for one. */
export interface ChainView {
  readonly head: number;
  readonly confirmed: number;
  readonly pending: number;
}

/** How many shares of each outcome a market has issued. */
export type SharesView = Readonly<Record<Outcome, Size>>;

/** As the chain has it, and as the ledger counts with what is pending. */
export interface SupplyView {
  readonly onChain: SharesView;
  readonly ledger: SharesView;
}

/** The settlement chain of a venue: what a scenario can do to it, and what it can know of it. */
export interface ChainVenue {
  /** Has a wallet change what it holds of a market: its transaction is tried, and sent unless it would revert. */
  call(account: string, market: string, change: PositionChange): Soon<Attempt<null>>;
  mine(blocks: number): Soon<void>;
  reorganize(depth: number): Soon<Attempt<null>>;
  setFault(terms: SettlementFaultTerms): Soon<Attempt<null>>;
  /** Ends the faults that fail settlements, or all. */
  endFaults(which: "fail" | "all"): Soon<void>;
  /** Answers how many transactions offer more from now on. */
  bumpFees(): Soon<number>;

  view(): Soon<ChainView>;
  supply(market: string): Soon<SupplyView>;
  /** How far the settlement of an order's fills has come, in their order. */
  settled(order: OrderKey): Soon<readonly SettlementStatus[]>;
  /** What waits for a block and why, a sentence each, oldest first. */
  waiting(): Soon<readonly string[]>;
}
