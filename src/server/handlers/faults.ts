import type { EndpointOf, Operation, ReplyTo } from "../../api/endpoints.ts";
import { ApiError, invalidFields, requireBelowLimit } from "../../api/errors.ts";
import { pageOf } from "../../api/view.ts";
import { quoted } from "../../core/format.ts";
import { parseDuration } from "../../core/time.ts";
import { type Fault, type FaultPlan, readFaultRoute, remainingOf } from "../faults.ts";
import type { BodyOf, Handlers } from "../service.ts";

const MAX_FAULTS = 1_000;
const MAX_LATENCY_MS = 3_600_000;

export const faultHandlers = {
  listFaults: ({ query }, { faults }) => pageOf(faults.all, query, faultReply),
  addFault: ({ body }, { faults }) => {
    const plan = planOf(body);
    const hint = "DELETE /sim/faults/{id} removes one, DELETE /sim/faults all";
    requireBelowLimit(faults.all.length, MAX_FAULTS, "faults", hint);
    return faultReply(faults.add(plan));
  },
  removeFaults: (_call, { faults }) => ({ removed: faults.removeAll().map(({ id }) => id) }),
  removeFault: ({ path: { id } }, { faults }) => {
    const fault = faults.remove(id);
    if (fault !== undefined) return faultReply(fault);
    throw new ApiError("FAULT_NOT_FOUND", `no fault ${quoted(id)}`, {
      hint: faults.isEmpty ? "there are none: POST /sim/faults injects one" : "GET /sim/faults lists them",
    });
  },
} satisfies Partial<Handlers<Operation>>;

function faultReply(fault: Fault): ReplyTo<"addFault"> {
  const { operations, latencyMs, chance, ...shown } = fault;
  return { ...shown, remaining: remainingOf(fault) };
}

/** Reads a fault from a body. @throws ApiError `INVALID_PARAMETER` if it has no effect or contradictory fields. */
function planOf(asked: BodyOf<EndpointOf<"addFault">>): FaultPlan {
  const { status = null, retryAfter, latency = null, drop = null, probability, times = null, after } = asked;
  if (status === null && latency === null && drop === null) {
    const message = "a fault needs a status, a latency or a drop, found none of them";
    throw invalidFields(message, "status", "latency", "drop");
  }
  if (status !== null && drop !== null) {
    const message = `drop ${drop} means that status ${status} is not sent: give one of them`;
    throw invalidFields(message, "status", "drop");
  }
  const isRetried = status === 429 || status === 503;
  if (retryAfter !== undefined && !isRetried) {
    throw invalidFields("retryAfter goes with a status of 429 or 503", "retryAfter");
  }
  const { route, operations } = readFaultRoute(asked.route);
  const latencyMs = latency === null ? 0 : latencyOf(latency);
  return {
    ...{ route, status, retryAfter: isRetried ? (retryAfter ?? 1) : null, latency, drop },
    ...{ probability, times, after, operations, latencyMs },
  };
}

function latencyOf(text: string): number {
  const duration = parseDuration(text);
  if (duration !== null && duration <= MAX_LATENCY_MS) return duration;
  throw invalidFields(
    `latency must be a duration such as 200ms or 2s, at most 1h, found ${JSON.stringify(text)}`,
    "latency",
  );
}
