import { type SettlementStatus, tradeStatus } from "../../core/chain/settlement.ts";
import type { ObservedSession } from "./observed-session.ts";

/** Which settlements are told of, also of an order that did not rest. */
const TOLD: ReadonlySet<SettlementStatus> = new Set<SettlementStatus>(["FAILED", "RETRYING"]);

/**
 * The names of the orders that a scenario speaks of again, by number: those that rested or whose settlement went wrong,
 * in the order of the session's own, and those that were there before and that their owner canceled.
 */
export function orderNames({ opening, acts, end }: ObservedSession): Map<number, string> {
  const names = new Map<number, string>();
  const before = opening.orders.size;
  const nameOwn = (order: number): unknown => names.set(order, `order-${order - before}`);
  for (const { command, events } of acts) {
    for (const event of events) {
      if (event.kind === "orderRested") nameOwn(event.order);
      else if (event.kind === "orderTraded" && TOLD.has(tradeStatus(end, end.trades.get(event.trade))))
        nameOwn(event.taker);
      else if (event.kind === "orderCanceled" && event.order <= before && command.kind === "cancelOrder")
        names.set(event.order, `earlier-${event.order}`);
    }
  }
  return names;
}
