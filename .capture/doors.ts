export { RecordingError } from "../src/history/record/script.ts";
export { recordedFile } from "../src/history/record/record-session.ts";
export { shrinkScenario } from "../src/history/shrink/shrink-scenario.ts";
export { writeFailure, findsCanary, inProcess } from "../src/fuzz/in-process.ts";
export { History, openEmpty } from "../src/fuzz/history.ts";
export { overHttp } from "../src/fuzz/http/session.ts";
