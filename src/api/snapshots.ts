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

/** /sim/snapshots: states of the exchange to restore (contract, section 7). */
export const snapshotEndpoints = endpoints("control", "Control plane", {
  listSnapshots: {
    route: "GET /sim/snapshots",
    summary: "All snapshots, oldest first",
    query: { limit: limit(50, 500), offset },
    reply: page("SnapshotPage", snapshotSchema),
  },
  takeSnapshot: {
    route: "POST /sim/snapshots",
    summary: "Take a snapshot of state, clock, timers and ids; at most 1000 snapshots",
    body: objectBody(
      named(
        "NewSnapshot",
        z.object({
          name: z
            .string()
            .min(1)
            .max(100)
            .regex(/^(?!snapshot-[0-9]+$)/, "expected a name that is not an id")
            .optional()
            .meta({
              description: "A name besides its id; of several snapshots with one name, the latest is used.",
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
    summary: "Restore a snapshot by id, or the latest of a name; time and sequence may go back",
    reply: infoSchema,
    errors: ["SNAPSHOT_NOT_FOUND"],
  },
  forgetSnapshot: {
    route: "DELETE /sim/snapshots/{idOrName}",
    summary: "Delete a snapshot and return it",
    reply: snapshotSchema,
    errors: ["SNAPSHOT_NOT_FOUND"],
  },
});
