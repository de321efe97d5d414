import { beforeAll, describe, expect, it } from "vitest";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import { needsHttp, type Scenario } from "../../../src/scenario/language/steps.ts";
import { findFiles } from "../../../src/scenario/run/files.ts";
import type { ScenarioResult } from "../../../src/scenario/run/result.ts";
import { runSuite } from "../../../src/scenario/run/run-suite.ts";
import { startScenarioServer } from "../../../src/scenario-server.ts";
import { casesAtLevel } from "../../support/runs.ts";

const SCENARIOS = casesAtLevel(findFiles(["scenarios"]))
  .map((file) => loadScenario(file).scenario as Scenario)
  .filter((scenario) => !needsHttp(scenario));

const run = async (via: "process" | "http"): Promise<ReadonlyMap<string, ScenarioResult>> => {
  const { results } = await runSuite(SCENARIOS, { via, startServer: startScenarioServer });
  return new Map(results.map((result) => [result.file, result]));
};

describe("a scenario has the same results in this process and over HTTP", () => {
  let here: ReadonlyMap<string, ScenarioResult>;
  let there: ReadonlyMap<string, ScenarioResult>;

  beforeAll(async () => {
    here = await run("process");
    there = await run("http");
  }, 120_000);

  it.each(SCENARIOS.map(({ place, name }) => [name, place.file]))("%s", (_name, file) => {
    const [local, remote] = [here.get(file), there.get(file)];
    expect(local?.failure).toBeNull();
    expect(remote?.failure).toBeNull();
    expect(remote?.transcript).toEqual(local?.transcript);
    expect(remote?.races).toEqual(local?.races);
    expect(remote?.stateHash).toBe(local?.stateHash);
    expect(local?.stateHash).toMatch(/^v2:[0-9a-f]{64}$/);
  });
});
