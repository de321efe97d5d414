import { problemText } from "../../../src/scenario/language/page.ts";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import type { Scenario } from "../../../src/scenario/language/steps.ts";
import type { Failure, ScenarioResult } from "../../../src/scenario/run/result.ts";
import { type RunOptions, runScenario } from "../../../src/scenario/run/run-scenario.ts";
import { runSuite, type SuiteOptions } from "../../../src/scenario/run/run-suite.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";
import { TestFolder } from "../../support/folder.ts";

type Options = Partial<Omit<SuiteOptions, "startServer">>;

/** A temporary folder of scenario files. */
export class ScenarioFolder extends TestFolder {
  #files = 0;

  /** Writes a scenario file and reads it. @throws Error with its problems. */
  scenario(text: string, name?: string): Scenario {
    this.#files += 1;
    return scenarioAt(this.write(name ?? `scenario-${this.#files}.yaml`, text));
  }

  /** Runs a scenario with this text; by default in this process. */
  run(text: string, options: Options = {}, name?: string): Promise<ScenarioResult> {
    return resultOf(this.scenario(text, name), options);
  }

  /** Runs a scenario that fails. @throws Error if it does not. */
  async failure(text: string, options: Options = {}): Promise<Failure> {
    const { failure, status } = await this.run(text, options);
    if (failure === null) throw new Error(`the scenario ${status}`);
    return failure;
  }
}

/** Reads a scenario file. @throws Error with its problems. */
export function scenarioAt(path: string): Scenario {
  const { scenario, problems } = loadScenario(path);
  if (scenario !== null) return scenario;
  throw new Error(problems.map(problemText).join("\n"));
}

/** Runs a scenario; by default in this process. */
export async function resultOf(scenario: Scenario, options: Options = {}): Promise<ScenarioResult> {
  const usual = { via: "process", startServer: startScenarioServer } as const;
  const { results } = await runSuite([scenario], { ...usual, ...options });
  return results[0] as ScenarioResult;
}

/** Runs a scenario on an exchange in this process, by default one without defects. */
export async function runOn(
  scenario: Scenario,
  venue = new LocalVenue(scenario),
  options: Partial<RunOptions> = {},
): Promise<ScenarioResult> {
  return (await runScenario(scenario, { open: () => venue, ...options })).result;
}

const MARKS = { same: " ", expected: "-", found: "+", note: "#" } as const;

/** Returns the comparison of a failure as a report shows it, with a mark before each line; nothing without a failure. */
export const diffOf = (failure: Failure | null): string[] =>
  failure?.diff.map(({ kind, text }) => `${MARKS[kind]} ${text}`) ?? [];
