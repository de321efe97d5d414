// What reads and runs scenarios, loaded together when a command is called that does.
export { loadScenario } from "../scenario/language/load-scenario.ts";
export { problemText, wrongFilesText } from "../scenario/language/problem.ts";
export { MOST_PROBLEMS } from "../scenario/language/problem-list.ts";
export { readScenario } from "../scenario/language/read-scenario.ts";
export { worldMarkets } from "../scenario/language/world-markets.ts";
export { findFiles, NoFilesError } from "../scenario/run/files.ts";
export { runSuite } from "../scenario/run/run-suite.ts";
export { reportFailedTo } from "./failed-scenarios.ts";
export { reportersOf } from "./run-reporters.ts";
export { watchAndRun } from "./watch.ts";
