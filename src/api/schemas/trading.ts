import * as z from "zod";
import { ORDER_STATUSES } from "../../core/order.ts";
import { CANCEL_REASONS } from "../../core/terms.ts";
import { matchType, settlementStatus } from "./market-data.ts";
import {
  average,
  digest,
  hash32,
  moment,
  orderType,
  outcome,
  page,
  price,
  shares,
  side,
  tokenId,
  usdc,
  uuid,
} from "./quantities.ts";
import { exactly, named } from "./registry.ts";

export const credentials = exactly("Credentials", {
  apiKey: uuid,
  secret: digest,
  passphrase: digest,
});

export const derivation = named(
  "Derivation",
  z.object({
    address: z.string().optional(),
    signature: z.string().optional(),
    timestamp: z.union([z.string(), z.int()]).optional(),
    nonce: z.union([z.string(), z.int()]).optional(),
  }),
  "The same four may be sent as headers poly_address, poly_signature, poly_timestamp, poly_nonce.",
);

export const MAX_SHARES = 10_000_000;

export const newOrder = named(
  "NewOrder",
  z.object({
    tokenId: z.string().min(1).meta({ description: "Id of the outcome token to trade." }),
    side: z.enum(["BUY", "SELL"]),
    orderType: z.enum(["GTC", "GTD", "FOK", "FAK"]).default("GTC"),
    price: z.number().gt(0).lt(1).meta({ description: "Limit price, a multiple of the token's tick size." }),
    size: z.number().gt(0).max(MAX_SHARES).meta({ description: "Shares, a multiple of 0.01." }),
    expiration: z
      .union([z.string(), z.literal(0)])
      .nullish()
      .meta({
        description:
          'Required for GTD and only for GTD: Unix seconds, Unix milliseconds or ISO-8601 with a zone. "0", "", 0 and null stand for none.',
      }),
  }),
);

export const cancellation = named(
  "Cancellation",
  z.object({ orderId: z.string().optional(), id: z.string().optional(), orderID: z.string().optional() }),
  "The id of one order, under any one of the three names.",
);

const orderShape = {
  id: uuid,
  status: z.enum(ORDER_STATUSES),
  marketId: uuid,
  tokenId,
  outcome,
  side,
  price,
  size: shares,
  sizeMatched: shares,
  sizeRemaining: shares,
  avgPrice: average.nullable(),
  fee: usdc,
  orderType,
  expiration: moment.nullable(),
  cancelReason: z.enum(CANCEL_REASONS).nullable(),
  createdAt: moment,
  updatedAt: moment,
};

export const order = exactly("Order", orderShape);
export const orderPage = page("OrderPage", order);

export const trade = exactly("Trade", {
  id: uuid,
  status: settlementStatus,
  marketId: uuid,
  tokenId,
  outcome,
  side,
  price,
  size: shares,
  fee: usdc,
  role: z.enum(["TAKER", "MAKER"]),
  orderId: uuid,
  counterOrderId: uuid,
  matchType,
  transactionHash: hash32.nullable(),
  blockNumber: z.int().min(0).nullable(),
  createdAt: moment,
  updatedAt: moment,
});
export const tradePage = page("TradePage", trade);
export const placedOrder = exactly("PlacedOrder", { ...orderShape, trades: z.array(trade) });

export const cancelResult = exactly("CancelResult", {
  canceled: z.array(uuid),
  notCanceled: z.record(uuid, z.enum(["already matched", "already canceled", "already expired"])),
});
