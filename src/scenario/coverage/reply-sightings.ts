import { ENDPOINTS, type Operation } from "../../api/endpoints/all.ts";
import { trading } from "../../api/endpoints/trading.ts";
import { type ErrorCode, STATUS } from "../../api/errors.ts";
import { parseReply } from "../../client/result.ts";
import type { HttpReply, HttpRequest, Transport } from "../../client/transport.ts";
import { codeOf } from "../venue/http-request.ts";
import type { Sightings } from "./sightings.ts";

/** The same transport; what comes back over it is noted. */
export const watchTransport =
  (send: Transport, sightings: Sightings): Transport =>
  async (request) => {
    const reply = await send(request);
    noteReply(request, reply, sightings);
    return reply;
  };

function noteReply({ method, path }: HttpRequest, reply: HttpReply, sightings: Sightings): void {
  const operation = operationOf(method, path);
  if (operation === null) return;
  if (reply.status === 200) {
    sightings.note("endpoints", operation);
    return;
  }
  const code = codeOf(reply.status, parseReply(reply).body);
  if (code === null || !isErrorCode(code)) return;
  sightings.note("errors by endpoint", `${operation} ${code}`);
  if (trading.some((endpoint) => endpoint.operation === operation)) {
    sightings.note("error codes of trading", code);
  }
}

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(STATUS, code);

const ROUTES = ENDPOINTS.map(({ method, path, operation }) => ({
  method,
  operation,
  pattern: new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
}));

/** The endpoint that a request is sent to; null for none. */
export function operationOf(method: string, target: string): Operation | null {
  const [path = ""] = target.split("?", 1);
  return ROUTES.find((route) => route.method === method && route.pattern.test(path))?.operation ?? null;
}
