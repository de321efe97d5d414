import { appendFileSync, statSync } from "node:fs";
import {
  type Place,
  placeText,
  problemText,
  sentenceOf,
  type WrongFile,
  wrongFilesText,
} from "../language/page.ts";
import type { Failure, ScenarioResult, SuiteResult } from "../run/result.ts";
import { DIFF_MARKS } from "./spec.ts";
import {
  count,
  durationText,
  grouped,
  type MakeReporter,
  oneLine,
  printable,
  title,
  visible,
} from "./text.ts";

const encoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

function failureText({ step, text, message, diff, repeat }: Failure): string {
  const lines = diff.map((line) => `${DIFF_MARKS[line.kind]} ${line.text}`);
  return [message, `step ${step}: ${text}`, ...lines, `repeat: ${repeat}`].join("\n");
}

/**
 * Writes an error at the line of each failure, a notice for each skipped scenario, and the totals for the log. GitHub shows
 * ten errors and ten notices of a step.
 */
export const githubReporter: MakeReporter = ({ write, pathInRepository }) => {
  /** Writes a workflow command; characters that XML 1.0 forbids become U+FFFD. */
  const annotate = (kind: "error" | "notice", place: Place, title: string, text: string): void => {
    const { file, line, column } = place;
    const fields = { file: pathInRepository(file), line: `${line}`, col: `${column}`, title };
    const given = Object.entries(fields).filter(([, value]) => value !== "");
    const properties = given.map(
      ([name, value]) => `${name}=${printable(value).replace(/[%\r\n:,]/g, encoded)}`,
    );
    write(`::${kind} ${properties.join(",")}::${printable(text).replace(/[%\r\n]/g, encoded)}\n`);
  };
  return {
    finished: ({ name, place, status, reason, failure }) => {
      const text = failure === null ? "failed" : failureText(failure);
      if (status === "failed") annotate("error", failure?.place ?? place, name, text);
      if (status === "skipped") annotate("notice", place, name, `skipped: ${reason ?? "no reason given"}`);
    },
    ended: (suite) => write(`${totalsText(suite)}\n`),
    wrong: (files) => {
      for (const problem of files.flatMap((file) => file.problems))
        annotate("error", problem.place, "wrong scenario file", sentenceOf(problem));
    },
  };
};

/** GitHub refuses the summary of a step above 1 MiB, which other tools also write to. */
const MAX_BYTES = 768 * 1024;
const MAX_FILE_BYTES = 1024 * 1024;
/** For a heading, fences and the count of omitted lines. */
const RESERVE_BYTES = 4096;

/** Appends `textIn(bytes)`, which may have that many bytes and a heading. Returns why it was not written, or null. */
export function appendSummary(path: string, textIn: (bytes: number) => string): string | null {
  try {
    const taken = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const room = Math.min(MAX_BYTES, MAX_FILE_BYTES - RESERVE_BYTES - taken);
    if (room < 0) return `the job summary is not written: ${path} is full`;
    appendFileSync(path, textIn(room));
    return null;
  } catch (error) {
    return `the job summary is not written: ${(error as Error).message}`;
  }
}

/** Escapes a text for Markdown: CommonMark allows escapes of all ASCII punctuation. */
const markdownText = (text: string): string => oneLine(text).replace(/[!-/:-@[-`{-~]/g, "\\$&");

/** Returns a code block, whose fence is longer than any run of backticks inside. */
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

/** Returns the first texts that fit into `max` bytes, and the number of the others. */
function fitting(texts: readonly string[], max: number) {
  let bytes = 0;
  const end = texts.findIndex((text) => {
    bytes += Buffer.byteLength(text) + 1;
    return bytes > max;
  });
  const kept = end < 0 ? texts : texts.slice(0, end);
  return { kept, left: texts.length - kept.length };
}

export function codeSummary(heading: string, lines: readonly string[], what: string, bytes = MAX_BYTES) {
  const { kept, left } = fitting(lines.map(visible), bytes);
  const more = left === 0 ? "" : `\nand ${count(left, `more ${what}`)}: see the log\n`;
  return `## clobsim: ${heading}\n\n${codeLines("", kept).join("\n")}\n${more}`;
}

export function wrongFilesSummary(files: readonly WrongFile[], bytes = MAX_BYTES): string {
  const problems = files.flatMap((file) => file.problems.map((problem) => oneLine(problemText(problem))));
  return codeSummary(wrongFilesText(files), problems, "problem", bytes);
}

const totalsText = ({ passed, failed, skipped, durationMs }: SuiteResult): string =>
  `${grouped(passed)} passed, ${grouped(failed)} failed, ${grouped(skipped)} skipped in ${durationText(durationMs)}`;

export function jobSummary(suite: SuiteResult, bytes = MAX_BYTES): string {
  const failures = suite.results.filter(({ status }) => status === "failed");
  const { kept, left } = fitting(failures.map(failureMarkdown), bytes);
  const more = left === 0 ? "" : `and ${count(left, "more failure")}: see the log\n`;
  return [`## clobsim: ${totalsText(suite)}\n\n`, ...kept, more].join("");
}
