import { Buffer } from "node:buffer";
import type { SessionLog } from "../../runtime/session-log.ts";
import { ApiError } from "../../wire/errors.ts";
import { MOST_BYTES } from "../language/text-limits.ts";
import { type RecordedScenario, recordScenario, type Session } from "./record-scenario.ts";
import { RecordingError } from "./recording-error.ts";

/** The session of an exchange that goes on. */
export interface LiveSession extends Omit<Session, "entries" | "refused"> {
  readonly log: SessionLog;
}

/**
 * What was done so far as a scenario file.
 * @throws ApiError `SESSION_TOO_LONG`, `SESSION_NOT_RECORDABLE` when there can be no such file.
 */
export function recordSession({ log, ...session }: LiveSession): RecordedScenario {
  const { entries, refused } = log;
  if (entries === null) {
    throw refusal("SESSION_TOO_LONG", `the session has more than ${log.most} commands, and no more are kept`);
  }
  try {
    return recordedFile({ ...session, entries, refused });
  } catch (error) {
    throw error instanceof RecordingError ? refusal(error.code, error.message) : error;
  }
}

/** A session as a scenario that fits in a file. @throws RecordingError when there can be no such file. */
export function recordedFile(session: Session): RecordedScenario {
  const recorded = recordScenario(session);
  const bytes = Buffer.byteLength(recorded.scenario);
  if (bytes <= MOST_BYTES) return recorded;
  throw new RecordingError(
    "SESSION_TOO_LONG",
    `the session takes ${bytes} bytes as a scenario, and a file of one has at most ${MOST_BYTES}`,
  );
}

const refusal = (code: RecordingError["code"], message: string): ApiError =>
  new ApiError(code, message, { hint: "POST /sim/reset begins a new session, which can be recorded" });
