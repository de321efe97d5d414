import { entryId } from "../../api/control.ts";
import type { Operation, ReplyTo } from "../../api/endpoints.ts";
import { ApiError, requireBelowLimit } from "../../api/errors.ts";
import { pageOf } from "../../api/view.ts";
import { quoted } from "../../core/format.ts";
import { toIso } from "../../core/time.ts";
import type { Snapshots, StoredSnapshot } from "../../engine/clock.ts";
import { type Handlers, StreamedAnswer } from "../service.ts";
import { infoReply } from "./control.ts";

const MAX_SNAPSHOTS = 1_000;
const MAX_LISTED = 10;

export const snapshotHandlers = {
  listSnapshots: ({ query }, { snapshots }) => pageOf(snapshots.all, query, snapshotReply),
  takeSnapshot: ({ body }, { snapshots }) => {
    const hint = "DELETE /sim/snapshots/{id} forgets one, POST /sim/reset all";
    requireBelowLimit(snapshots.all.length, MAX_SNAPSHOTS, "snapshots", hint);
    return snapshotReply(snapshots.take(body.name ?? null));
  },
  restoreSnapshot: ({ path, headers }, service) => {
    service.snapshots.restore(named(service.snapshots, path.idOrName));
    return infoReply(service, headers.host);
  },
  forgetSnapshot: ({ path }, { snapshots }) => {
    const snapshot = named(snapshots, path.idOrName);
    snapshots.forget(snapshot);
    return snapshotReply(snapshot);
  },
} satisfies Partial<Handlers<Operation>>;

const snapshotReply = ({
  id,
  name,
  hash,
  exchange: { sequence, now },
}: StoredSnapshot): ReplyTo<"takeSnapshot"> => ({
  id,
  name,
  sequence,
  time: toIso(now),
  hash,
});

/** Returns the snapshot with an id, or the latest with a name. @throws ApiError `SNAPSHOT_NOT_FOUND`. */
function named(snapshots: Snapshots, idOrName: string): StoredSnapshot {
  const snapshot = snapshots.find(idOrName);
  if (snapshot !== undefined) return snapshot;
  throw new ApiError("SNAPSHOT_NOT_FOUND", `no snapshot ${quoted(idOrName, 100)}`, {
    hint: hintOf(snapshots.all),
  });
}

/** Lists the latest snapshots, newest first, by id and name. */
function hintOf(all: readonly StoredSnapshot[]): string {
  if (all.length === 0) return "there are none: POST /sim/snapshots takes one";
  const latest = all.slice(-MAX_LISTED).reverse();
  const names = latest.map(({ id, name }) => (name === null ? id : `${id} ${JSON.stringify(name)}`));
  const more = all.length > MAX_LISTED ? `, and ${all.length - MAX_LISTED} older ones` : "";
  return `there are ${names.join(", ")}${more}`;
}

const LINES = "application/x-ndjson";

export const recordingHandlers = {
  recordScenario: ({ query }, service) => service.record(query.name ?? null),
  reportSession: async ({ query }, service) =>
    new StreamedAnswer(await service.report(query.reason ?? "it was requested"), LINES),
  streamSession: ({ query, headers }, { stream }) => {
    const resumed = headers["last-event-id"];
    const since =
      typeof resumed === "string" && resumed !== ""
        ? entryId.read(resumed, "Last-Event-ID", () => {})
        : query.since;
    return stream.open({ from: query.from ?? "now", since: since ?? null });
  },
} satisfies Partial<Handlers<Operation>>;
