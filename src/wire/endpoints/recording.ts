import { endpoint } from "../endpoint.ts";
import { ApiError } from "../errors.ts";
import type { Param } from "../params.ts";
import { recordedScenario } from "../schemas/recording.ts";

const MAX_NAME = 200;

/** What the scenario is to be called: one line, as every name of a scenario. */
const scenarioName: Param<string | undefined> = {
  description: `What the scenario is called, one line of at most ${MAX_NAME} characters.`,
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
};

/** GET /sim/scenario: the session as a checked scenario (contract, section 7). */
export const recording = [
  endpoint({
    operation: "recordScenario",
    method: "GET",
    path: "/sim/scenario",
    access: "control",
    tag: "Control plane",
    summary: "All that was done since the exchange was opened, as a scenario file that passes",
    query: { name: scenarioName },
    body: null,
    reply: recordedScenario,
    errors: ["SESSION_TOO_LONG", "SESSION_NOT_RECORDABLE"],
  }),
] as const;
