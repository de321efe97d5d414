import { noBookIsCrossed } from "../../core/invariants/books.ts";
import type { Invariant } from "../../core/invariants/check.ts";
import { collateralIsConserved, noBalanceIsNegative, sharesAreBacked } from "../../core/invariants/funds.ts";
import type { State } from "../../core/state.ts";

/** What a run is judged by. */
export interface Judging {
  /** Rows of a flow between two judgements of every invariant; null leaves it to `flowJudge`. */
  readonly everyRows: number | null;
  /** Whether nothing but fills is judged, which costs little however large the state is. */
  readonly fillsAlone?: boolean;
}

/** Says what does not hold after so many rows of a flow; nothing where it was not looked for. */
export type RowJudge = (rows: number) => readonly string[] | Promise<readonly string[]>;

/** An exchange in this process. */
interface JudgedExchange {
  readonly state: State;
  readonly hasBrokenFill: boolean;
  violations(): readonly string[];
}

/** Fewer rows never lie between two judgements. */
const MIN_ROWS = 100;
/** Judging every invariant looks at every record, so that records must come for it to be worth it again. */
const ROWS_A_RECORD = 8;

/** The totals: what they cost follows from how many accounts, holdings and markets there are. */
const TOTALS = [collateralIsConserved, sharesAreBacked, noBalanceIsNegative, noBookIsCrossed];

const NOTHING: readonly string[] = [];

/**
 * Fills are judged as they happen, the totals of the ledger after 100 rows, or as many as there are balances, and every
 * invariant after 100 rows or eight for each record: what judging costs is a fixed share of the flow's time.
 */
export function flowJudge(exchange: JudgedExchange, { everyRows, fillsAlone = false }: Judging): RowJudge {
  let totalsAt = fillsAlone ? Number.POSITIVE_INFINITY : (everyRows ?? MIN_ROWS);
  let allAt = totalsAt;
  const totalsHold = (rows: number): boolean => {
    const judged: readonly Invariant[] = TOTALS.map((judge) => judge(exchange.state));
    const count = judged.reduce((sum, { checked }) => sum + checked, 0);
    totalsAt = rows + Math.max(MIN_ROWS, count);
    return judged.every(({ holds }) => holds);
  };
  return (rows) => {
    const { hasBrokenFill } = exchange;
    if (rows < totalsAt && !hasBrokenFill) return NOTHING;
    if (rows < allAt && !hasBrokenFill && totalsHold(rows)) return NOTHING;
    const { orders, trades, chain } = exchange.state;
    const records = orders.size + trades.size + chain.transactions.size;
    allAt = rows + (everyRows ?? Math.max(MIN_ROWS, ROWS_A_RECORD * records));
    totalsAt = Math.min(rows + MIN_ROWS, allAt);
    return exchange.violations();
  };
}

/** What judging every invariant costs follows from the rows so far; so many more must come for each of them. */
const ROWS_A_ROW = 2;

/** The same of an exchange elsewhere, of which nothing is known but the answer to whether its invariants hold. */
export function remoteFlowJudge(
  violations: () => Promise<readonly string[]>,
  { everyRows }: Judging,
): RowJudge {
  let judgedAt = everyRows ?? MIN_ROWS;
  return (rows) => {
    if (rows < judgedAt) return NOTHING;
    judgedAt = rows + (everyRows ?? Math.max(MIN_ROWS, ROWS_A_ROW * rows));
    return violations();
  };
}
