import * as z from "zod";
import { type Endpoint, endpoints, limit, offset } from "./endpoint.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, named, page } from "./schemas.ts";

const FAULT_STATUSES = [429, 500, 502, 503, 504] as const;

const route = z.string().min(1).max(200);

const status = z.literal(FAULT_STATUSES);

const drop = z.enum(["connection", "reply"]);

const probability = z.number().min(0).max(1);

const retryAfter = z.int().min(0).max(86_400);

const latency = z.string().max(40);

const MAX_COUNT = 1_000_000_000;

const id = z.string().regex(/^fault-[1-9][0-9]*$/);

const faultSchema = exactly("Fault", {
  id,
  route,
  status: status.nullable(),
  retryAfter: retryAfter.nullable(),
  latency: latency.nullable(),
  drop: drop.nullable(),
  probability,
  times: field.count.nullable(),
  after: field.count,
  matched: field.count.meta({ description: "Number of requests to its route so far." }),
  fired: field.count,
  remaining: field.count
    .nullable()
    .meta({ description: "How often it will still apply; null if unlimited." }),
});

/** /sim/faults: injected faults between a client and the imitated service (contract, section 7). */
export const faultEndpoints = endpoints("control", "Control plane", {
  listFaults: {
    route: "GET /sim/faults",
    summary: "All injected faults, oldest first, with the number of times each was applied",
    query: { limit: limit(50, 500), offset },
    reply: page("FaultPage", faultSchema),
  },
  addFault: {
    route: "POST /sim/faults",
    summary:
      "Inject a fault into /api, /clob and /chain: latency, an error status, a lost connection or reply",
    description:
      "Of the faults that fire for a request, at most two apply: the oldest that has only a latency, and the oldest other one. Latencies add up. Every fault counts and draws for all requests of its route, whether it applies or not.",
    body: objectBody(
      named(
        "NewFault",
        z.object({
          route: route.default("*").meta({
            description: "Method and path as in this document, such as POST /clob/order; a path; or *.",
          }),
          status: status
            .optional()
            .meta({ description: "Status of the answer; the request is not executed." }),
          retryAfter: retryAfter
            .optional()
            .meta({ description: "Seconds in Retry-After, with status 429 or 503; 1 by default." }),
          latency: latency.optional().meta({
            description: "Delay of a request before it is processed, such as 200ms; at most 1h.",
          }),
          drop: drop.optional().meta({
            description:
              "Closes the connection before the request is executed (connection), or instead of the answer (reply).",
          }),
          probability: probability.default(1),
          times: z
            .int()
            .min(1)
            .max(MAX_COUNT)
            .optional()
            .meta({ description: "How often it applies; always by default." }),
          after: z
            .int()
            .min(0)
            .max(MAX_COUNT)
            .default(0)
            .meta({ description: "Number of requests it skips first." }),
        }),
      ),
    ),
    reply: faultSchema,
    errors: ["LIMIT_REACHED"],
  },
  removeFaults: {
    route: "DELETE /sim/faults",
    summary: "Remove all faults",
    reply: exactly("RemovedFaults", { removed: z.array(id) }),
  },
  removeFault: {
    route: "DELETE /sim/faults/{id}",
    summary: "Remove a fault and return it",
    reply: faultSchema,
    errors: ["FAULT_NOT_FOUND"],
  },
});

/** Whether faults can apply to an endpoint: only to those of the imitated service. */
export const takesFaults = ({ access, tag }: Pick<Endpoint, "access" | "tag">): boolean =>
  access !== "control" && tag !== "Service";
