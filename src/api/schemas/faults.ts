import * as z from "zod";
import { count, page } from "./quantities.ts";
import { exactly, named } from "./registry.ts";

const FAULT_STATUSES = [429, 500, 502, 503, 504] as const;

const route = z.string().min(1).max(200);
const status = z.literal(FAULT_STATUSES);
const drop = z.enum(["connection", "reply"]);
const probability = z.number().min(0).max(1);
const retryAfter = z.int().min(0).max(86_400);
const latency = z.string().max(40);
const most = 1_000_000_000;

export const newFault = named(
  "NewFault",
  z.object({
    route: route.default("*").meta({
      description: "Method and path as this document writes them, such as POST /clob/order; or a path; or *.",
    }),
    status: status.optional().meta({ description: "Answers this, and nothing is executed." }),
    retryAfter: retryAfter
      .optional()
      .meta({ description: "Seconds in Retry-After; with status 429 or 503, where 1 is the default." }),
    latency: latency
      .optional()
      .meta({ description: "How long a request waits before anything else, such as 200ms; at most 1h." }),
    drop: drop.optional().meta({
      description: "Hangs up before the request is executed (connection), or instead of the answer (reply).",
    }),
    probability: probability.default(1),
    times: z.int().min(1).max(most).optional().meta({ description: "How often it fires; left out: always." }),
    after: z.int().min(0).max(most).default(0).meta({ description: "How many requests it first lets pass." }),
  }),
);

const id = z.string().regex(/^fault-[1-9][0-9]*$/);

export const fault = exactly("Fault", {
  id,
  route,
  status: status.nullable(),
  retryAfter: retryAfter.nullable(),
  latency: latency.nullable(),
  drop: drop.nullable(),
  probability,
  times: count.nullable(),
  after: count,
  matched: count.meta({ description: "How many requests of its route have come." }),
  fired: count,
  remaining: count.nullable().meta({ description: "How often it will yet fire; null: without end." }),
});
export const faultPage = page("FaultPage", fault);
export const removedFaults = exactly("RemovedFaults", { removed: z.array(id) });
