import * as z from "zod";
import { decide } from "../core/decide.ts";
import type { DomainEvent } from "../core/events.ts";
import { idOf } from "../core/ids.ts";
import { marketOfToken } from "../core/market.ts";
import { ORDER_STATUSES, reservationOf } from "../core/order.ts";
import { findAccount } from "../core/state.ts";
import { type Address, CANCEL_REASONS, readAddress } from "../core/terms.ts";
import { type Millis, money, notional, size } from "../core/units.ts";
import type { BodySpec } from "./endpoint.ts";
import { endpoints } from "./endpoint.ts";
import { ApiError, type ErrorCode } from "./errors.ts";
import { type OrderRequest, orderBody, placeOrderCommand } from "./order-request.ts";
import { refusalError } from "./refusals.ts";
import * as field from "./schemas.ts";
import { exactly, named, type ReplyOf } from "./schemas.ts";
import { averageOf } from "./trading.ts";
import type { View } from "./view.ts";

const orderToPreviewSchema = named(
  "OrderToPreview",
  orderBody.schema.extend({ address: z.string().meta({ description: "Owner of the order." }) }),
);

/** An order to preview, as far as its fields could be parsed. */
export interface OrderToPreview {
  readonly address: string;
  readonly order: OrderRequest | ApiError;
}

/** Invalid fields of the order are reported in the reply, not as an error. */
const previewBody: BodySpec<OrderToPreview, typeof orderToPreviewSchema> = {
  schema: orderToPreviewSchema,
  fields: [...orderBody.fields, "address"],
  required: true,
  read: ({ address: text, ...body }) => {
    const address = typeof text === "string" ? readAddress(text) : null;
    if (address === null) {
      throw new ApiError(
        "INVALID_PARAMETER",
        "address: expected the address of an account, 0x and 40 hex digits",
      );
    }
    try {
      return { address, order: orderBody.read(body) };
    } catch (error) {
      if (error instanceof ApiError) return { address, order: error };
      throw error;
    }
  },
};

const previewSchema = exactly("OrderPreview", {
  accepted: z.boolean().meta({
    description:
      "Whether POST /clob/order would take it; one that is killed, as a FOK that cannot be filled, is taken.",
  }),
  refusal: exactly("PreviewedRefusal", {
    error: z.string(),
    code: z.string(),
    status: z.int(),
    hint: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).nullable(),
  }).nullable(),
  order: exactly("PreviewedOrder", {
    status: z.enum(ORDER_STATUSES),
    cancelReason: z.enum(CANCEL_REASONS).nullable(),
    sizeMatched: field.shares,
    sizeRemaining: field.shares,
    avgPrice: field.average.nullable(),
    fee: field.usdc,
    paid: field.usdc.meta({ description: "USDC that the fills of a BUY would take, fees included." }),
    received: field.usdc.meta({ description: "USDC that the fills of a SELL would bring, after fees." }),
    fills: z.array(
      exactly("PreviewedFill", {
        price: field.price,
        size: field.shares,
        fee: field.usdc,
        matchType: field.matchType,
        counterOrderId: field.uuid,
      }),
    ),
    reserved: exactly("PreviewedReservation", { asset: z.string(), amount: z.number().min(0) }).nullable(),
    cancels: z.array(field.uuid).meta({ description: "Orders of the same account that it would cancel." }),
  }).nullable(),
});

type Preview = ReplyOf<typeof previewSchema>;

export const orderPreviewEndpoints = endpoints("control", "Control plane", {
  previewOrder: {
    route: "POST /sim/orders/preview",
    summary: "Preview of an order, without placing it",
    description:
      "The order's fields and its owner; no signature. The status is 200 also for a refused order: `refusal` has the error of `POST /clob/order`, else `order` has the fills, their cost, the resting size and the reservation. Nothing is changed or stored.",
    body: previewBody,
    reply: previewSchema,
  },
});

export function orderPreview(view: View, at: Millis, { address, order }: OrderToPreview): Preview {
  try {
    if (order instanceof ApiError) throw order;
    const command = placeOrderCommand(view, address, order);
    const decision = decide(view.state, { at, command });
    if (!decision.ok) throw refusalError(decision.refusal, view);
    return { accepted: true, refusal: null, order: previewedOrder(view, command, decision.events) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, status, message, help } = error;
    const { hint = null, details = null } = isUnfunded(view, address, code)
      ? { ...help, hint: UNFUNDED }
      : help;
    return { accepted: false, refusal: { error: message, code, status, hint, details }, order: null };
  }
}

const UNFUNDED =
  "the account has not derived API keys yet, and is funded when it does: POST /sim/accounts/{address}/credentials";

const isUnfunded = ({ state }: View, address: Address, code: ErrorCode): boolean =>
  code === "INSUFFICIENT_BALANCE" && (findAccount(state, address)?.derivations ?? 0) === 0;

function previewedOrder(
  { state, numbers }: View,
  command: ReturnType<typeof placeOrderCommand>,
  events: readonly DomainEvent[],
): NonNullable<Preview["order"]> {
  const { side, price, tokenId } = command;
  const fills = events.flatMap((event) => (event.kind === "orderTraded" ? [event] : []));
  const canceled = events.flatMap((event) => (event.kind === "orderCanceled" ? [event] : []));
  const own = canceled.find(({ order }) => order === state.orders.next);
  const total = (of: (fill: (typeof fills)[number]) => number): number =>
    fills.reduce((sum, fill) => sum + of(fill), 0);
  const matched = size(total((fill) => fill.size));
  const worth = money(total((fill) => notional(fill.price, fill.size)));
  const fee = money(total((fill) => fill.fee));
  const remaining = size(command.size - matched);
  const rests = events.some(({ kind }) => kind === "orderRested");
  const { feeRateBps } = state.markets.get(marketOfToken(state.tokenById.get(tokenId) as number));
  const reserved = reservationOf({ side, price }, remaining, feeRateBps);
  return {
    // An order that never rested counts as matched with its filled size (contract, section 5).
    status: rests ? "LIVE" : matched > 0 ? "MATCHED" : "CANCELED",
    cancelReason: own?.reason ?? null,
    sizeMatched: numbers.size(matched),
    sizeRemaining: numbers.size(remaining),
    avgPrice: averageOf(numbers, { matched, notional: worth }),
    fee: numbers.money(fee),
    paid: numbers.money(money(side === "BUY" ? worth + fee : 0)),
    received: numbers.money(money(side === "SELL" ? worth - fee : 0)),
    fills: fills.map((fill) => ({
      price: numbers.price(fill.price),
      size: numbers.size(fill.size),
      fee: numbers.money(fill.fee),
      matchType: fill.matchType,
      counterOrderId: idOf(state.idPrefixes.order, fill.maker),
    })),
    reserved: !rests
      ? null
      : side === "BUY"
        ? { asset: "USDC", amount: numbers.money(money(reserved)) }
        : { asset: tokenId, amount: numbers.size(size(reserved)) },
    cancels: canceled
      .filter((event) => event !== own)
      .map(({ order }) => idOf(state.idPrefixes.order, order)),
  };
}
