import { placeText, problemText, type WrongFile, wrongFilesText } from "../language/problem.ts";
import type { ScenarioResult, SuiteResult } from "../run/result.ts";
import { DIFF_MARKS } from "./failure-lines.ts";
import { count, durationText, grouped } from "./figures.ts";
import { oneLine, title, visible } from "./printable.ts";

/** GitHub refuses the summary of a step above 1 MiB; what other tools write to it needs room too. */
const MOST_BYTES = 768 * 1024;

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

/** What is wrong with files in Markdown, at most 768 KiB of it. */
export function wrongFilesSummary(files: readonly WrongFile[]): string {
  const lines = files.flatMap(({ problems }) => problems.map((problem) => oneLine(problemText(problem))));
  let bytes = 0;
  const kept = lines.filter((line) => {
    bytes += Buffer.byteLength(line) + 1;
    return bytes <= MOST_BYTES;
  });
  const left = lines.length - kept.length;
  const more = left === 0 ? "" : `\nand ${count(left, "more problem")}: see the log\n`;
  return `## clobsim: ${wrongFilesText(files)}\n\n${codeLines("", kept).join("\n")}\n${more}`;
}

/** The failures of a suite in Markdown, at most 768 KiB of it; nothing where none failed. */
export function jobSummary({ results, passed, failed, skipped, durationMs }: SuiteResult): string {
  const failures = results.filter(({ status }) => status === "failed");
  if (failures.length === 0) return "";
  const counts = `${grouped(passed)} passed, ${grouped(failed)} failed, ${grouped(skipped)} skipped`;
  const parts = [`## clobsim: ${counts} in ${durationText(durationMs)}\n\n`];
  let bytes = 0;
  for (const [index, result] of failures.entries()) {
    const part = failureMarkdown(result);
    bytes += Buffer.byteLength(part);
    if (bytes > MOST_BYTES) {
      parts.push(`and ${count(failures.length - index, "more failure")}: see the log\n`);
      break;
    }
    parts.push(part);
  }
  return parts.join("");
}
