import { problemText } from "../../../src/scenario/language/page.ts";
import { type ReadOptions, readScenario } from "../../../src/scenario/language/read-scenario.ts";
import type { Scenario, Step } from "../../../src/scenario/language/steps.ts";
import type { PageText } from "../../support/page.ts";

const lines = (steps: readonly string[]): string => steps.map((step) => `  - ${step}\n`).join("");

/** Returns a scenario of these steps, with alice and bob and one market; the first step is on line 4. */
export const ofSteps = (...steps: string[]): string =>
  `scenario: x\naccounts: { alice: { USDC: 10 }, bob: {} }\nsteps:\n${lines(steps)}`;

/** Returns the same with only alice and two markets; the first step is on line 5. */
export const ofTwoMarkets = (...steps: string[]): string =>
  `scenario: x\nmarkets: { rain: {}, snow: {} }\naccounts: { alice: {} }\nsteps:\n${lines(steps)}`;

/** Returns a scenario with this second line. */
export const withLine = (line: string): string =>
  `scenario: x\n${line}\naccounts: { alice: {} }\nsteps: [{ advance: 1s }]\n`;

/** Files of a page's texts, by the heading of their section. */
const FRAMES: Readonly<Record<string, (text: string) => string>> = {
  headers: (line) => withLine(line.trimEnd()),
  files: (text) => text,
  steps: (text) => ofSteps() + text,
  markets: (text) => ofTwoMarkets() + text,
};

/** Returns the file that a text of a page stands for. */
export function fileOf({ heading, text }: PageText): string {
  const frame = FRAMES[heading];
  if (frame === undefined) throw new Error(`there are no files below ${heading}`);
  return frame(text);
}

/** An order named bid. */
export const BID = "alice: BUY 10 YES @ 0.5 as bid";

/** Returns the problems of a file. */
export const problemsOf = (text: string, options: ReadOptions = {}): string[] =>
  readScenario("x.yaml", text, options).problems.map(problemText);

/** Reads a valid file. */
export function scenarioOf(text: string, options: ReadOptions = {}): Scenario {
  const { scenario, problems } = readScenario("x.yaml", text, options);
  if (scenario === null) throw new Error(problems.map(problemText).join("\n"));
  return scenario;
}

/** Returns the last step of a valid file. */
export function lastStep(text: string, options: ReadOptions = {}): Step {
  const step = scenarioOf(text, options).steps.at(-1);
  if (step === undefined) throw new Error("no step");
  return step;
}

/** Formats a value that was read as JSON, with places as line and column. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (key, of) => (key === "place" ? `${of.line}:${of.column}` : of));

/** Returns what a step does, as JSON. */
export function contentOf({ number: _, text: __, place: ___, ...content }: Step): string {
  return jsonOf(content);
}
