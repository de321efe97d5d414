import { remainingOf } from "../order.ts";
import type { State } from "../state.ts";
import { type Invariant, Judgement } from "./judgement.ts";

/** What an order has matched is the sum of its fills. */
export function fillsAddUp(state: State): Invariant {
  const judgement = new Judgement("an order's matched size = sum of its fills");
  const matched = new Map<number, number>();
  const add = (order: number, quantity: number): void => {
    matched.set(order, (matched.get(order) ?? 0) + quantity);
  };
  for (const trade of state.trades) {
    add(trade.taker, trade.size);
    add(trade.maker, trade.size);
  }
  for (const order of state.orders) {
    judgement.equal(`order ${order.number}`, order.matched, matched.get(order.number) ?? 0);
    judgement.expect(
      remainingOf(order) >= 0 && (remainingOf(order) > 0 || order.status === "MATCHED"),
      () => `order ${order.number}: ${order.status} with ${remainingOf(order)} remaining`,
    );
  }
  return judgement.result;
}

/** The list of an account's open orders has all of its live orders. */
export function openOrdersAreListed(state: State): Invariant {
  const judgement = new Judgement("an account's open orders = its live orders");
  const live = new Map<number, number>();
  for (const order of state.orders) {
    if (order.status === "LIVE") live.set(order.account, (live.get(order.account) ?? 0) + 1);
  }
  for (const account of state.accounts) {
    let listed = 0;
    for (let next = account.firstOpen; next !== 0; ) {
      const order = state.orders.get(next);
      listed += 1;
      judgement.expect(
        order.account === account.number && order.status === "LIVE",
        () =>
          `order ${order.number}: ${order.status} of account ${order.account}, listed by ${account.number}`,
      );
      next = order.nextOpen;
    }
    judgement.equal(`listed of account ${account.number}`, listed, live.get(account.number) ?? 0);
    judgement.equal(`count of account ${account.number}`, account.openCount, listed);
  }
  return judgement.result;
}
