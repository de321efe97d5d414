import {
  type Coverage,
  coverageDocument,
  coverageLines,
  measureCoverage,
  percentText,
  shareOf,
} from "../scenario/coverage/coverage.ts";
import { count } from "../scenario/report/text.ts";
import { startScenarioServer } from "../scenario-server.ts";
import type { Run } from "./commands.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { paintOf, print, printDocument, warn } from "./output.ts";
import { readScenarios } from "./read-scenarios.ts";

/** `clobsim coverage`: runs scenario files and shows which items they exercise. */
export const run: Run<"coverage"> = async ({ via, min, json: isJson }, paths, { environment }) => {
  const { scenarios, wrong } = readScenarios(paths);
  if (wrong.length > 0) return EXIT.usage;
  const coverage = await measureCoverage(scenarios, { via: via ?? "auto", startServer: startScenarioServer });
  if (isJson) printDocument(JSON.stringify(coverageDocument(coverage), null, 2));
  else print(coverageLines(coverage, paintOf(environment)));
  return exitCodeOf(coverage, min);
};

/** Returns the exit code of a coverage, and warns if it fails. */
function exitCodeOf({ groups, suite }: Coverage, min: number): ExitCode {
  const share = shareOf(groups);
  const faults = [
    ...(suite.failed === 0 ? [] : [`${count(suite.failed, "scenario")} failed`]),
    ...(share.percent >= min ? [] : [`--min expects ${min} %, found ${percentText(share)}`]),
  ];
  for (const fault of faults) warn(fault);
  return faults.length === 0 ? EXIT.ok : EXIT.failed;
}
