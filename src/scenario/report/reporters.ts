import { jsonEscape } from "../../core/format.ts";
import {
  type Place,
  placeText,
  problemText,
  sentenceOf,
  type WrongFile,
  wrongFilesText,
} from "../language/page.ts";
import type { DiffLine, Failure, ScenarioResult } from "../run/result.ts";
import { githubReporter } from "./github.ts";
import { byFolder, countOf, durationOf, failureLines, specReporter } from "./spec.ts";
import {
  type MakeReporter,
  oneLine,
  plainPaint,
  printable,
  type ReporterName,
  roundedText,
  title,
  WIDTH,
  wellFormed,
} from "./text.ts";

/** Version of the document, raised by incompatible changes. */
const VERSION = 1;

/** Order of the keys at every level. */
const KEYS = [
  ["version", "file", "line", "column", "name", "place", "seed", "way", "status", "reason", "failure"],
  ["steps", "passed", "failed", "skipped", "durationMs", "stateHash", "races", "written", "transcript"],
  ["problems", "scenarios", "step", "kind", "text", "message", "hint", "includedFrom"],
  ["diff", "recent", "repeat", "outcomes", "lines", "after"],
].flat();

const jsonReporter: MakeReporter = ({ write, seed, verbose }) => {
  const keys = verbose ? KEYS : KEYS.filter((key) => key !== "transcript");
  const print = (content: object): void =>
    write(`${JSON.stringify({ version: VERSION, seed, ...content }, keys, 2)}\n`);
  return {
    ended: ({ results, ...counts }) => print({ ...counts, problems: [], scenarios: results }),
    // Each invalid file counts as failed.
    wrong: (files) => {
      const problems = files.flatMap((file) => file.problems);
      print({ passed: 0, failed: files.length, skipped: 0, durationMs: 0, problems, scenarios: [] });
    },
  };
};

const SECOND_PLACES = 6;

const seconds = (ms: number): string => roundedText(ms / 1000, SECOND_PLACES);

/** The format of Jenkins and GitLab: a suite for each folder, durations in seconds. Characters forbidden by XML become U+FFFD. */
const junitReporter: MakeReporter = ({ write, seed }) => {
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

/** Writes attributes, each after a space. White space other than spaces becomes references, because readers convert it. */
export const xmlAttributes = (attributes: Readonly<Record<string, string | number>>): string =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${printable(String(value)).replace(/[&<>"\t\n\r]/g, entityOf)}"`)
    .join("");

const MILLISECOND_PLACES = 3;

/**
 * Escapes a description or reason for TAP 14. A `{` at the end becomes U+FF5B, because node-tap's readers would open a
 * subtest, and it cannot be escaped.
 */
const tapText = (text: string): string => text.replace(/\{$/, "\uff5b").replace(/[\\#]/g, "\\$&");

/** Characters not printable in YAML 1.2 (production 5.1), or line breaks in JavaScript or YAML 1.1. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Writes a double-quoted scalar on one line, valid in YAML 1.1, YAML 1.2 and JSON. */
const yamlText = (text: string): string => JSON.stringify(wellFormed(text)).replace(UNPRINTABLE, jsonEscape);

/** Writes a mapping of texts, numbers, lists of texts and such mappings. */
const yamlLines = (content: object): string[] =>
  Object.entries(content).flatMap(([key, value]) => {
    if (typeof value !== "object") return `${key}: ${typeof value === "number" ? value : yamlText(value)}`;
    const lines = Array.isArray(value) ? value.map((text) => `- ${yamlText(text)}`) : yamlLines(value);
    return lines.length === 0 ? `${key}: []` : [`${key}:`, ...lines.map((line) => `  ${line}`)];
  });

/** Writes the diagnostics of a test point. */
function detailLines(message: string, { file, line, column }: Place, more: object = {}): string[] {
  const at = { file, line, column };
  const fields = [...yamlLines({ message }), "severity: fail", ...yamlLines({ at, ...more })];
  return ["---", ...fields, "..."].map((each) => `  ${each}`);
}

const textsOf = (diff: readonly DiffLine[], ...kinds: readonly DiffLine["kind"][]): string[] =>
  diff.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text);

function diagnosticLines(
  { place, step, text, message, diff, recent, repeat }: Failure,
  seed: string,
): string[] {
  const expected = textsOf(diff, "same", "expected");
  const found = textsOf(diff, "same", "found");
  const notes = textsOf(diff, "note");
  return detailLines(message, place, { step, text, expected, found, notes, recent, seed, repeat });
}

/** TAP 14; durations as node-tap's `time` directive. `expected` and `found` are the complete compared texts. */
const tapReporter: MakeReporter = ({ write }) => {
  let planned = 0;
  let number = 0;
  const print = (lines: readonly string[]): void => write(`${lines.join("\n")}\n`);
  return {
    started: ({ scenarios }) => {
      planned = scenarios;
      print(["TAP version 14", `1..${scenarios}${scenarios === 0 ? " # SKIP no scenarios" : ""}`]);
    },
    finished: ({ name, status, reason, failure, durationMs, seed }) => {
      number += 1;
      const time = `time=${roundedText(durationMs, MILLISECOND_PLACES)}ms`;
      const directive = status === "skipped" ? `SKIP ${tapText(oneLine(reason ?? ""))}`.trimEnd() : time;
      const result = status === "failed" ? "not ok" : "ok";
      const details = failure === null ? [] : diagnosticLines(failure, seed);
      print([`${result} ${number} - ${tapText(title(name))} # ${directive}`, ...details]);
    },
    // The plan does not hold if the suite ended early.
    ended: () => {
      if (number < planned) write(`Bail out! ${number} of ${planned} scenarios were run\n`);
    },
    wrong: (files) => {
      const problems = files.flatMap((file) => file.problems);
      const points = problems.flatMap((problem, index) => [
        `not ok ${index + 1} - ${tapText(oneLine(problemText(problem)))}`,
        ...detailLines(sentenceOf(problem), problem.place),
      ]);
      print(["TAP version 14", `1..${problems.length}`, ...points, `# ${wrongFilesText(files)}`]);
    },
  };
};

export const REPORTERS: Readonly<Record<ReporterName, MakeReporter>> = {
  spec: specReporter,
  json: jsonReporter,
  junit: junitReporter,
  tap: tapReporter,
  github: githubReporter,
};
