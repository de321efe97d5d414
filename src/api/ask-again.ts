import type { Command } from "../core/commands.ts";
import { decide } from "../core/decide.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import type { Millis } from "../core/units.ts";
import { ApiError } from "./errors.ts";
import { orderBody } from "./order-request.ts";
import { refusalError } from "./refusals.ts";
import type { View } from "./replies/view.ts";
import { cancelBody, cancelOrderCommand, NOT_CANCELED, placeOrderCommand } from "./trading-commands.ts";

/** What comes of a refused request when it is tried again. */
export type AnswerNow =
  | { readonly kind: "accepted" }
  /** `code` is an error code, or why nothing was canceled. */
  | { readonly kind: "refused"; readonly code: string }
  /** The program fails. */
  | { readonly kind: "fails"; readonly message: string }
  /** What had decided it is not known: a signature, or a body that is not kept. */
  | { readonly kind: "unknown" };

/** What of a request decides whether it is refused. */
type Asking = Pick<RefusedRequest, "method" | "path" | "address" | "isProven" | "asked">;

/** Tries a refused request again on a state, which it does not change. */
export function askAgain(view: View, at: Millis, refused: Asking): AnswerNow {
  try {
    const command = commandAskedFor(view, refused);
    if (command === null) return { kind: "unknown" };
    const decision = decide(view.state, { at, command });
    if (decision.ok) return { kind: "accepted" };
    if (decision.refusal.code === "ORDER_NOT_LIVE") {
      const { status } = view.state.orders.get(decision.refusal.order);
      if (status !== "LIVE") return { kind: "refused", code: NOT_CANCELED[status] };
    }
    return { kind: "refused", code: refusalError(decision.refusal, view).code };
  } catch (error) {
    if (error instanceof ApiError) return { kind: "refused", code: error.code };
    return { kind: "fails", message: error instanceof Error ? error.message : String(error) };
  }
}

/** @throws ApiError where the request is refused before there is a command. */
function commandAskedFor(view: View, { method, path, address, isProven, asked }: Asking): Command | null {
  if (asked?.kind === "command") return asked.command;
  if (asked === null || asked.isCut || address === null || !isProven) return null;
  switch (`${method} ${path}`) {
    case "POST /clob/order":
      return placeOrderCommand(view, address, orderBody.read(asked.body));
    case "DELETE /clob/order":
      return cancelOrderCommand(address, cancelBody.read(asked.body), asked.query);
    default:
      return null;
  }
}
