// What writes a session as a scenario.

export { RecordingError } from "../history/record/observed-session.ts";
export { recordedFile } from "../history/record/record-session.ts";
