import { type Place, type Problem, problemText, sentenceOf, wrongFilesText } from "../language/problem.ts";
import type { DiffLine, Failure } from "../run/result.ts";
import type { MakeReporter } from "./reporter.ts";
import { oneLine, roundedText, title, wellFormed } from "./text.ts";

const MILLISECOND_PLACES = 3;

/**
 * Escapes a description or reason for TAP 14. A `{` at the end becomes U+FF5B, because node-tap's readers would open a
 * subtest, and it cannot be escaped.
 */
const tapText = (text: string): string => text.replace(/\{$/, "\uff5b").replace(/[\\#]/g, "\\$&");

/** Characters not printable in YAML 1.2 (production 5.1), or line breaks in JavaScript or YAML 1.1. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Writes a double-quoted scalar on one line, valid in YAML 1.1, YAML 1.2 and JSON. */
const yamlText = (text: string): string =>
  JSON.stringify(wellFormed(text)).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const yamlList = (key: string, texts: readonly string[]): string[] =>
  texts.length === 0 ? [`${key}: []`] : [`${key}:`, ...texts.map((text) => `  - ${yamlText(text)}`)];

const textsOf = (diff: readonly DiffLine[], ...kinds: readonly DiffLine["kind"][]): string[] =>
  diff.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text);

const placeLines = ({ file, line, column }: Place): string[] => [
  "at:",
  `  file: ${yamlText(file)}`,
  `  line: ${line}`,
  `  column: ${column}`,
];

const problemLines = (problem: Problem): string[] => [
  `message: ${yamlText(sentenceOf(problem))}`,
  "severity: fail",
  ...placeLines(problem.place),
];

function failureLines({ place, step, text, message, diff, recent, repeat }: Failure, seed: string): string[] {
  return [
    `message: ${yamlText(message)}`,
    "severity: fail",
    ...placeLines(place),
    `step: ${step}`,
    `text: ${yamlText(text)}`,
    ...yamlList("expected", textsOf(diff, "same", "expected")),
    ...yamlList("found", textsOf(diff, "same", "found")),
    ...yamlList("notes", textsOf(diff, "note")),
    ...yamlList("recent", recent),
    `seed: ${yamlText(seed)}`,
    `repeat: ${yamlText(repeat)}`,
  ];
}

/** TAP 14; durations as node-tap's `time` directive. `expected` and `found` are the complete compared texts. */
export const tapReporter: MakeReporter = ({ write }) => {
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
      const directive =
        status === "skipped"
          ? `SKIP ${tapText(oneLine(reason ?? ""))}`.trimEnd()
          : `time=${roundedText(durationMs, MILLISECOND_PLACES)}ms`;
      const outcome = status === "failed" ? "not ok" : "ok";
      print([
        `${outcome} ${number} - ${tapText(title(name))} # ${directive}`,
        ...(failure === null ? [] : details(failureLines(failure, seed))),
      ]);
    },
    // The plan does not hold if the suite ended early.
    ended: () => {
      if (number < planned) write(`Bail out! ${number} of ${planned} scenarios were run\n`);
    },
    wrong: (files) => {
      const problems = files.flatMap((file) => file.problems);
      const points = problems.flatMap((problem, index) => [
        `not ok ${index + 1} - ${tapText(oneLine(problemText(problem)))}`,
        ...details(problemLines(problem)),
      ]);
      print(["TAP version 14", `1..${problems.length}`, ...points, `# ${wrongFilesText(files)}`]);
    },
  };
};

const details = (lines: readonly string[]): string[] => ["---", ...lines, "..."].map((line) => `  ${line}`);
