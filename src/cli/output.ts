import { stripVTControlCharacters } from "node:util";
import colours from "picocolors";
import wrapAnsi from "wrap-ansi";
import { appendSummary } from "../scenario/report/github.ts";
import { aligned, columnsOf, type Paint } from "../scenario/report/text.ts";
import type { Given } from "../setting.ts";
import { EXIT, type ExitCode } from "./process.ts";

/** Prints a message on stderr. */
export function warn(message: string): void {
  process.stderr.write(`clobsim: ${message}\n`);
}

/** Prints on stderr why a command failed, and returns its exit code. */
export function failed(message: string, code: ExitCode = EXIT.failed): ExitCode {
  warn(message);
  return code;
}

/** Additional indentation of the continuation of a folded line. */
const CONTINUATION_INDENT = 4;
/** Lines are not folded for narrower terminals. */
const MIN_COLUMNS = 40;

const ESCAPE = "\u001b";
/** Colour codes, blanks, and the rest. */
const LINE_PARTS = new RegExp(`^((?:${ESCAPE}\\[\\d+m)*)( *)(.*)$`, "s");
/** Between cells of a row. */
const GAP = / {2,}/;
/** All cells of a row but the last. */
const HEAD = /^.*? {2,}(?!.* {2})/s;

const widthOf = (text: string): number => columnsOf(stripVTControlCharacters(text));

/**
 * Folds a line, with or without colours, into lines of at most `columns`. The last cell of a row is wrapped in its column
 * if that has at least half of the width, else below the other cells. If they do not fit either, the line is folded
 * between cells, without their alignment.
 */
export function folded(line: string, columns: number): string {
  if (widthOf(line) <= columns || columns < MIN_COLUMNS) return line;
  const [, codes = "", blanks = "", text = ""] = LINE_PARTS.exec(line.trimEnd()) ?? [];
  const [head = ""] = HEAD.exec(text) ?? [];
  const last = text.slice(head.length);
  const start = blanks.length + widthOf(head);
  const room = columns - start;
  const isHung = head !== "" && room >= columns / 2 && last.split(" ").every((word) => widthOf(word) <= room);
  if (isHung) return indentBelow(`${codes}${blanks}${head}`, wrapAnsi(last, room).split("\n"), start);
  // The deep indentation of a heading is an empty first cell.
  const indent = blanks.length <= columns / 2 ? blanks.length : 0;
  const below = indent + CONTINUATION_INDENT;
  const pieces = (cells: string): string[] =>
    cells.split(GAP).flatMap((cell) => wrapAnsi(cell, columns - below, { hard: true }).split("\n"));
  if (head !== "" && widthOf(head.trimEnd()) + blanks.length <= columns) {
    return indentBelow(`${codes}${blanks}${head.trimEnd()}\n${" ".repeat(below)}`, pieces(last), below);
  }
  const lines: string[] = [];
  for (const piece of pieces(text)) {
    const joined = `${lines.at(-1)}  ${piece}`;
    if (lines.length > 0 && widthOf(joined) <= columns - below) lines[lines.length - 1] = joined;
    else lines.push(piece);
  }
  return indentBelow(`${codes}${" ".repeat(indent)}`, lines, below);
}

/** Joins lines after a label; those below the first are indented. */
const indentBelow = (label: string, lines: readonly string[], indent: number): string =>
  label + lines.join(`\n${" ".repeat(indent)}`);

/** Folds a line if stdout is a terminal, not if it is a pipe or a file. */
const foldedHere = (line: string): string => {
  const { isTTY, columns } = process.stdout;
  return isTTY === true && columns > 0 ? folded(line, columns) : line;
};

/** Prints lines for people on stdout. */
export function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${foldedHere(line)}\n`).join(""));
}

/** Prints a JSON document on stdout. */
export const printJson = (document: object): void =>
  void process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);

/** Formats rows as lines with aligned columns. The first `figures` columns are aligned to the right. */
export const table = (rows: readonly (readonly string[])[], figures = 0): string[] =>
  aligned(rows, (column) => column < figures).map((cells) => cells.join("  ").trimEnd());

const BUFFER_LENGTH = 1 << 16;

/** Buffers lines for stdout. */
export class OutputLines {
  #buffer = "";

  /** Adds a line, which is folded unless it is of a document. */
  add(line: string, isDocument = false): void {
    this.#buffer += `${isDocument ? line : foldedHere(line)}\n`;
    if (this.#buffer.length >= BUFFER_LENGTH) this.end();
  }

  end(): void {
    if (this.#buffer !== "") process.stdout.write(this.#buffer);
    this.#buffer = "";
  }
}

/**
 * Returns the styles for a stream: coloured on a terminal or if FORCE_COLOR is set, never if NO_COLOR is set
 * (no-color.org).
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

/** Appends a text to the job summary of GitHub Actions, if there is one. Warns if it cannot be written. */
export function summarizeJob(environment: Given["environment"], textIn: (bytes: number) => string): void {
  const path = environment.GITHUB_STEP_SUMMARY;
  const problem = path === undefined || path === "" ? null : appendSummary(path, textIn);
  if (problem !== null) warn(problem);
}

/** Whether a stream is an interactive terminal, not the log of a CI job. */
export const isInteractive = (
  environment: Given["environment"],
  { isTTY }: Pick<NodeJS.WriteStream, "isTTY"> = process.stderr,
): boolean => isTTY === true && environment.TERM !== "dumb" && (environment.CI ?? "") === "";
