import { placeText, problemText, sentenceOf, type WrongFile } from "../language/page.ts";
import type { ScenarioResult } from "../run/result.ts";
import { byFolder, countOf, durationOf, failureLines } from "./spec.ts";
import { type MakeReporter, plainPaint, printable, roundedText, WIDTH } from "./text.ts";

const SECOND_PLACES = 6;

const seconds = (ms: number): string => roundedText(ms / 1000, SECOND_PLACES);

/** The format of Jenkins and GitLab: a suite for each folder, durations in seconds. Characters forbidden by XML become U+FFFD. */
export const junitReporter: MakeReporter = ({ write, seed }) => {
  const print = (numbers: Record<string, number>, time: string, suites: readonly string[]): void => {
    const root = xmlAttributes({ name: "clobsim", ...numbers, time });
    const head = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites${root}>`];
    write(`${[...head, ...suites, "</testsuites>"].join("\n")}\n`);
  };
  return {
    ended: ({ results, durationMs }) => {
      const suites = [...byFolder(results)].flatMap(([folder, own]) => suiteLines(folder, own, seed));
      print(numbersOf(results), seconds(durationMs), suites);
    },
    // Each file is a suite, and each problem a case with an error.
    wrong: (files) => {
      const problems = files.flatMap((file) => file.problems).length;
      print(errorsOf(problems), "0", files.flatMap(wrongLines));
    },
  };
};

function suiteLines(folder: string, results: readonly ScenarioResult[], seed: string | null): string[] {
  const time = seconds(durationOf(results));
  const property = `      <property${xmlAttributes({ name: "seed", value: seed ?? "" })}/>`;
  return [
    `  <testsuite${xmlAttributes({ name: folder, ...numbersOf(results), time })}>`,
    ...(seed === null ? [] : ["    <properties>", property, "    </properties>"]),
    ...results.flatMap(caseLines),
    "  </testsuite>",
  ];
}

const numbersOf = (results: readonly ScenarioResult[]): Record<string, number> => ({
  ...errorsOf(0),
  tests: results.length,
  failures: countOf(results, "failed"),
  skipped: countOf(results, "skipped"),
});

const errorsOf = (errors: number) => ({ tests: errors, failures: 0, errors, skipped: 0 });

function wrongLines({ file, problems }: WrongFile): string[] {
  const cases = problems.flatMap((problem) => {
    const { place } = problem;
    const at = { name: placeText(place), classname: file, file: place.file, line: place.line, time: "0" };
    const error = xmlAttributes({ message: sentenceOf(problem), type: "wrong file" });
    return [
      `    <testcase${xmlAttributes(at)}>`,
      `      <error${error}>${xmlText(problemText(problem))}</error>`,
      "    </testcase>",
    ];
  });
  const suite = xmlAttributes({ name: file, ...errorsOf(problems.length), time: "0" });
  return [`  <testsuite${suite}>`, ...cases, "  </testsuite>"];
}

function caseLines(result: ScenarioResult): string[] {
  const { name, file, durationMs } = result;
  const { line } = result.place;
  const open = `    <testcase${xmlAttributes({ name, classname: file, file, line, time: seconds(durationMs) })}`;
  const inside = outcomeOf(result);
  return inside === null ? [`${open}/>`] : [`${open}>`, `      ${inside}`, "    </testcase>"];
}

function outcomeOf({ status, reason, failure }: ScenarioResult): string | null {
  if (status === "passed") return null;
  if (status === "skipped") return `<skipped${xmlAttributes({ message: reason ?? "" })}/>`;
  const open = `<failure${xmlAttributes({ message: failure?.message ?? "", type: "failed" })}>`;
  const text = failure === null ? "" : failureLines(failure, plainPaint, WIDTH).join("\n");
  return `${open}${xmlText(text)}</failure>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

const entityOf = (character: string): string => ENTITIES[character] ?? character;

/** Escapes text between tags. A carriage return becomes a reference, because readers convert it to a line feed. */
export const xmlText = (text: string): string => printable(text).replace(/[&<>\r]/g, entityOf);

/** Writes an attribute after a space. White space other than spaces becomes references, because readers convert it. */
export const xmlAttribute = (name: string, value: string | number): string =>
  ` ${name}="${printable(String(value)).replace(/[&<>"\t\n\r]/g, entityOf)}"`;

const xmlAttributes = (attributes: Readonly<Record<string, string | number>>): string =>
  Object.entries(attributes)
    .map(([name, value]) => xmlAttribute(name, value))
    .join("");
