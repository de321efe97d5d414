// What writes a session as a scenario.
export { recordedFile } from "../scenario/record/record-session.ts";
export { RecordingError } from "../scenario/record/recording-error.ts";
