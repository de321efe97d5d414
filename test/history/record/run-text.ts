import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { problemText } from "../../../src/scenario/language/problem.ts";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import type { Scenario } from "../../../src/scenario/language/scenario.ts";
import type { ScenarioResult } from "../../../src/scenario/run/result.ts";
import { runSuite } from "../../../src/scenario/run/run-suite.ts";
import { startScenarioServer } from "../../../src/scenario-server.ts";

/** A scenario that is read from a file with this text. @throws Error with all that is wrong with it. */
export function readText(text: string): Scenario {
  const folder = mkdtempSync(join(tmpdir(), "clobsim-record-"));
  try {
    const file = join(folder, "recorded.yaml");
    writeFileSync(file, text);
    const { scenario, problems } = loadScenario(file);
    if (scenario !== null && problems.length === 0) return scenario;
    throw new Error([...problems.map(problemText), text].join("\n"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What running the file comes to, in this process or over HTTP. */
export async function runText(text: string, via: "process" | "http" = "process"): Promise<ScenarioResult> {
  const { results } = await runSuite([readText(text)], { via, startServer: startScenarioServer });
  return results[0] as ScenarioResult;
}

/** Why running the file fails, in words; null when it passes. */
export async function failureOf(text: string, via?: "process" | "http"): Promise<string | null> {
  const { failure } = await runText(text, via);
  if (failure === null) return null;
  const diff = failure.diff.map(({ kind, text: line }) => `${kind} ${line}`);
  return [`step ${failure.step}, ${failure.text}: ${failure.message}`, ...diff].join("\n");
}
