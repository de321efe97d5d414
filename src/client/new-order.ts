import type { OrderBody } from "./api-messages.ts";

/** An order to place; `orderType` defaults to GTC. */
export interface NewOrder extends Omit<OrderBody, "expiration"> {
  /** Required with GTD, otherwise not allowed: a Date, ISO-8601 with a zone, or Unix seconds. Null means none. */
  readonly expiration?: Date | string | number | null;
}

/** Returns the body of an order; an invalid expiration becomes a text that the server refuses. */
export function orderBody<Order extends NewOrder>(order: Order) {
  // The server names the first missing field if there is no order.
  const { orderType = "GTC", expiration = null, ...fields } = { ...order };
  if (expiration === null) return { ...fields, orderType };
  const isValid = expiration instanceof Date && !Number.isNaN(expiration.getTime());
  return { ...fields, orderType, expiration: isValid ? expiration.toISOString() : String(expiration) };
}
