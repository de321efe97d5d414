import type { Scenario } from "../scenario/language/scenario.ts";
import { startScenarioServer } from "../scenario-server.ts";
import type { Given } from "../setting.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { readScenarios } from "./read-scenarios.ts";
import { RUN_FLAGS } from "./run-flags.ts";
import { RunRequest } from "./run-request.ts";

/** `clobsim run`: runs scenario files and says how they came out. */
export const runCommand: Command = {
  name: "run",
  summary: "Run scenario files: replay their steps and check what must be true.",
  takes: "PATHS..",
  flags: RUN_FLAGS,
  examples: [
    ["run scenarios", "every scenario in a folder"],
    ["run 'scenarios/**/fok*.yaml' --via http", "some of them, over HTTP with real signatures"],
    ["run scenarios --reporter spec --reporter junit=out.xml", "for a person and for CI"],
    ["run failing.yaml --seed 7 --step 12", "up to a step, with all that happened"],
  ],
  run,
};

async function run(given: Given, paths: readonly string[]): Promise<ExitCode> {
  const request = new RunRequest(given, paths);
  if (paths.length === 0)
    throw new UsageError("run expects files, folders or globs, found none (see clobsim run --help)");
  if (request.one("watch") === true) {
    const { watchAndRun } = await import("./on-scenarios.ts");
    return watchAndRun(paths, () => runOnce(request));
  }
  return runOnce(request);
}

/** Reads and runs what is asked for. Nothing is run when a file is wrong, but the reports say so. */
async function runOnce(request: RunRequest): Promise<ExitCode> {
  const { scenarios, files, wrong } = await readScenarios(request.paths, request.one("wallets"));
  if (wrong.length > 0) {
    const { reportersOf } = await import("./on-scenarios.ts");
    reportersOf(request).wrong(wrong);
    return EXIT.usage;
  }
  const chosen = choose(scenarios, request);
  if (chosen.length === 0) {
    throw new UsageError(`none of the ${scenarios.length} scenarios is chosen by --grep or --shard`);
  }
  if (request.one("seed") !== null && request.one("update") === true) {
    throw new UsageError(
      "--seed and --update contradict each other: what is written must hold for each scenario's own seed",
    );
  }
  const way = await wayOf(request);
  const { reportersOf, runSuite } = await import("./on-scenarios.ts");
  const reporters = reportersOf(request);
  reporters.started({ scenarios: chosen.length, files });
  const lastStep = request.one("step");
  const suite = await runSuite(chosen, {
    ...way,
    startServer: startScenarioServer,
    seed: request.one("seed") ?? undefined,
    repeat: request.one("repeat") ?? 1,
    lastStep,
    isUpdating: request.one("update") ?? false,
    bail: request.one("bail") ?? false,
    ...(await reporting(request.one("report"))),
    finished: (result) => {
      reporters.finished(result);
      if (lastStep !== null) reporters.transcript(result);
    },
  });
  reporters.ended(suite);
  if (suite.passed + suite.failed === 0) {
    process.stderr.write("clobsim: nothing was run, every scenario was skipped\n");
    return EXIT.failed;
  }
  return suite.failed > 0 ? EXIT.failed : EXIT.ok;
}

/** What is done with the exchanges of failed scenarios where reports are wanted. */
async function reporting(folder: string | null) {
  if (folder === null) return {};
  const { reportFailedTo } = await import("./on-scenarios.ts");
  return { failed: reportFailedTo(folder) };
}

/** Those that --grep and --shard leave: every n-th, so that the parts are alike. */
function choose(scenarios: readonly Scenario[], request: RunRequest): readonly Scenario[] {
  const pattern = request.one("grep");
  const shard = request.one("shard");
  const matching = scenarios.filter(
    ({ name, place }) => pattern === null || pattern.test(name) || pattern.test(place.file),
  );
  return shard === null ? matching : matching.filter((_, index) => index % shard.count === shard.index - 1);
}

/** Where scenarios are run. @throws UsageError when the flags contradict each other or the wallets file is wrong. */
async function wayOf(request: RunRequest) {
  const via = request.one("via");
  const url = request.one("target");
  const wallets = request.one("wallets");
  if (url === null) {
    if (wallets !== null) throw new UsageError("--wallets goes with --target, found it alone");
    return { via: via ?? "auto" } as const;
  }
  if (via !== null) throw new UsageError("--target and --via contradict each other: give one of them");
  const { TargetFileError, openTargets } = await import("./on-targets.ts");
  try {
    return {
      via: "target",
      target: await openTargets(url.origin, wallets, request.environment),
      targetFlags: ["--target", url.origin, ...(wallets === null ? [] : ["--wallets", wallets])],
    } as const;
  } catch (error) {
    throw error instanceof TargetFileError ? new UsageError(error.message) : error;
  }
}
