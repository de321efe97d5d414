/** Why a session cannot be recorded. */
export type RecordingErrorCode = "SESSION_TOO_LONG" | "SESSION_NOT_RECORDABLE";

/** A session that no scenario can tell; the message is a sentence for the user. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
  readonly code: RecordingErrorCode;

  constructor(code: RecordingErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
