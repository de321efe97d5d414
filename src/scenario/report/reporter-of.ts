import { jsonEscape } from "../../core/format.ts";
import { ConfigError, didYouMean } from "../../setting.ts";
import { type Place, problemText, sentenceOf, wrongFilesText } from "../language/page.ts";
import type { DiffLine, Failure } from "../run/result.ts";
import { githubReporter } from "./github.ts";
import { junitReporter } from "./junit.ts";
import { specReporter } from "./spec.ts";
import { type MakeReporter, oneLine, REPORTER_NAMES, roundedText, title, wellFormed } from "./text.ts";

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

function failureLines({ place, step, text, message, diff, recent, repeat }: Failure, seed: string): string[] {
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
      const outcome = status === "failed" ? "not ok" : "ok";
      const details = failure === null ? [] : failureLines(failure, seed);
      print([`${outcome} ${number} - ${tapText(title(name))} # ${directive}`, ...details]);
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

type ReporterName = (typeof REPORTER_NAMES)[number];

export const REPORTERS: Readonly<Record<ReporterName, MakeReporter>> = {
  spec: specReporter,
  json: jsonReporter,
  junit: junitReporter,
  tap: tapReporter,
  github: githubReporter,
};

/** Parses `junit` or `junit=out.xml`; the file is null for standard output. @throws ConfigError */
export function parseReporterArgument(argument: string) {
  const [, given = "", file = null] = /^([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
  const name = REPORTER_NAMES.find((each) => each === given);
  if (name === undefined) {
    const hint = didYouMean(given, REPORTER_NAMES) || `, expected one of ${REPORTER_NAMES.join(", ")}`;
    throw new ConfigError(`--reporter: unknown reporter ${JSON.stringify(given)}${hint}`);
  }
  if (file !== "") return { name, file };
  throw new ConfigError(`--reporter: expected ${name}=FILE or ${name}, found ${JSON.stringify(argument)}`);
}
