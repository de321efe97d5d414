import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { problemText } from "../../../src/scenario/language/problem.ts";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import type { Scenario } from "../../../src/scenario/language/scenario.ts";
import type { Failure, ScenarioResult } from "../../../src/scenario/run/result.ts";
import { runSuite, type SuiteOptions } from "../../../src/scenario/run/run-suite.ts";
import { startScenarioServer } from "../../../src/scenario-server.ts";

type Options = Partial<Omit<SuiteOptions, "startServer">>;

/** A folder of scenario files of a test's own, gone after its tests. */
export class Desk {
  readonly path = mkdtempSync(join(tmpdir(), "clobsim-run-"));
  #files = 0;

  constructor() {
    afterAll(() => rmSync(this.path, { recursive: true }));
  }

  /** Where a file lies or would lie. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Writes a file, and answers its path. */
  write(name: string, text: string): string {
    const path = this.at(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  read(name: string): string {
    return readFileSync(this.at(name), "utf8");
  }

  /** A scenario file with this text. @throws Error with all that is wrong with it. */
  scenario(text: string, name?: string): Scenario {
    this.#files += 1;
    const { scenario, problems } = loadScenario(this.write(name ?? `scenario-${this.#files}.yaml`, text));
    if (scenario !== null && problems.length === 0) return scenario;
    throw new Error(problems.map(problemText).join("\n"));
  }

  /** What running a file with this text comes to; in this process unless told otherwise. */
  run(text: string, options: Options = {}): Promise<ScenarioResult> {
    return resultOf(this.scenario(text), options);
  }

  /** Why it fails. @throws Error when it does not. */
  async failure(text: string, options: Options = {}): Promise<Failure> {
    const { failure, status } = await this.run(text, options);
    if (failure === null) throw new Error(`the scenario ${status}`);
    return failure;
  }
}

/** What running one scenario comes to; in this process unless told otherwise. */
export async function resultOf(scenario: Scenario, options: Options = {}): Promise<ScenarioResult> {
  const { results } = await runSuite([scenario], {
    via: "process",
    startServer: startScenarioServer,
    ...options,
  });
  return results[0] as ScenarioResult;
}

const MARKS = { same: " ", expected: "-", found: "+", note: "#" } as const;

/** The comparison of a failure as a report shows it, a mark before each line. */
export const diffOf = ({ diff }: Failure): string[] => diff.map(({ kind, text }) => `${MARKS[kind]} ${text}`);

/** Line and column where a failure stands. */
export const spotOf = ({ place: { line, column } }: Failure): string => `${line}:${column}`;

/** What a failure says, without the folder of the test. */
export const toldBy = (failure: Failure) => ({
  at: spotOf(failure),
  message: failure.message,
  diff: diffOf(failure),
});
