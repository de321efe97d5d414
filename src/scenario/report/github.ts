import { type Place, sentenceOf } from "../language/problem.ts";
import type { Failure } from "../run/result.ts";
import { DIFF_MARKS } from "./lines.ts";
import type { MakeReporter } from "./reporter.ts";
import { printable } from "./text.ts";

const encoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

const commandMessage = (text: string): string => printable(text).replace(/[%\r\n]/g, encoded);
const commandProperty = (text: string): string => printable(text).replace(/[%\r\n:,]/g, encoded);

/** A workflow command; what XML 1.0 forbids becomes U+FFFD. */
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
 * An error at the line of each failure, a notice for each scenario that was skipped. GitHub shows ten of a kind for each
 * step; the summary of the job has them all.
 */
export const githubReporter: MakeReporter = ({ write }) => ({
  finished: ({ name, place, status, reason, failure }) => {
    const text = failure === null ? "failed" : failureText(failure);
    if (status === "failed") write(annotation("error", failure?.place ?? place, name, text));
    if (status === "skipped")
      write(annotation("notice", place, name, `skipped: ${reason ?? "no reason given"}`));
  },
  ended: () => {},
  wrong: (files) => {
    for (const problem of files.flatMap((file) => file.problems))
      write(annotation("error", problem.place, "wrong scenario file", sentenceOf(problem)));
  },
});
