import type { EndpointOf, Operation, ReplyTo } from "../../api/endpoints.ts";
import { ApiError, invalidFields, requireRoom } from "../../api/errors.ts";
import { pageOf } from "../../api/view.ts";
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
    requireRoom(faults.all.length, MAX_FAULTS, "faults", hint);
    return faultReply(faults.add(plan));
  },
  removeFaults: (_call, { faults }) => ({ removed: faults.removeAll().map(({ id }) => id) }),
  removeFault: ({ path: { id } }, { faults }) => {
    const fault = faults.remove(id);
    if (fault !== undefined) return faultReply(fault);
    throw new ApiError("FAULT_NOT_FOUND", `no fault ${JSON.stringify(id.slice(0, 80))}`, {
      hint: faults.areNone ? "there are none: POST /sim/faults injects one" : "GET /sim/faults lists them",
    });
  },
} satisfies Partial<Handlers<Operation>>;

function faultReply(fault: Fault): ReplyTo<"addFault"> {
  const { id, route, status, retryAfter, latency, drop, probability, times, after, matched, fired } = fault;
  const remaining = remainingOf(fault);
  return {
    id,
    route,
    status,
    retryAfter,
    latency,
    drop,
    probability,
    times,
    after,
    matched,
    fired,
    remaining,
  };
}

/** What the body asks for. @throws ApiError `INVALID_PARAMETER` when it asks for nothing, or for two things at once. */
function planOf({
  status,
  retryAfter,
  latency,
  drop,
  times,
  ...rest
}: BodyOf<EndpointOf<"addFault">>): FaultPlan {
  if (status === undefined && latency === undefined && drop === undefined) {
    throw invalidFields(
      "a fault needs a status, a latency or a drop, found none of them",
      "status",
      "latency",
      "drop",
    );
  }
  if (status !== undefined && drop !== undefined) {
    throw invalidFields(
      `drop ${drop} leaves no one to hear of a status ${status}: give one of them`,
      "status",
      "drop",
    );
  }
  const isRetried = status === 429 || status === 503;
  if (retryAfter !== undefined && !isRetried) {
    throw invalidFields("retryAfter goes with a status of 429 or 503", "retryAfter");
  }
  return {
    ...rest,
    ...readFaultRoute(rest.route),
    status: status ?? null,
    retryAfter: isRetried ? (retryAfter ?? 1) : null,
    latency: latency ?? null,
    latencyMs: latency === undefined ? 0 : latencyOf(latency),
    drop: drop ?? null,
    times: times ?? null,
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
