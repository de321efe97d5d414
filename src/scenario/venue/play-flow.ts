import { moneyText, priceText, sizeText } from "../../core/format.ts";
import { type Millis, millis } from "../../core/units.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import type { Funding } from "../language/declarations.ts";
import type { Venue } from "./venue.ts";
import type { Attempt, FlowResult, MaybePromise } from "./views.ts";

/** Executes a row of a flow at its time; `number` from 1. Returns the number of orders that it placed or canceled. */
export type ExecuteRow = (row: FlowRow, number: number) => MaybePromise<Attempt<number>>;

/** Plays rows up to the first after which a check fails, or at which an exchange in this process throws. */
export async function playFlow(
  execute: ExecuteRow,
  rows: AsyncIterable<readonly FlowRow[]>,
  check: RowCheck | null,
): Promise<FlowResult> {
  const counts = { rows: 0, placed: 0, canceled: 0, rejected: 0 };
  let firstRejection: FlowResult["firstRejection"] = null;
  const brokenAt = (row: FlowRow, violations: readonly string[], error?: unknown): FlowResult => {
    const broken = { row: counts.rows, text: rowText(row), violations, error };
    return { ...counts, firstRejection, broken };
  };
  for await (const batch of rows) {
    for (const row of batch) {
      counts.rows += 1;
      let executed: MaybePromise<Attempt<number>>;
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

/** Writes a row of a flow as a step. */
export function rowText(row: FlowRow): string {
  const place = row.market === null ? "" : ` in ${row.market}`;
  switch (row.op) {
    case "place":
      return `${row.account}: ${row.side} ${sizeText(row.size)} ${row.outcome} @ ${priceText(row.price)} ${row.type}${place}`;
    case "cancel":
      return `${row.account}: cancel ${row.ref}`;
    case "cancel-all":
      return `${row.account}: cancel all`;
    case "fund": {
      const amount = row.asset === "USDC" ? moneyText(row.amount) : sizeText(row.amount);
      return `${row.account}: fund ${amount} ${row.asset}${place}`;
    }
  }
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

const MAX_DIGITS = 9;
const [ZERO, NINE] = [48, 57];

/** Returns the name without the number at its end, and an index for the number; 0 if there is none. */
function placeOf(name: string): readonly [prefix: string, index: number] {
  const { length } = name;
  let start = length;
  const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
  while (start > 0 && length - start < MAX_DIGITS && isDigit(name.charCodeAt(start - 1))) start -= 1;
  while (start < length - 1 && name.charCodeAt(start) === ZERO) start += 1;
  return [name.slice(0, start), start === length ? 0 : Number(name.slice(start)) + 1];
}

/**
 * Numbers of orders by name. Flows number their names, o1, o2, o3, so these are elements of a list. With a map of all
 * names, a long flow takes a tenth longer.
 */
export class OrderRefs {
  readonly #lists = new Map<string, number[]>();

  set(name: string, order: number): void {
    const [prefix, index] = placeOf(name);
    const list = this.#lists.get(prefix) ?? [];
    list[index] = order;
    this.#lists.set(prefix, list);
  }

  /** Returns undefined for an unknown name. */
  get(name: string): number | undefined {
    const [prefix, index] = placeOf(name);
    return this.#lists.get(prefix)?.[index];
  }
}
