import type { ObservedSession } from "./observed-session.ts";

/**
 * The names of the orders that a scenario speaks of again, by number: those that rested, in the order of the session's
 * own, and those that were there before and that their owner canceled.
 */
export function orderNames({ opening, acts }: ObservedSession): Map<number, string> {
  const names = new Map<number, string>();
  const before = opening.orders.size;
  for (const { command, events } of acts) {
    for (const event of events) {
      if (event.kind === "orderRested") names.set(event.order, `order-${event.order - before}`);
      else if (event.kind === "orderCanceled" && event.order <= before && command.kind === "cancelOrder")
        names.set(event.order, `earlier-${event.order}`);
    }
  }
  return names;
}
