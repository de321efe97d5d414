import type { Handlers } from "../handler.ts";

/** GET /sim/scenario. */
export const recordingHandlers: Handlers<"recordScenario"> = {
  recordScenario: ({ query }, service) => service.record(query.name ?? null),
};
