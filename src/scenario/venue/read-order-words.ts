import type { PlaceOrder } from "../../core/commands.ts";
import { ApiError } from "../../wire/errors.ts";
import { orderBody } from "../../wire/order-request.ts";
import { marketOfTokenId, offTheGrid } from "../../wire/refusals.ts";
import type { View } from "../../wire/replies/view.ts";
import type { Refused } from "./venue.ts";

/** What POST /clob/order reads from a body, or how it refuses it, short of what the exchange itself decides. */
export function readOrderWords(
  body: Record<string, unknown>,
  view: View,
): Omit<PlaceOrder, "kind" | "address"> | Refused {
  try {
    const { priceUnits, price, ...order } = orderBody.read(body);
    const { market } = marketOfTokenId(view, order.tokenId);
    if (priceUnits === null) throw offTheGrid(price, market.tickSize, view.numbers);
    return { ...order, price: priceUnits };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ok: false, code: error.code, message: error.message, hint: error.help.hint ?? null };
  }
}
