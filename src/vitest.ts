import { dirname, resolve } from "node:path";
import { describe, expect, type TestAPI, test } from "vitest";
import * as option from "./api/option-types.ts";
import { type ExchangeMatchers, MATCHERS } from "./fixtures/matchers.ts";
import {
  type ExchangeFixtures,
  type ExchangeOptions,
  TestExchanges,
  TRADERS,
  type Trader,
} from "./fixtures/test-exchange.ts";
import { placeText, problemText } from "./scenario/language/page.ts";
import { loadScenario } from "./scenario/language/read-scenario.ts";
import type { Scenario } from "./scenario/language/steps.ts";
import { failureLines } from "./scenario/report/spec.ts";
import { plainPaint } from "./scenario/report/text.ts";
import { findFiles, NoFilesError } from "./scenario/run/files.ts";
import type { Failure } from "./scenario/run/result.ts";
import { scenarioRunner } from "./scenario/run/run-suite.ts";
import { startScenarioServer } from "./start-exchange.ts";

export type { ExchangeMatchers } from "./fixtures/matchers.ts";
export type { ExchangeFixtures, ExchangeOptions, TestExchange, Trader } from "./fixtures/test-exchange.ts";

declare module "vitest" {
  interface Matchers<T> extends ExchangeMatchers<void> {}
}

/**
 * Returns the `test` of vitest with fixtures: an exchange at its opening, and its dev accounts, funded and with API keys,
 * named alice, bob, carol, dave, erin, frank, grace, heidi, ivan, judy. Tests reuse exchanges; concurrent tests use one
 * each. A failing test shows the story of each order and writes a report to `.clobsim/reports`. `expect` gets the
 * matchers of `ExchangeMatchers`.
 * @throws ConfigError that names an invalid option
 */
export function exchange(options: ExchangeOptions = {}): TestAPI<ExchangeFixtures> {
  const exchanges = new TestExchanges(options);
  expect.extend(MATCHERS as never);
  const traders = TRADERS.map((name) => [
    name,
    ({ exchange: { traders } }: ExchangeFixtures, use: (trader: Trader) => Promise<void>) =>
      use(traders[name]),
  ]);
  return test.extend<ExchangeFixtures>({
    exchange: async ({ task }, use) => {
      const acquired = await exchanges.acquire();
      await use(acquired.begin());
      const { state, errors } = task.result ?? {};
      const error = state === "fail" ? errors?.at(-1) : undefined;
      await exchanges.finish(acquired, fullName(task), error ?? null, task.fails ? null : undefined);
    },
    ...Object.fromEntries(traders),
  });
}

/** Returns the names of a test and its suites. */
function fullName(task: { readonly name: string; readonly suite?: unknown }): string {
  const { suite } = task as { readonly suite?: { readonly name: string } };
  return suite === undefined ? task.name : `${fullName(suite)} ${task.name}`;
}

/** Options of a vitest suite of scenarios. */
export interface ScenarioSuiteOptions {
  /** In this process, over HTTP with real signatures, or (default) over HTTP only if a step needs it. */
  readonly via?: "auto" | "process" | "http";
  /** Replaces the seed of each scenario. */
  readonly seed?: string | number;
  /** Number of runs of each scenario; all must end in the same state. */
  readonly repeat?: number;
}

const OPTION_TYPES: Readonly<Record<keyof ScenarioSuiteOptions, option.Type>> = {
  via: option.oneOf(["auto", "process", "http"]),
  seed: option.textOrNumber,
  repeat: option.positive(1_000_000),
};

/**
 * Makes each scenario in files, folders or globs a vitest test, so that watch mode, shards, reporters and merged reports
 * work. Paths are relative to the working directory; an invalid file is a test that fails with its problems.
 * @throws NoFilesError if a path has no scenario, TypeError if an argument is invalid.
 */
export function scenarioSuite(paths: string | readonly string[], options: ScenarioSuiteOptions = {}): void {
  const problem = option.problemOf("paths", paths, option.texts) ?? option.problemIn(options, OPTION_TYPES);
  if (problem !== undefined) throw new TypeError(problem);
  const { via = "auto", seed, repeat = 1 } = options;
  const run = scenarioRunner({
    ...{ via, repeat, startServer: startScenarioServer },
    seed: seed === undefined ? undefined : String(seed),
  });
  const folders = new Map<string, string[]>();
  for (const file of filesAt(typeof paths === "string" ? [paths] : paths)) {
    const folder = dirname(file);
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  for (const [folder, files] of folders) {
    describe(folder, () => {
      for (const file of files) testOf(run, file);
    });
  }
}

/** @throws NoFilesError that names the working directory, which depends on how vitest was started */
function filesAt(paths: readonly string[]): readonly string[] {
  try {
    return findFiles(paths);
  } catch (error) {
    if (!(error instanceof NoFilesError)) throw error;
    throw new NoFilesError(`${error.message} (paths are relative to ${process.cwd()})`);
  }
}

function testOf(run: ReturnType<typeof scenarioRunner>, file: string): void {
  const { scenario, problems } = loadScenario(file);
  if (scenario === null || problems.length > 0) {
    test(file, () => {
      throw new Error(problems.map(problemText).join("\n"));
    });
  } else {
    test(scenario.name, async ({ skip }) => {
      const { failure, reason } = await run(scenario);
      if (reason !== null) skip(reason);
      if (failure !== null) throw errorOf(scenario, failure);
    });
  }
}

/** Makes an error whose first frame is the step, so that vitest shows the lines of the scenario. */
function errorOf({ name }: Scenario, failure: Failure): Error {
  const error = new Error(failureLines(failure, plainPaint, 96).join("\n"));
  const place = placeText({ ...failure.place, file: resolve(failure.place.file) });
  error.stack = `${error.name}: ${error.message}\n    at ${JSON.stringify(name)} (${place})`;
  return error;
}
