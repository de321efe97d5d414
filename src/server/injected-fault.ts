import { ApiError, type ErrorCode } from "../api/errors.ts";
import type { Incoming, Outgoing } from "./exchange-message.ts";
import type { Fault } from "./faults.ts";
import { dropConnection, sendError } from "./send.ts";
import type { Service } from "./service.ts";

/**
 * Lets a fault befall a request that has come in whole and has not been looked at; `execute` goes on with it. A reply
 * that the fault loses is lost where it would be sent. A client that hangs up during a latency stops nothing.
 */
export function befall(
  service: Service,
  fault: Fault,
  request: Incoming,
  response: Outgoing,
  execute: () => void,
): void {
  request.fault = fault;
  const strike = (): void => {
    if (fault.status !== null) sendError(service, request, response, injectedError(fault, fault.status));
    else if (fault.drop === "connection") dropConnection(service, request, response);
    else execute();
  };
  if (fault.latencyMs === 0) strike();
  else service.faults.delay(fault.latencyMs, strike);
}

function injectedError({ id, retryAfter }: Fault, status: NonNullable<Fault["status"]>): ApiError {
  const code: ErrorCode = status === 429 ? "RATE_LIMITED" : status === 500 ? "INTERNAL_ERROR" : "UNAVAILABLE";
  return new ApiError(code, `an injected fault answers ${status}; nothing was executed`, {
    status,
    hint: `${id} was injected: GET /sim/faults lists it, DELETE /sim/faults/${id} removes it`,
    details: { fault: id },
    ...(retryAfter === null ? {} : { headers: { "retry-after": String(retryAfter) } }),
  });
}
