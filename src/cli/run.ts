import type { Scenario } from "../scenario/language/scenario.ts";
import { runSuite } from "../scenario/run/run-suite.ts";
import { startScenarioServer } from "../scenario-server.ts";
import type { Given } from "../setting.ts";
import type { Run, Values } from "./commands.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { warn } from "./output.ts";
import type { Progress } from "./progress-text.ts";
import { readScenarios } from "./read-scenarios.ts";
import { reportersOf, reportFailedTo } from "./run-output.ts";
import type { RunFiles } from "./watch.ts";

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
  const { scenarios, files: count, inputs, wrong } = readScenarios(paths, values.wallets);
  files.read = inputs;
  if (wrong.length > 0) {
    await reportersOf(values, paths, given, inputs).wrong(wrong);
    return EXIT.usage;
  }
  const chosen = choose(scenarios, values);
  if (chosen.length === 0) {
    const flags = (["grep", "shard"] as const).filter((name) => values[name] !== null);
    const found =
      scenarios.length === 1 ? "the one scenario is not" : `none of the ${scenarios.length} scenarios is`;
    throw new UsageError(`${found} chosen by --${flags.join(" and --")}`);
  }
  if (seed !== null && isUpdating) {
    throw new UsageError(
      "--seed and --update contradict each other: golden files must be of each scenario's own seed",
    );
  }
  const venue = await openVenue(values, given);
  const reporters = reportersOf(values, paths, given, inputs);
  reporters.started({ scenarios: chosen.length, files: count, times: repeat });
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
  if (suite.passed + suite.failed === 0) {
    warn("nothing was run, every scenario was skipped");
    return EXIT.failed;
  }
  return suite.failed > 0 ? EXIT.failed : EXIT.ok;
}

/** Returns the scenarios selected by --grep and --shard. A shard is every n-th scenario, so that shards are similar. */
function choose(scenarios: readonly Scenario[], { grep, shard }: Values<"run">): readonly Scenario[] {
  const matching = scenarios.filter(
    ({ name, place }) => grep === null || grep.test(name) || grep.test(place.file),
  );
  return shard === null ? matching : matching.filter((_, index) => index % shard.count === shard.index - 1);
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
  const [{ TargetFileError }, { openTargets }] = await Promise.all([
    import("../scenario/venue/target-file.ts"),
    import("../scenario/venue/target-venue.ts"),
  ]);
  try {
    return {
      via: "target",
      target: await openTargets(target, wallets, environment),
      targetFlags: ["--target", target, "--wallets", wallets],
    } as const;
  } catch (error) {
    throw error instanceof TargetFileError ? new UsageError(error.message) : error;
  }
}
