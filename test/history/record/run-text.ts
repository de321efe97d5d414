import { problemText } from "../../../src/scenario/language/page.ts";
import { readScenario } from "../../../src/scenario/language/read-scenario.ts";
import { runSuite } from "../../../src/scenario/run/run-suite.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";

/**
 * Runs the text of a scenario, in this process or over HTTP, and describes its failure; null if it passes.
 * @throws Error with the problems of the text
 */
export async function failureOf(text: string, via: "process" | "http" = "process"): Promise<string | null> {
  const { scenario, problems } = readScenario("recorded.yaml", text, { folder: "." });
  if (scenario === null || problems.length > 0) {
    throw new Error([...problems.map(problemText), text].join("\n"));
  }
  const { results } = await runSuite([scenario], { via, startServer: startScenarioServer });
  const failure = results[0]?.failure ?? null;
  if (failure === null) return null;
  const diff = failure.diff.map(({ kind, text: line }) => `${kind} ${line}`);
  return [`step ${failure.step}, ${failure.text}: ${failure.message}`, ...diff].join("\n");
}
