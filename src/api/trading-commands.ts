import type { CancelOrder, PlaceOrder } from "../core/commands.ts";
import type { Address } from "../core/terms.ts";
import { ApiError } from "./errors.ts";
import { objectBody } from "./object-body.ts";
import type { OrderRequest } from "./order-request.ts";
import { marketOfTokenId, offTheGrid } from "./refusals.ts";
import type { View } from "./replies/view.ts";
import { cancellation } from "./schemas/trading.ts";

/** The command of POST /clob/order. @throws ApiError `TOKEN_NOT_FOUND`, `INVALID_TICK_SIZE`. */
export function placeOrderCommand(view: View, address: Address, request: OrderRequest): PlaceOrder {
  const { tokenId, side, priceUnits, size, orderType, expiration } = request;
  const { market } = marketOfTokenId(view, tokenId);
  if (priceUnits === null) throw offTheGrid(request.price, market.tickSize, view.numbers);
  return { kind: "placeOrder", address, tokenId, side, price: priceUnits, size, orderType, expiration };
}

/** The body of DELETE /clob/order. */
export const cancelBody = objectBody(cancellation, { required: false });

/** An order's id under the names that DELETE /clob/order takes, in its body and in its query. */
export interface OrderIds {
  readonly orderId?: string | undefined;
  readonly id?: string | undefined;
  readonly orderID?: string | undefined;
}

/** The command of DELETE /clob/order. @throws ApiError when no order is named, or two that differ. */
export function cancelOrderCommand(address: Address, body: OrderIds, query: OrderIds): CancelOrder {
  const given = [body.orderId, body.id, body.orderID, query.orderId, query.id, query.orderID];
  return { kind: "cancelOrder", address, orderId: oneId(given) };
}

/** Why an order that is not live any more is not canceled, by its status. */
export const NOT_CANCELED = {
  MATCHED: "already matched",
  CANCELED: "already canceled",
  EXPIRED: "already expired",
} as const;

/** The one id among those given. @throws ApiError when there is none, or two that differ in more than their case. */
function oneId(given: readonly (string | undefined)[]): string {
  const ids = given.filter((id): id is string => id !== undefined && id !== "");
  if (new Set(ids.map((id) => id.toLowerCase())).size > 1) {
    throw new ApiError(
      "CONFLICTING_FIELDS",
      `different order ids are given: ${[...new Set(ids)].join(", ").slice(0, 200)}`,
      {
        hint: "name one order, in the body or in the query",
      },
    );
  }
  const [id] = ids;
  if (id === undefined) {
    throw new ApiError(
      "ORDER_ID_REQUIRED",
      "no order id is given, expected orderId in the body or in the query",
      {
        hint: "DELETE /clob/orders/all cancels all of them",
      },
    );
  }
  return id;
}
