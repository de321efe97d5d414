import type { Operation } from "../../api/endpoints.ts";
import { refusalError } from "../../api/refusals.ts";
import type { View } from "../../api/view.ts";
import type { Command } from "../../core/commands.ts";
import { priceText, sizeText } from "../../core/format.ts";
import { idOf } from "../../core/ids.ts";
import { invariants } from "../../core/invariants/invariants.ts";
import type { Refusal } from "../../core/refusals.ts";
import { type Millis, millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import type { Funding, TokenName } from "../language/declarations.ts";
import { rowText } from "../run/format.ts";
import { fundCommand, type Venue } from "./venue.ts";
import { type Attempt, type Checks, type FlowOutcome, refusedBy, type Soon } from "./views.ts";

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

const DONE = { ok: true, value: 0 } as const;
const PLACED = { ok: true, value: 1 } as const;
const canceled = (value: number) => ({ ok: true, value }) as const;

/** Returns what a row funds; `market` is that of rows without one. */
function fundingOf(row: Extract<FlowRow, { readonly op: "fund" }>, market: string): Funding {
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
      return funded.ok ? DONE : funded;
    }
    if (row.op === "place") {
      const placed = await venue.place(row.account, {
        side: row.side,
        size: sizeText(row.size),
        outcome: row.outcome,
        price: priceText(row.price),
        type: row.type,
        expiry: row.expiresIn === null ? null : { after: row.expiresIn },
        market: row.market ?? market,
      });
      if (placed.ok && row.ref !== "") orders.set(row.ref, placed.value.key);
      return placed.ok ? PLACED : placed;
    }
    const attempt =
      row.op === "cancel"
        ? await venue.cancel(row.account, orders.get(row.ref) ?? row.ref)
        : await venue.cancelAll(row.account);
    return attempt.ok ? canceled(attempt.value.canceled.length) : attempt;
  };
}

/** A command of an account. */
export type OwnCommand = Command & { readonly address: string };

/** The part of a venue that a check of a flow uses. */
interface CheckedExchange {
  readonly exchange: Exchange;
  readonly hasBrokenFill: boolean;
  violations(): readonly string[];
}

/** The part of a venue in this process that a flow uses. */
interface LocalExchange {
  readonly exchange: Exchange;
  readonly view: View;
  signIn(account: string): string;
  tokenId(token: TokenName): string;
  recordRefusal(operation: Operation, command: OwnCommand, refusal: Refusal): void;
}

/** The operation that each row stands for. */
const OPERATION = {
  place: "placeOrder",
  cancel: "cancelOrder",
  "cancel-all": "cancelAllOrders",
  fund: "fundAccount",
} as const satisfies Record<FlowRow["op"], Operation>;

/** Executes rows as commands, without the API, because flows have millions of rows. */
export function byCommands(venue: LocalExchange, market: string): ExecuteRow {
  const { exchange } = venue;
  const start = exchange.now;
  const addresses = new Map<string, string>();
  const orders = new Map<string, number>();
  const addressOf = (account: string): string => {
    let address = addresses.get(account);
    if (address === undefined) {
      address = venue.signIn(account);
      addresses.set(account, address);
    }
    return address;
  };
  const commandOf = (row: FlowRow): OwnCommand => {
    const address = addressOf(row.account);
    switch (row.op) {
      case "place":
        return {
          kind: "placeOrder",
          address,
          tokenId: venue.tokenId({ market: row.market ?? market, outcome: row.outcome }),
          side: row.side,
          price: row.price,
          size: row.size,
          orderType: row.type,
          expiration: row.expiresIn === null ? null : millis(exchange.now + row.expiresIn),
        };
      case "cancel": {
        const number = orders.get(row.ref);
        const orderId = number === undefined ? row.ref : idOf(exchange.state.idPrefixes.order, number);
        return { kind: "cancelOrder", address, orderId };
      }
      case "cancel-all":
        return { kind: "cancelAllOrders", address };
      case "fund":
        return fundCommand(address, [fundingOf(row, market)], (token) => venue.tokenId(token));
    }
  };
  return (row) => {
    const at = start + row.at;
    if (at > exchange.now) exchange.advanceTo(millis(at));
    const command = commandOf(row);
    const number = exchange.state.orders.next;
    const decision = exchange.submit(command);
    if (!decision.ok) {
      // As `cancelOrder` of the API does.
      if (decision.refusal.code === "ORDER_NOT_LIVE") return DONE;
      venue.recordRefusal(OPERATION[row.op], command, decision.refusal);
      return refusedBy(refusalError(decision.refusal, venue.view));
    }
    const { length } = decision.events;
    if (row.op === "fund") return DONE;
    if (row.op !== "place") {
      if (row.op === "cancel" && length === 0) throw new Error("a cancel is accepted and cancels nothing");
      return canceled(length);
    }
    if (row.ref !== "") orders.set(row.ref, number);
    return PLACED;
  };
}

/** Called with the number of rows played; returns what does not hold, or nothing if no check is due. */
type RowCheck = (rows: number) => readonly string[];

/** Minimum number of rows between two checks. */
const MIN_ROWS = 100;
/** A check of all invariants visits every record, so its interval grows with the number of records. */
const ROWS_PER_RECORD = 8;

const NOTHING: readonly string[] = [];

/**
 * Returns the check of a flow. Totals of the ledger are checked after 100 rows, or as many as there are
 * balances; all invariants after 100 rows, or eight for each record. So checks take a fixed share of the flow's time.
 */
export function flowCheck(venue: CheckedExchange, checks: Checks): RowCheck {
  let totalsAt = checks === "fills" ? Number.POSITIVE_INFINITY : MIN_ROWS;
  let allAt = totalsAt;
  const totalsHold = (rows: number): boolean => {
    const totals = invariants(venue.exchange.state, "totals");
    const count = totals.reduce((sum, { checked }) => sum + checked, 0);
    totalsAt = rows + Math.max(MIN_ROWS, count);
    return totals.every(({ holds }) => holds);
  };
  return (rows) => {
    const { hasBrokenFill } = venue;
    if (rows < totalsAt && !hasBrokenFill) return NOTHING;
    if (rows < allAt && !hasBrokenFill && totalsHold(rows)) return NOTHING;
    const { orders, trades, chain } = venue.exchange.state;
    const records = orders.size + trades.size + chain.transactions.size;
    allAt = rows + Math.max(MIN_ROWS, ROWS_PER_RECORD * records);
    totalsAt = Math.min(rows + MIN_ROWS, allAt);
    return venue.violations();
  };
}
