import type { JsonObject } from "../../api/endpoint.ts";
import type { Operation } from "../../api/endpoints.ts";
import { orderBody } from "../../api/order-request.ts";
import { JsonText } from "../messages.ts";
import { type AnyHandler, type Handlers, type Service, viewOf } from "../service.ts";
import { chainHandlers } from "./chain.ts";
import { controlHandlers } from "./control.ts";
import { marketHandlers } from "./markets.ts";
import { tradingHandlers } from "./trading.ts";

export const HANDLERS: Handlers<Operation> = {
  ...tradingHandlers,
  ...marketHandlers,
  ...controlHandlers,
  ...chainHandlers,
};

/** Part of a service that the handlers of trading, books, accounts, markets, bots and the chain use. */
export type CalledService = Pick<Service, "exchange" | "numbers" | "checksums" | "books" | "bots">;

/** A request before it is encoded for HTTP. */
export interface DirectCall {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  /** Address of the calling account, for signed endpoints. */
  readonly caller?: string;
}

/**
 * Calls the handler of an endpoint in this process, without HTTP, signature, injected faults and JSON. Only the body of an
 * order is parsed here; all other bodies, and queries, must be as their readers return them.
 * @throws ApiError if the request is refused.
 */
export function callHandler(
  service: CalledService,
  operation: Operation,
  { path = {}, query = {}, body = {}, caller = "" }: DirectCall = {},
): object | Promise<object> {
  const read = operation === "placeOrder" ? orderBody.read(body as JsonObject, service.numbers) : body;
  const call = { path, query, body: read, caller, headers: {}, rawHeaders: [] };
  const answer = (HANDLERS[operation] as AnyHandler)(call, service as Service, viewOf(service));
  return answer instanceof JsonText ? (JSON.parse(answer.text) as object) : answer;
}
