import * as z from "zod";
import { endpoints, type Param } from "./endpoint.ts";
import { ApiError } from "./errors.ts";
import * as field from "./schemas.ts";
import { exactly, named } from "./schemas.ts";

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
export const recordingEndpoints = endpoints("control", "Control plane", {
  recordScenario: {
    route: "GET /sim/scenario",
    summary: "All that was done since the exchange was opened, as a scenario file that passes",
    query: { name: oneLine("What the scenario is called") },
    reply: exactly(
      "RecordedScenario",
      {
        name: z.string(),
        scenario: z.string().meta({ description: "A scenario file, YAML, that passes." }),
        orders: field.count,
        trades: field.count,
      },
      "What was done since the exchange was opened, with what came of it.",
    ),
    errors: ["SESSION_TOO_LONG", "SESSION_NOT_RECORDABLE"],
  },
  reportSession: {
    route: "GET /sim/report",
    summary: "All that another machine needs to replay what was done: a bug report",
    query: { reason: oneLine("Why the report is wanted") },
    reply: named(
      "Report",
      z.string(),
      "A journal, a JSON object a line: how the exchange was opened, every command with a hash of what it caused, and the hash of the state. `clobsim replay FILE` replays it.",
    ),
    media: "application/x-ndjson",
    errors: ["SESSION_TOO_LONG"],
  },
});
