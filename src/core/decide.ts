import type { Stamped } from "./commands.ts";
import type { Decision } from "./decision.ts";
import { cancelAllOrders, cancelOrder, expireOrder } from "./rules/cancel-order.ts";
import { deriveCredentials } from "./rules/credentials.ts";
import { fundAccount } from "./rules/fund-account.ts";
import { closeMarket, createEvent, createMarket, resolveMarket } from "./rules/markets.ts";
import { placeOrder } from "./rules/place-order.ts";
import type { State } from "./state.ts";
import { unreachable } from "./unreachable.ts";

/** Turns a command into events or a refusal. Reads the state, never writes it. */
export function decide(state: State, { at, command }: Stamped): Decision {
  switch (command.kind) {
    case "placeOrder":
      return placeOrder(state, at, command);
    case "cancelOrder":
      return cancelOrder(state, command);
    case "cancelAllOrders":
      return cancelAllOrders(state, command);
    case "expireOrder":
      return expireOrder(state, command);
    case "fundAccount":
      return fundAccount(state, command);
    case "deriveCredentials":
      return deriveCredentials(state, command);
    case "createEvent":
      return createEvent(state, command);
    case "createMarket":
      return createMarket(state, command);
    case "closeMarket":
      return closeMarket(state, command);
    case "resolveMarket":
      return resolveMarket(state, command);
    default:
      throw unreachable(command);
  }
}
