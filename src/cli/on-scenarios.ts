// What reads and runs scenarios, loaded together when a command is called that does.

export { worldMarkets } from "../scenario/language/header.ts";
export { MAX_PROBLEMS, problemText, wrongFilesText } from "../scenario/language/problem.ts";
export { loadScenario, readScenario } from "../scenario/language/read-scenario.ts";
export { findFiles, NoFilesError } from "../scenario/run/files.ts";
export { runSuite } from "../scenario/run/run-suite.ts";
export { reportersOf, reportFailedTo } from "./run-output.ts";
export { watchAndRun } from "./watch.ts";
