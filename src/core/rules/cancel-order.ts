import type { CancelAllOrders, CancelOrder, ExpireOrder } from "../commands.ts";
import { accepted, type Decision, refused } from "../decision.ts";
import type { OrderCanceled } from "../events.ts";
import { numberOf } from "../ids.ts";
import type { Order } from "../order.ts";
import type { State } from "../state.ts";
import { findAccount } from "../state.ts";

/** Cancels one live order of its owner; somebody else's is as unknown as one that never was. */
export function cancelOrder(state: State, command: CancelOrder): Decision {
  const order = state.orders.find(numberOf(state.idPrefixes.order, command.orderId));
  const owner = state.accountByAddress.get(command.address);
  if (order === undefined || order.account !== owner) {
    return refused({ code: "ORDER_NOT_FOUND", orderId: command.orderId });
  }
  if (order.status !== "LIVE") return refused({ code: "ORDER_NOT_LIVE", order: order.number });
  return accepted([{ kind: "orderCanceled", order: order.number, reason: "USER" }]);
}

/** Cancels all live orders of an account, oldest first; nothing to cancel is a success. */
export function cancelAllOrders(state: State, command: CancelAllOrders): Decision {
  const account = findAccount(state, command.address);
  const events: OrderCanceled[] = [];
  for (let next = account?.firstOpen ?? 0; next !== 0; ) {
    const order: Order = state.orders.get(next);
    events.push({ kind: "orderCanceled", order: order.number, reason: "USER" });
    next = order.nextOpen;
  }
  return accepted(events);
}

/** Ends an order at its expiration. */
export function expireOrder(state: State, command: ExpireOrder): Decision {
  const order = state.orders.find(command.order);
  if (order === undefined || order.status !== "LIVE") {
    return refused({ code: "ORDER_NOT_LIVE", order: command.order });
  }
  return accepted([{ kind: "orderExpired", order: order.number }]);
}
