import { priceText, sizeText } from "../../core/format.ts";
import { type Millis, millis } from "../../core/units.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import type { Funding } from "../language/declarations.ts";
import { rowText } from "../run/format.ts";
import type { Venue } from "./venue.ts";
import type { Attempt, FlowOutcome, Soon } from "./views.ts";

/** Executes a row of a flow at its time; `number` from 1. Returns the number of orders that it placed or canceled. */
export type ExecuteRow = (row: FlowRow, number: number) => Soon<Attempt<number>>;

/** Plays rows up to the first after which a check fails, or at which an exchange in this process throws. */
export async function playFlow(
  execute: ExecuteRow,
  rows: AsyncIterable<readonly FlowRow[]>,
  check: RowCheck | null,
): Promise<FlowOutcome> {
  const counts = { rows: 0, placed: 0, canceled: 0, rejected: 0 };
  let firstRejection: FlowOutcome["firstRejection"] = null;
  const brokenAt = (row: FlowRow, violations: readonly string[], error?: unknown): FlowOutcome => {
    const broken = { row: counts.rows, text: rowText(row), violations, error };
    return { ...counts, firstRejection, broken };
  };
  for await (const batch of rows) {
    for (const row of batch) {
      counts.rows += 1;
      let executed: Soon<Attempt<number>>;
      try {
        executed = execute(row, counts.rows);
      } catch (error) {
        return brokenAt(row, [], error);
      }
      // Awaiting only promises keeps flows in this process fast.
      const attempt = executed instanceof Promise ? await executed : executed;
      if (attempt.ok) counts[row.op === "place" ? "placed" : "canceled"] += attempt.value;
      else {
        counts.rejected += 1;
        firstRejection ??= { row: counts.rows, text: rowText(row), who: row.account, refusal: attempt };
      }
      if (check === null) continue;
      const violations = check(counts.rows);
      if (violations.length > 0) return brokenAt(row, violations);
    }
  }
  return { ...counts, firstRejection, broken: null };
}

/** Returns the result of a row that placed or canceled some orders. */
export const executed = (orders: number) => ({ ok: true, value: orders }) as const;

/** Returns what a row funds; `market` is that of rows without one. */
export function fundingOf(row: Extract<FlowRow, { readonly op: "fund" }>, market: string): Funding {
  if (row.asset === "USDC") return { asset: row.asset, amount: row.amount };
  return { asset: { market: row.market ?? market, outcome: row.asset }, amount: row.amount };
}

/** Executes rows by the operations of a venue; their times are relative to `start`. */
export function byOperations(venue: Venue, market: string, start: Millis): ExecuteRow {
  const orders = new Map<string, string>();
  return async (row) => {
    const at = millis(start + row.at);
    if (at > (await venue.now())) await venue.advanceTo(at);
    if (row.op === "fund") {
      const funded = await venue.open(row.account, [fundingOf(row, market)]);
      return funded.ok ? executed(0) : funded;
    }
    if (row.op === "place") {
      const { side, outcome, type, expiresIn } = row;
      const [size, price] = [sizeText(row.size), priceText(row.price)];
      const expiry = expiresIn === null ? null : { after: expiresIn };
      const words = { side, size, outcome, price, type, expiry, market: row.market ?? market };
      const placed = await venue.place(row.account, words);
      if (placed.ok && row.ref !== "") orders.set(row.ref, placed.value.key);
      return placed.ok ? executed(1) : placed;
    }
    const attempt =
      row.op === "cancel"
        ? await venue.cancel(row.account, orders.get(row.ref) ?? row.ref)
        : await venue.cancelAll(row.account);
    return attempt.ok ? executed(attempt.value.canceled.length) : attempt;
  };
}

/** Called with the number of rows played; returns what does not hold, or nothing if no check is due. */
export type RowCheck = (rows: number) => readonly string[];

/** Maximum number of digits of an index. */
const MAX_DIGITS = 9;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Returns where the number at the end of a name starts, without leading zeros; its length if there is none. */
function numberStart(name: string): number {
  const { length } = name;
  let start = length;
  while (start > Math.max(0, length - MAX_DIGITS) && isDigit(name.charCodeAt(start - 1))) start -= 1;
  while (start < length - 1 && name[start] === "0") start += 1;
  return start;
}

/**
 * Numbers of orders by name. Flows number their names, o1, o2, o3, so these are elements of a list. With a map of all
 * names, a long flow takes a tenth longer.
 */
export class OrderRefs {
  /** By the name without its number; the element at 0 has the name that is not numbered. */
  readonly #lists = new Map<string, number[]>();

  set(name: string, order: number): void {
    const start = numberStart(name);
    const prefix = name.slice(0, start);
    let list = this.#lists.get(prefix);
    if (list === undefined) {
      list = [];
      this.#lists.set(prefix, list);
    }
    list[indexOf(name, start)] = order;
  }

  /** Returns undefined for an unknown name. */
  get(name: string): number | undefined {
    const start = numberStart(name);
    return this.#lists.get(name.slice(0, start))?.[indexOf(name, start)];
  }
}

const indexOf = (name: string, start: number): number =>
  start === name.length ? 0 : Number(name.slice(start)) + 1;
