import { type Methods, open, optionalParam, param } from "./context.ts";
import { RpcError } from "./json-rpc.ts";
import { readLogQuery } from "./log-queries.ts";
import { optional, readBoolean, readObject } from "./params.ts";
import type { Subscriber } from "./subscriptions.ts";

const KIND = param("subscription", (value) => {
  if (value === "newHeads" || value === "logs" || value === "newPendingTransactions") return value;
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : String(value);
  throw new RpcError("METHOD_NOT_FOUND", `no ${shown} subscription in eth namespace`);
});
const ID = param("subscription", (value) => {
  if (typeof value === "string") return value.toLowerCase();
  throw new RpcError("INVALID_PARAMS", "subscription: expected the id that eth_subscribe answered");
});

/** What a client that holds a connection is told of without asking; `client` is null where a request comes alone. */
export const subscriptionMethods = (client: Subscriber | null): Methods => ({
  eth_subscribe: open([KIND, optionalParam("options", (value) => value)], (_node, kind, options) => {
    const subscriber = connected(client);
    switch (kind) {
      case "logs":
        return subscriber.subscribe(readLogQuery(optional(options, "filter", readObject) ?? {}));
      case "newPendingTransactions":
        return subscriber.subscribe(kind, optional(options, "full transactions", readBoolean) ?? false);
      default:
        if (options === undefined) return subscriber.subscribe(kind);
        throw new RpcError("INVALID_PARAMS", `a subscription to ${kind} has no options`);
    }
  }),
  eth_unsubscribe: open([ID], (_node, id) => {
    if (connected(client).unsubscribe(id)) return true;
    throw new RpcError("SERVER_ERROR", "subscription not found");
  }),
});

function connected(client: Subscriber | null): Subscriber {
  if (client !== null) return client;
  throw new RpcError("METHOD_NOT_FOUND", "notifications not supported: subscribe over WebSocket");
}
