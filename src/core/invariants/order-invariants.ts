import { type Order, remainingOf } from "../order.ts";
import type { State } from "../state.ts";
import { type Invariant, Judgement } from "./judgement.ts";
import { Pace, type Steps } from "./pace.ts";

/** What an order has matched is the sum of its fills. */
export function* fillsAddUp(state: State): Steps<Invariant> {
  const pace = new Pace();
  const judgement = new Judgement("an order's matched size = sum of its fills");
  // By order number: a map, and a text for each order, would cost ten times as much.
  const { orders, trades } = state;
  const matched = new Float64Array(orders.next);
  for (let number = 1; number <= trades.size; number += 1) {
    if (pace.isStep()) yield;
    const { taker, maker, size } = trades.get(number);
    matched[taker] = (matched[taker] ?? 0) + size;
    matched[maker] = (matched[maker] ?? 0) + size;
  }
  for (let number = 1; number <= orders.size; number += 1) {
    if (pace.isStep()) yield;
    const order = orders.get(number);
    const sum = matched[number] ?? 0;
    if (order.matched !== sum) judgement.differs(`order ${number}: ${order.matched}, expected ${sum}`);
    const remaining = remainingOf(order);
    if (remaining < 0 || (remaining === 0 && order.status !== "MATCHED"))
      judgement.differs(`order ${number}: ${order.status} with ${remaining} remaining`);
  }
  judgement.compared(2 * orders.size);
  return judgement.result;
}

/** The list of an account's open orders has all of its live orders. */
export function* openOrdersAreListed(state: State, orders: readonly Order[]): Steps<Invariant> {
  const pace = new Pace();
  const judgement = new Judgement("an account's open orders = its live orders");
  const live = new Map<number, number>();
  for (const { account } of orders) live.set(account, (live.get(account) ?? 0) + 1);
  for (const account of state.accounts) {
    let listed = 0;
    for (let next = account.firstOpen; next !== 0; ) {
      if (pace.isStep()) yield;
      const order = state.orders.get(next);
      listed += 1;
      judgement.expect(
        order.account === account.number && order.status === "LIVE",
        () =>
          `order ${order.number}: ${order.status} of account ${order.account}, listed by ${account.number}`,
      );
      next = order.nextOpen;
    }
    judgement.equal(() => `listed of account ${account.number}`, listed, live.get(account.number) ?? 0);
    judgement.equal(() => `count of account ${account.number}`, account.openCount, listed);
  }
  return judgement.result;
}
