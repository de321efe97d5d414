import { ApiError } from "../../api/errors.ts";
import { orderBody, placeOrderCommand } from "../../api/order-request.ts";
import type { View } from "../../api/view.ts";
import type { CommandOf } from "../../core/commands.ts";
import type { Address } from "../../core/terms.ts";
import type { Refused } from "./venue.ts";

/** What POST /clob/order reads from a body, or how it refuses it, short of what the exchange itself decides. */
export function readOrderWords(
  body: Record<string, unknown>,
  address: Address,
  view: View,
): CommandOf<"placeOrder"> | Refused {
  try {
    return placeOrderCommand(view, address, orderBody.read(body));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ok: false, code: error.code, message: error.message, hint: error.help.hint ?? null };
  }
}
