import { resolve } from "node:path";
import { describe, test } from "vitest";
import {
  faultOf,
  faultOfOptions,
  type OptionType,
  oneOf,
  TEXT_OR_NUMBER,
  TEXTS,
  whole,
} from "./api/option-types.ts";
import { placeText, problemText } from "./scenario/language/problem.ts";
import { loadScenario } from "./scenario/language/read-scenario.ts";
import type { Scenario } from "./scenario/language/scenario.ts";
import { failureLines } from "./scenario/report/lines.ts";
import { plainPaint } from "./scenario/report/text.ts";
import { findFiles } from "./scenario/run/files.ts";
import type { Failure } from "./scenario/run/result.ts";
import { Suite, type SuiteOptions } from "./scenario/run/run-suite.ts";
import { startScenarioServer } from "./scenario-server.ts";

/** How the scenarios of a vitest suite are run. */
export interface ScenarioSuiteOptions {
  /** In this process, over HTTP with real signatures, or (default) over HTTP only where a step needs it. */
  readonly via?: "auto" | "process" | "http";
  /** Instead of each scenario's own. */
  readonly seed?: string | number;
  /** How often each is run; every run must end in the same state. */
  readonly repeat?: number;
}

const OPTION_TYPES: Readonly<Record<keyof ScenarioSuiteOptions, OptionType>> = {
  via: oneOf(["auto", "process", "http"]),
  seed: TEXT_OR_NUMBER,
  repeat: whole(1, 1_000_000),
};

const WIDTH = 96;

/**
 * Makes each scenario that files, folders or globs name a test of vitest, so that its watch, shards, reporters and
 * merged reports serve it. Paths count from the working directory; a wrong file is a test that fails with its problems.
 * @throws NoFilesError when a path leads to no scenario, TypeError when an argument is not what it should be.
 */
export function scenarioSuite(paths: string | readonly string[], options: ScenarioSuiteOptions = {}): void {
  const fault = faultOf("paths", paths, TEXTS) ?? faultOfOptions(options, OPTION_TYPES);
  if (fault !== undefined) throw new TypeError(fault);
  const suite = new Suite(suiteOptions(options));
  const folders = new Map<string, string[]>();
  for (const file of findFiles(typeof paths === "string" ? [paths] : paths)) {
    const folder = file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : ".";
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  for (const [folder, files] of folders) {
    describe(folder, () => {
      for (const file of files) testOf(suite, file);
    });
  }
}

function testOf(suite: Suite, file: string): void {
  const { scenario, problems } = loadScenario(file);
  if (scenario === null || problems.length > 0) {
    test(file, () => {
      throw new Error(problems.map(problemText).join("\n"));
    });
  } else {
    test(scenario.name, async ({ skip }) => {
      const { failure, reason } = await suite.run(scenario);
      if (reason !== null) skip(reason);
      if (failure !== null) throw errorOf(scenario, failure);
    });
  }
}

/** An error whose first frame is the step, so that vitest shows the scenario's own lines. */
function errorOf({ name }: Scenario, failure: Failure): Error {
  const error = new Error(failureLines(failure, plainPaint, WIDTH).join("\n"));
  const place = placeText({ ...failure.place, file: resolve(failure.place.file) });
  error.stack = `${error.name}: ${error.message}\n    at ${JSON.stringify(name)} (${place})`;
  return error;
}

function suiteOptions({ via = "auto", seed, repeat = 1 }: ScenarioSuiteOptions): SuiteOptions {
  return {
    via,
    repeat,
    seed: seed === undefined ? undefined : String(seed),
    startServer: startScenarioServer,
  };
}
