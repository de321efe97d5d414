import { Buffer } from "node:buffer";
import { ApiError } from "../../api/errors.ts";
import type { SessionLog } from "../../engine/session-log.ts";
import { MAX_SCENARIO_BYTES } from "../language/scenario-files.ts";
import { type RecordedScenario, recordInSteps, type Session } from "./record-scenario.ts";
import { RecordingError } from "./recording-error.ts";

/** The session of an exchange that goes on. */
export interface LiveSession extends Omit<Session, "entries" | "refused"> {
  readonly log: SessionLog;
}

/** A step of a scenario that places an order is no shorter: `- a: BUY 1 YES @ 0.5` and the line feed. */
const LEAST_BYTES = 20;

/**
 * What was done so far as a scenario file, in steps.
 * @throws ApiError `SESSION_TOO_LONG`, `SESSION_NOT_RECORDABLE` when there can be no such file.
 */
export function* recordSession({ log, ...session }: LiveSession): Generator<undefined, RecordedScenario> {
  const { entries, refused } = log;
  if (entries === null) {
    throw refusal("SESSION_TOO_LONG", `the session has more than ${log.most} commands, and no more are kept`);
  }
  try {
    return yield* recordedFile({ ...session, entries, refused });
  } catch (error) {
    throw error instanceof RecordingError ? refusal(error.code, error.message) : error;
  }
}

/** A session as a scenario that fits in a file, in steps. @throws RecordingError when there can be no such file. */
export function* recordedFile(session: Session): Generator<undefined, RecordedScenario> {
  let orders = 0;
  for (const { command } of session.entries) if (command.kind === "placeOrder") orders += 1;
  if (orders * LEAST_BYTES > MAX_SCENARIO_BYTES) {
    throw tooLong(`has ${orders} orders, more than ${Math.floor(MAX_SCENARIO_BYTES / LEAST_BYTES)}`);
  }
  const recorded = yield* recordInSteps(session);
  const bytes = Buffer.byteLength(recorded.scenario);
  if (bytes <= MAX_SCENARIO_BYTES) return recorded;
  throw tooLong(`takes ${bytes} bytes as a scenario`);
}

const tooLong = (what: string): RecordingError =>
  new RecordingError(
    "SESSION_TOO_LONG",
    `the session ${what}, and a file of one has at most ${MAX_SCENARIO_BYTES} bytes`,
  );

const refusal = (code: RecordingError["code"], message: string): ApiError =>
  new ApiError(code, message, { hint: "POST /sim/reset begins a new session, which can be recorded" });
