import { endpoint, limit, NO_QUERY, offset } from "../endpoint.ts";
import { objectBody } from "../request-body.ts";
import { info } from "../schemas/control.ts";
import * as schema from "../schemas/snapshots.ts";

const control = { access: "control", tag: "Control plane", query: NO_QUERY, body: null } as const;

/** /sim/snapshots: where the exchange stood, to come back to (contract, section 7). */
export const snapshots = [
  endpoint({
    ...control,
    operation: "listSnapshots",
    method: "GET",
    path: "/sim/snapshots",
    summary: "All snapshots, oldest first",
    query: { limit: limit(50, 500), offset },
    reply: schema.snapshotPage,
    errors: [],
  }),
  endpoint({
    ...control,
    operation: "takeSnapshot",
    method: "POST",
    path: "/sim/snapshots",
    summary: "Keep state, clock, timers and ids as they stand; at most 1000 snapshots",
    body: objectBody(schema.newSnapshot, { required: false }),
    reply: schema.snapshot,
    errors: ["INVALID_PARAMETER", "LIMIT_REACHED"],
  }),
  endpoint({
    ...control,
    operation: "restoreSnapshot",
    method: "POST",
    path: "/sim/snapshots/{idOrName}/restore",
    summary: "Go back to a snapshot, by id or by the latest of a name: time and sequence may run backwards",
    reply: info,
    errors: ["SNAPSHOT_NOT_FOUND"],
  }),
  endpoint({
    ...control,
    operation: "forgetSnapshot",
    method: "DELETE",
    path: "/sim/snapshots/{idOrName}",
    summary: "Forget a snapshot; answers it",
    reply: schema.snapshot,
    errors: ["SNAPSHOT_NOT_FOUND"],
  }),
] as const;
