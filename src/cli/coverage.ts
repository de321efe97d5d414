import {
  type Coverage,
  coverageDocument,
  coverageLines,
  percentText,
  shareOf,
} from "../scenario/coverage/coverage.ts";
import { count } from "../scenario/report/text.ts";
import { startScenarioServer } from "../scenario-server.ts";
import { type Given, readOne, wholeNumber } from "../setting.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { paintOf } from "./output.ts";
import { readScenarios } from "./read-scenarios.ts";
import { RUN_SETTINGS } from "./run-flags.ts";

const PERCENT = wholeNumber(0, 100);

/** `clobsim coverage`: runs scenario files and shows what they exercise of all that they could. */
export const coverageCommand: Command = {
  name: "coverage",
  summary: "Run scenario files and show what they exercise: order states, error codes, endpoints and more.",
  takes: "PATHS..",
  flags: [
    {
      name: "via",
      group: "Coverage:",
      text: "process, or http, which counts endpoints and their errors too",
      otherwise: "process; http where a step needs it",
    },
    {
      name: "min",
      group: "Coverage:",
      text: "Fail when fewer percent of the items are exercised",
      otherwise: "0",
    },
    { name: "json", group: "Output:", text: "The same figures as JSON", toggle: "on" },
  ],
  examples: [
    ["coverage scenarios", "what a suite exercises, and what it leaves out"],
    ["coverage scenarios --via http --min 95", "endpoints too, as a gate for CI"],
  ],
  run,
};

async function run(given: Given, paths: readonly string[]): Promise<ExitCode> {
  const via = readOne("via", RUN_SETTINGS.via, given) ?? "auto";
  const min = readOne("min", PERCENT, given) ?? 0;
  const isJson = readOne("json", RUN_SETTINGS.update, given) ?? false;
  if (paths.length === 0) {
    throw new UsageError(
      "coverage expects files, folders or globs, found none (see clobsim coverage --help)",
    );
  }
  const { scenarios, isWrong } = await readScenarios(paths);
  if (isWrong) return EXIT.usage;
  // Every endpoint with its schemas is loaded only here.
  const { measureCoverage } = await import("../scenario/coverage/measure-coverage.ts");
  const coverage = await measureCoverage(scenarios, { via, startServer: startScenarioServer });
  const lines = isJson
    ? [JSON.stringify(coverageDocument(coverage), null, 2)]
    : coverageLines(coverage, paintOf(given.environment));
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return judged(coverage, min);
}

/** Says on stderr why a coverage does not do. */
function judged({ groups, suite }: Coverage, min: number): ExitCode {
  const share = shareOf(groups);
  const faults = [
    ...(suite.failed === 0 ? [] : [`${count(suite.failed, "scenario")} failed`]),
    ...(share.percent >= min ? [] : [`--min expects ${min} %, found ${percentText(share)}`]),
  ];
  for (const fault of faults) process.stderr.write(`clobsim: ${fault}\n`);
  return faults.length === 0 ? EXIT.ok : EXIT.failed;
}
