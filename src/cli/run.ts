import { resolve } from "node:path";
import { MAX_PROBLEMS, problemText, type WrongFile, wrongFilesText } from "../scenario/language/page.ts";
import { loadScenario } from "../scenario/language/read-scenario.ts";
import type { Scenario } from "../scenario/language/steps.ts";
import { count, oneLine } from "../scenario/report/text.ts";
import { findFiles, overwritingIn } from "../scenario/run/files.ts";
import type { SuiteResult } from "../scenario/run/result.ts";
import { runSuite } from "../scenario/run/run-suite.ts";
import type { Given } from "../setting.ts";
import { startScenarioServer } from "../start-exchange.ts";
import type { Run, Values } from "./commands.ts";
import { failed, paintOf, print, printJson, warn } from "./output.ts";
import { EXIT, type ExitCode, UsageError } from "./process.ts";
import type { Progress } from "./progress.ts";
import { reportersOf, reportFailedTo } from "./run-output.ts";
import type { RunFiles } from "./watch.ts";

/**
 * Reads scenario files, and prints the problems of invalid ones on stderr. `inputs` are the paths of the files, and of those
 * that they name, also of missing ones. @throws NoFilesError, or UsageError if there is none besides `walletsFile`
 */
export function readScenarios(paths: readonly string[], walletsFile: string | null = null) {
  // A wallets file may be in the same folder as the scenarios.
  const found = findFiles(paths);
  const files = found.filter((file) => walletsFile === null || resolve(file) !== resolve(walletsFile));
  if (files.length === 0)
    throw new UsageError(`--wallets ${walletsFile} is the only file there: expected a scenario besides it`);
  const scenarios: Scenario[] = [];
  const wrong: WrongFile[] = [];
  const inputs = [...files, ...(walletsFile === null ? [] : [walletsFile])];
  for (const file of files) {
    const { scenario, problems, named } = loadScenario(file);
    inputs.push(...named);
    if (scenario !== null && problems.length === 0) scenarios.push(scenario);
    else wrong.push({ file, problems });
  }
  if (wrong.length === 0) wrong.push(...overwritingIn(scenarios));
  for (const { file, problems } of wrong) {
    for (const problem of problems) process.stderr.write(`${oneLine(problemText(problem))}\n`);
    if (problems.length >= MAX_PROBLEMS)
      process.stderr.write(
        `${oneLine(file)}: its first ${MAX_PROBLEMS} problems are shown, there may be more\n`,
      );
  }
  if (wrong.length > 0) warn(wrongFilesText(wrong));
  return { scenarios, files: files.length, inputs, wrong };
}

const ranNothing = ({ passed, failed }: SuiteResult): boolean => passed + failed === 0;
const NOTHING_RUN = "nothing was run, every scenario was skipped";

/** `clobsim coverage`: runs scenario files and shows which items they exercise. */
export const coverage: Run<"coverage"> = async ({ via, min, json: isJson }, paths, { environment }) => {
  const { scenarios, wrong } = readScenarios(paths);
  if (wrong.length > 0) return EXIT.usage;
  // Loaded here because the other commands that read scenarios do not need it.
  const { coverageDocument, coverageLines, measureCoverage, percentText, shareOf } = await import(
    "../scenario/coverage/coverage.ts"
  );
  const found = await measureCoverage(scenarios, { via: via ?? "auto", startServer: startScenarioServer });
  if (isJson) printJson(coverageDocument(found));
  else print(coverageLines(found, paintOf(environment)));
  const share = shareOf(found.groups);
  const problems = [
    ...(ranNothing(found.suite) ? [NOTHING_RUN] : []),
    ...(found.suite.failed === 0 ? [] : [`${count(found.suite.failed, "scenario")} failed`]),
    ...(share.percent >= min ? [] : [`--min expects ${min} %, found ${percentText(share)}`]),
  ];
  for (const problem of problems) warn(problem);
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
};

/** `clobsim run`: runs scenario files and reports the results. */
export const run: Run<"run"> = async (values, paths, given, progress) => {
  const once = (files?: RunFiles): Promise<ExitCode> => runOnce(values, paths, given, progress, files);
  if (!values.watch) return once();
  progress.end();
  const { watchAndRun } = await import("./watch.ts");
  return watchAndRun(paths, once);
};

/** Reads and runs the scenarios, and sets `files`. If a file is invalid, runs nothing, but the reports are written. */
async function runOnce(
  values: Values<"run">,
  paths: readonly string[],
  given: Given,
  progress: Progress,
  files: RunFiles = { read: [], written: [] },
): Promise<ExitCode> {
  const { seed, repeat, step: lastStep, update: isUpdating, bail, report } = values;
  const { scenarios, files: fileCount, inputs, wrong } = readScenarios(paths, values.wallets);
  files.read = inputs;
  if (wrong.length > 0) {
    await reportersOf(values, paths, given, inputs).wrong(wrong);
    return EXIT.usage;
  }
  const chosen = choose(scenarios, values);
  if (seed !== null && isUpdating) {
    throw new UsageError(
      "--seed and --update contradict each other: golden files must be of each scenario's own seed",
    );
  }
  const venue = await openVenue(values, given);
  const reporters = reportersOf(values, paths, given, inputs);
  reporters.started({ scenarios: chosen.length, files: fileCount, times: repeat });
  let done = 0;
  const suite = await runSuite(chosen, {
    ...venue,
    startServer: startScenarioServer,
    seed: seed ?? undefined,
    ...{ repeat, lastStep, isUpdating, bail },
    ...(report === null ? {} : { failed: reportFailedTo(report) }),
    finished: (result) => {
      done += 1;
      progress.update({ done, total: chosen.length });
      reporters.finished(result);
      if (lastStep !== null) reporters.transcript(result);
    },
  });
  files.written = suite.results.flatMap(({ written }) => written);
  await reporters.ended(suite);
  if (ranNothing(suite)) return failed(NOTHING_RUN);
  return suite.failed > 0 ? EXIT.failed : EXIT.ok;
}

/**
 * Returns the scenarios selected by --grep and --shard. A shard is every n-th scenario, so that shards are similar.
 * @throws UsageError if there are none
 */
function choose(scenarios: readonly Scenario[], { grep, shard }: Values<"run">): readonly Scenario[] {
  const chosen = scenarios
    .filter(({ name, place }) => grep === null || grep.test(name) || grep.test(place.file))
    .filter((_, index) => shard === null || index % shard.count === shard.index - 1);
  if (chosen.length > 0) return chosen;
  const flags = [...(grep === null ? [] : ["--grep"]), ...(shard === null ? [] : ["--shard"])];
  const found =
    scenarios.length === 1 ? "the one scenario is not" : `none of the ${scenarios.length} scenarios is`;
  throw new UsageError(`${found} chosen by ${flags.join(" and ")}`);
}

/** Returns where the scenarios run. @throws UsageError if flags contradict each other or the wallets file is invalid. */
async function openVenue({ via, target, wallets }: Values<"run">, { environment }: Given) {
  if (target === null) {
    if (wallets !== null) throw new UsageError("--wallets goes with --target, found it alone");
    return { via: via ?? "auto" } as const;
  }
  if (via !== null) throw new UsageError("--target and --via contradict each other: give one of them");
  if (wallets === null)
    throw new UsageError("--target goes with --wallets, a file with the wallets, markets and funds there");
  const { targetAt } = await import("../scenario/venue/target-venue.ts");
  return { via: "auto", target: await targetAt(target, wallets, environment) } as const;
}
