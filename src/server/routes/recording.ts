import { type Handlers, Pieces } from "../handler.ts";

const LINES = "application/x-ndjson";

/** GET /sim/scenario, GET /sim/report. */
export const recordingHandlers: Handlers<"recordScenario" | "reportSession"> = {
  recordScenario: ({ query }, service) => service.record(query.name ?? null),
  reportSession: async ({ query }, service) =>
    new Pieces(await service.report(query.reason ?? "somebody asked for it"), LINES),
};
