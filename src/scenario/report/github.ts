import { appendFileSync } from "node:fs";
import {
  type Place,
  placeText,
  problemText,
  sentenceOf,
  type WrongFile,
  wrongFilesText,
} from "../language/problem.ts";
import type { Failure, ScenarioResult, SuiteResult } from "../run/result.ts";
import { DIFF_MARKS } from "./lines.ts";
import type { MakeReporter } from "./reporter.ts";
import { count, durationText, grouped, oneLine, printable, title, visible } from "./text.ts";

const encoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

const commandMessage = (text: string): string => printable(text).replace(/[%\r\n]/g, encoded);
const commandProperty = (text: string): string => printable(text).replace(/[%\r\n:,]/g, encoded);

/** An annotation at a place, as a workflow command; what XML 1.0 forbids becomes U+FFFD. */
function annotation(
  kind: "error" | "notice",
  { file, line, column }: Place,
  title: string,
  text: string,
): string {
  const properties = Object.entries({ file, line: `${line}`, col: `${column}`, title })
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${commandProperty(value)}`);
  return `::${kind} ${properties.join(",")}::${commandMessage(text)}\n`;
}

function failureText({ step, text, message, diff, repeat }: Failure): string {
  const lines = diff.map((line) => `${DIFF_MARKS[line.kind]} ${line.text}`);
  return [message, `step ${step}: ${text}`, ...lines, `repeat: ${repeat}`].join("\n");
}

/**
 * GitHub's annotations: an error at the line of each failure, a notice for each scenario that was skipped; and the
 * failures once more in the summary of the job, since GitHub shows ten annotations of a kind for each step.
 */
export const githubReporter: MakeReporter = ({ write, summaryPath }) => {
  /** A summary that cannot be written is a warning: the results stand all the same. */
  const summarize = (text: string): void => {
    if (summaryPath === null || text === "") return;
    try {
      appendFileSync(summaryPath, text);
    } catch (error) {
      const message = `the job summary is not written: ${String(error)}`;
      write(`::warning title=clobsim::${commandMessage(message)}\n`);
    }
  };
  return {
    finished: ({ name, place, status, reason, failure }) => {
      const text = failure === null ? "failed" : failureText(failure);
      if (status === "failed") write(annotation("error", failure?.place ?? place, name, text));
      if (status === "skipped")
        write(annotation("notice", place, name, `skipped: ${reason ?? "no reason given"}`));
    },
    ended: (suite) => summarize(jobSummary(suite)),
    wrong: (files) => {
      for (const problem of files.flatMap((file) => file.problems))
        write(annotation("error", problem.place, "wrong scenario file", sentenceOf(problem)));
      summarize(wrongFilesSummary(files));
    },
  };
};

/** GitHub refuses the summary of a step above 1 MiB; what other tools write to it needs room too. */
const MAX_BYTES = 768 * 1024;

/** Words in Markdown that mean themselves: CommonMark lets any ASCII punctuation be escaped. */
const markdownText = (text: string): string => oneLine(text).replace(/[!-/:-@[-`{-~]/g, "\\$&");

/** A block of code with a fence longer than any run of backticks inside. */
function codeLines(language: string, lines: readonly string[]): string[] {
  const runs = lines.flatMap((line) => line.match(/`+/g) ?? []);
  const fence = "`".repeat(Math.max(2, ...runs.map(({ length }) => length)) + 1);
  return [`${fence}${language}`, ...lines, fence];
}

function failureMarkdown({ name, place, failure }: ScenarioResult): string {
  const heading = [`### ${markdownText(title(name))}`, ""];
  if (failure === null) return [...heading, ...codeLines("", [visible(placeText(place))]), "", ""].join("\n");
  const diff = failure.diff.map(({ kind, text }) => `${DIFF_MARKS[kind]} ${visible(text)}`.trimEnd());
  return [
    ...heading,
    `${markdownText(failure.message)}  `,
    `step ${failure.step} at ${markdownText(placeText(failure.place))}`,
    "",
    ...codeLines("", [visible(failure.text)]),
    "",
    ...(diff.length === 0 ? [] : [...codeLines("diff", diff), ""]),
    ...codeLines("sh", [visible(failure.repeat)]),
    "",
    "",
  ].join("\n");
}

/** As many texts as fit into what GitHub takes, and how many are left. */
function fitting(texts: readonly string[]): { readonly kept: readonly string[]; readonly left: number } {
  let bytes = 0;
  const end = texts.findIndex((text) => {
    bytes += Buffer.byteLength(text) + 1;
    return bytes > MAX_BYTES;
  });
  const kept = end < 0 ? texts : texts.slice(0, end);
  return { kept, left: texts.length - kept.length };
}

/** What is wrong with files in Markdown, at most 768 KiB of it. */
export function wrongFilesSummary(files: readonly WrongFile[]): string {
  const problems = files.flatMap((file) => file.problems);
  const { kept, left } = fitting(problems.map((problem) => oneLine(problemText(problem))));
  const more = left === 0 ? "" : `\nand ${count(left, "more problem")}: see the log\n`;
  return `## clobsim: ${wrongFilesText(files)}\n\n${codeLines("", kept).join("\n")}\n${more}`;
}

/** The failures of a suite in Markdown, at most 768 KiB of it; nothing where none failed. */
export function jobSummary({ results, passed, failed, skipped, durationMs }: SuiteResult): string {
  const failures = results.filter(({ status }) => status === "failed");
  if (failures.length === 0) return "";
  const { kept, left } = fitting(failures.map(failureMarkdown));
  const counts = `${grouped(passed)} passed, ${grouped(failed)} failed, ${grouped(skipped)} skipped`;
  const more = left === 0 ? "" : `and ${count(left, "more failure")}: see the log\n`;
  return [`## clobsim: ${counts} in ${durationText(durationMs)}\n\n`, ...kept, more].join("");
}
