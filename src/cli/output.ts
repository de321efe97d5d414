import { writeFile } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";
import colours from "picocolors";
import wrapAnsi from "wrap-ansi";
import { appendSummary } from "../scenario/report/github.ts";
import { aligned, columnsOf, type Paint } from "../scenario/report/text.ts";
import type { Given } from "../setting.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";

/** Prints a message on stderr. */
export function warn(message: string): void {
  process.stderr.write(`clobsim: ${message}\n`);
}

/** Says on stderr why a command has failed, and answers its exit code. */
export function failed(message: string, code: ExitCode = EXIT.failed): ExitCode {
  warn(message);
  return code;
}

/** How far the further lines of a folded one stand to the right of its beginning. */
const HANG = 4;
/** A terminal that is narrower folds by itself. */
const NARROWEST = 40;

/** A line, painted or not, as lines of at most `columns`. */
export function folded(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line);
  if (columnsOf(plain) <= columns || columns < NARROWEST) return line;
  const indent = plain.length - plain.trimStart().length + HANG;
  const [first = "", ...rest] = wrapAnsi(line, columns - indent, { hard: true, trim: false }).split("\n");
  return [first, ...rest.map((part) => " ".repeat(indent) + part.replace(LEADING_BLANKS, "$1"))]
    .map((part) => part.trimEnd())
    .join("\n");
}

const ESCAPE = "\u001b";
/** Blanks at the beginning of a line, behind the codes that paint it. */
const LEADING_BLANKS = new RegExp(`^((?:${ESCAPE}\\[\\d+m)*) +`);

/** A line as stdout shows it: a terminal's are folded, those of a pipe or a file stay whole. */
const shown = (line: string): string => {
  const { isTTY, columns } = process.stdout;
  return isTTY === true && columns > 0 ? folded(line, columns) : line;
};

/** Prints lines for people on stdout. */
export function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${shown(line)}\n`).join(""));
}

/** Prints a document on stdout as it is. */
export function printDocument(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Rows as lines with aligned columns; the first `figures` columns are aligned to the right. */
export const table = (rows: readonly (readonly string[])[], figures = 0): string[] =>
  aligned(rows, (column) => column < figures).map((cells) => cells.join("  ").trimEnd());

/** Writes the file of `--out`, or of another flag. @throws UsageError when it cannot be written, or not to its end. */
export async function save(
  path: string,
  content: string | Uint8Array | Iterable<string>,
  flag = "--out",
): Promise<void> {
  try {
    await writeFile(path, content);
  } catch (error) {
    throw unwritable(`${flag} expects a file that can be written`, path, error);
  }
}

/** The error of a path that cannot be written. @throws the error itself where it is not of the system */
export function unwritable(expected: string, path: string, error: unknown): UsageError {
  const { code }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  if (code === undefined) throw error;
  return new UsageError(`${expected}, found ${path} (${code})`);
}

const PIECE_LENGTH = 1 << 16;

/** Lines for stdout, handed over in pieces. */
export class OutputLines {
  #waiting = "";

  /** A line for people, or of a document. */
  add(line: string, isDocument = false): void {
    this.#waiting += `${isDocument ? line : shown(line)}\n`;
    if (this.#waiting.length >= PIECE_LENGTH) this.end();
  }

  end(): void {
    if (this.#waiting !== "") process.stdout.write(this.#waiting);
    this.#waiting = "";
  }
}

/**
 * How words on a stream, stdout unless told otherwise, are emphasised: in colour on a terminal or where FORCE_COLOR asks
 * for it, never where NO_COLOR forbids it (no-color.org).
 */
export function paintOf(
  environment: Given["environment"],
  stream: NodeJS.WriteStream = process.stdout,
): Paint {
  const isSet = (name: string): boolean => (environment[name] ?? "") !== "";
  const isTerminal = stream.isTTY === true && environment.TERM !== "dumb";
  const isColoured = !isSet("NO_COLOR") && (isTerminal || isSet("FORCE_COLOR"));
  const { red, green, yellow, dim, bold } = colours.createColors(isColoured);
  return { red, green, yellow, dim, bold };
}

/** Appends a text to the summary of the job where GitHub Actions runs it; one that cannot be written is a warning. */
export function summarizeJob(environment: Given["environment"], textIn: (bytes: number) => string): void {
  const path = environment.GITHUB_STEP_SUMMARY;
  const problem = path === undefined || path === "" ? null : appendSummary(path, textIn);
  if (problem !== null) warn(problem);
}
