import { invariants } from "../../core/invariants/invariants.ts";
import type { State } from "../../core/state.ts";

/** Which checks a run makes. */
export interface CheckOptions {
  /** Rows of a flow between two checks of all invariants; null chooses an interval. */
  readonly everyRows: number | null;
  /** Whether only fills are checked, which costs little for a state of any size. */
  readonly fillsOnly?: boolean;
}

/** Called with the number of rows played; returns what does not hold, or nothing if no check is due. */
export type RowCheck = (rows: number) => readonly string[] | Promise<readonly string[]>;

/** An exchange in this process. */
interface CheckedExchange {
  readonly state: State;
  readonly hasBrokenFill: boolean;
  violations(): readonly string[];
}

/** Minimum number of rows between two checks. */
const MIN_ROWS = 100;
/** A check of all invariants visits every record, so its interval grows with the number of records. */
const ROWS_PER_RECORD = 8;

const NOTHING: readonly string[] = [];

/**
 * Returns the check of a flow in this process. Totals of the ledger are checked after 100 rows, or as many as there are
 * balances; all invariants after 100 rows, or eight for each record. So checks take a fixed share of the flow's time.
 */
export function flowCheck(
  exchange: CheckedExchange,
  { everyRows, fillsOnly = false }: CheckOptions,
): RowCheck {
  let totalsAt = fillsOnly ? Number.POSITIVE_INFINITY : (everyRows ?? MIN_ROWS);
  let allAt = totalsAt;
  const totalsHold = (rows: number): boolean => {
    const totals = invariants(exchange.state, "totals");
    const count = totals.reduce((sum, { checked }) => sum + checked, 0);
    totalsAt = rows + Math.max(MIN_ROWS, count);
    return totals.every(({ holds }) => holds);
  };
  return (rows) => {
    const { hasBrokenFill } = exchange;
    if (rows < totalsAt && !hasBrokenFill) return NOTHING;
    if (rows < allAt && !hasBrokenFill && totalsHold(rows)) return NOTHING;
    const { orders, trades, chain } = exchange.state;
    const records = orders.size + trades.size + chain.transactions.size;
    allAt = rows + (everyRows ?? Math.max(MIN_ROWS, ROWS_PER_RECORD * records));
    totalsAt = Math.min(rows + MIN_ROWS, allAt);
    return exchange.violations();
  };
}

/** The interval of a remote check grows with the number of rows, because the number of records is unknown. */
const ROWS_PER_ROW = 2;

/** Returns the check of a flow on a server, which only reports whether all its invariants hold. */
export function remoteFlowCheck(
  violations: () => Promise<readonly string[]>,
  { everyRows }: CheckOptions,
): RowCheck {
  let nextAt = everyRows ?? MIN_ROWS;
  return (rows) => {
    if (rows < nextAt) return NOTHING;
    nextAt = rows + (everyRows ?? Math.max(MIN_ROWS, ROWS_PER_ROW * rows));
    return violations();
  };
}
