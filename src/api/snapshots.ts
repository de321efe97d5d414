import * as z from "zod";
import { infoSchema } from "./control.ts";
import { endpoints, limit, offset } from "./endpoint.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, named, page } from "./schemas.ts";

const snapshotSchema = exactly("Snapshot", {
  id: z.string().regex(/^snapshot-[1-9][0-9]*$/),
  name: z.string().nullable(),
  sequence: field.count,
  time: field.moment,
  hash: field.stateDigest,
});

/** /sim/snapshots: where the exchange stood, to come back to (contract, section 7). */
export const snapshotEndpoints = endpoints("control", "Control plane", {
  listSnapshots: {
    route: "GET /sim/snapshots",
    summary: "All snapshots, oldest first",
    query: { limit: limit(50, 500), offset },
    reply: page("SnapshotPage", snapshotSchema),
  },
  takeSnapshot: {
    route: "POST /sim/snapshots",
    summary: "Keep state, clock, timers and ids as they stand; at most 1000 snapshots",
    body: objectBody(
      named(
        "NewSnapshot",
        z.object({
          name: z
            .string()
            .min(1)
            .max(100)
            .regex(/^(?!snapshot-[0-9]+$)/, "expected a name that no id has")
            .optional()
            .meta({
              description: "Another name for it than its id; of several with one name the latest is meant.",
            }),
        }),
      ),
      { required: false },
    ),
    reply: snapshotSchema,
    errors: ["LIMIT_REACHED"],
  },
  restoreSnapshot: {
    route: "POST /sim/snapshots/{idOrName}/restore",
    summary: "Go back to a snapshot, by id or by the latest of a name: time and sequence may run backwards",
    reply: infoSchema,
    errors: ["SNAPSHOT_NOT_FOUND"],
  },
  forgetSnapshot: {
    route: "DELETE /sim/snapshots/{idOrName}",
    summary: "Forget a snapshot; answers it",
    reply: snapshotSchema,
    errors: ["SNAPSHOT_NOT_FOUND"],
  },
});
