import { inProcess } from "../../../src/fuzz/in-process.ts";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import { runSuite } from "../../../src/scenario/run/run-suite.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";

/** Runs seeds until one fails: first the given one, then a thousand from 0 on. Describes the failure. */
async function firstFailure(known: number): Promise<string> {
  for (const seed of [known, ...Array(1_000).keys()]) {
    const { failure } = await inProcess.run(seed, 300);
    if (failure !== null) return `seed ${seed}, command ${failure.command}: ${failure.sentence}`;
  }
  return "no seed fails";
}

/** Runs a scenario. Returns how it ends. */
async function resultOf(path: string): Promise<string> {
  const { scenario } = loadScenario(path);
  if (scenario === null) return "unreadable";
  const { results } = await runSuite([scenario], { via: "auto", startServer: startScenarioServer });
  return String(results[0]?.status);
}

// Each argument is a seed or the path of a scenario. A line for each says what it finds.
for (const argument of process.argv.slice(2)) {
  const found = /^\d+$/.test(argument) ? await firstFailure(Number(argument)) : await resultOf(argument);
  process.stdout.write(`${found}\n`);
}
