import type { Param } from "../endpoint.ts";
import { endpoint } from "../endpoint.ts";
import { ApiError } from "../errors.ts";
import { recordedScenario, sessionReport } from "../schemas/recording.ts";

const MAX_NAME = 200;

/** One line, as every name of a scenario is. */
const oneLine = (what: string): Param<string | undefined> => ({
  description: `${what}, one line of at most ${MAX_NAME} characters.`,
  schema: { type: "string", minLength: 1, maxLength: MAX_NAME },
  required: false,
  read: (text, name) => {
    if (
      text === undefined ||
      (text.trim() !== "" && text.length <= MAX_NAME && !/[\p{Cc}\p{Cs}]/u.test(text))
    )
      return text;
    throw new ApiError("INVALID_PARAMETER", `${name} must be one line of 1 to ${MAX_NAME} characters`, {
      details: { parameter: name, found: text.slice(0, MAX_NAME) },
    });
  },
});

/** GET /sim/scenario: the session as a checked scenario (contract, section 7); GET /sim/report: all of it to replay. */
export const recording = [
  endpoint({
    operation: "recordScenario",
    method: "GET",
    path: "/sim/scenario",
    access: "control",
    tag: "Control plane",
    summary: "All that was done since the exchange was opened, as a scenario file that passes",
    query: { name: oneLine("What the scenario is called") },
    body: null,
    reply: recordedScenario,
    errors: ["SESSION_TOO_LONG", "SESSION_NOT_RECORDABLE"],
  }),
  endpoint({
    operation: "reportSession",
    method: "GET",
    path: "/sim/report",
    access: "control",
    tag: "Control plane",
    summary: "All that another machine needs to replay what was done: a bug report",
    query: { reason: oneLine("Why the report is wanted") },
    body: null,
    reply: sessionReport,
    media: "application/x-ndjson",
    errors: ["SESSION_TOO_LONG"],
  }),
] as const;
