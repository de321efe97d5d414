import { type Endpoint, endpoint, limit, NO_QUERY, offset } from "../endpoint.ts";
import type { ErrorCode } from "../errors.ts";
import { objectBody } from "../request-body.ts";
import * as schema from "../schemas/faults.ts";

const control = { access: "control", tag: "Control plane", query: NO_QUERY, body: null } as const;

/** /sim/faults: what goes wrong between a client and the imitated service (contract, section 7). */
export const faults = [
  endpoint({
    ...control,
    operation: "listFaults",
    method: "GET",
    path: "/sim/faults",
    summary: "All injected faults, oldest first, and how often each has fired",
    query: { limit: limit(50, 500), offset },
    reply: schema.faultPage,
    errors: [],
  }),
  endpoint({
    ...control,
    operation: "addFault",
    method: "POST",
    path: "/sim/faults",
    summary:
      "Inject a fault into /api, /clob and /chain: latency, an error status, a lost connection or reply",
    body: objectBody(schema.newFault),
    reply: schema.fault,
    errors: ["INVALID_PARAMETER", "LIMIT_REACHED"],
  }),
  endpoint({
    ...control,
    operation: "removeFaults",
    method: "DELETE",
    path: "/sim/faults",
    summary: "Remove all faults",
    reply: schema.removedFaults,
    errors: [],
  }),
  endpoint({
    ...control,
    operation: "removeFault",
    method: "DELETE",
    path: "/sim/faults/{id}",
    summary: "Remove one fault; answers it as it stood",
    reply: schema.fault,
    errors: ["FAULT_NOT_FOUND"],
  }),
] as const;

/** Whether faults can befall an endpoint: what the imitated service answers, and nothing else. */
export const takesFaults = ({ access, tag }: Pick<Endpoint, "access" | "tag">): boolean =>
  access !== "control" && tag !== "Service";

/** What only an injected fault answers, beside `INTERNAL_ERROR`. */
export const FAULT_CODES = ["RATE_LIMITED", "UNAVAILABLE"] as const satisfies readonly ErrorCode[];
