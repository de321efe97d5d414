import { accessSync, constants, existsSync, lstatSync, realpathSync, rmSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import colours from "picocolors";
import wrapAnsi from "wrap-ansi";
import { nodeDisk } from "../engine/disk.ts";
import { isOfExchange } from "../engine/files.ts";
import { DataFileError } from "../engine/journal.ts";
import { makeFolder } from "../make-folder.ts";
import { draftBeside, isDiskFailure } from "../regular-file.ts";
import { appendSummary } from "../scenario/report/github.ts";
import { aligned, columnsOf, visible } from "../scenario/report/text.ts";
import type { Given } from "../setting.ts";
import { EXIT, type ExitCode, SIGNAL_EXIT, type StopSignal, UsageError } from "./process.ts";

/** A line, or several. */
export type Message = string | readonly string[];

/** Prints a message, on stderr by default. Names in it can neither begin a line nor reach a terminal as escape sequences. */
export function warn(message: Message, stream: NodeJS.WritableStream = process.stderr): void {
  stream.write(`clobsim: ${[message].flat().map(visible).join("\n")}\n`);
}

/** Prints on stderr why a command failed, and returns its exit code. */
export function failed(message: Message, code: ExitCode = EXIT.failed): ExitCode {
  warn(message);
  return code;
}

/** Additional indentation of the continuation of a folded line. */
const CONTINUATION_INDENT = 4;
/** Lines are not folded for narrower terminals. */
export const MIN_COLUMNS = 40;

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

/** Prints lines for people on stdout, folded if that is a terminal. */
export function print(lines: readonly string[]): void {
  const { columns } = process.stdout;
  const shown = columns > 0 ? lines.map((line) => folded(line, columns)) : lines;
  process.stdout.write(shown.map((line) => `${line}\n`).join(""));
}

/** Prints a JSON document on stdout. */
export const printJson = (document: object): void =>
  void process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);

/** Formats rows as lines with aligned columns. The first `figures` columns are aligned to the right. */
export const table = (rows: readonly (readonly string[])[], figures = 0): string[] =>
  aligned(rows, (column) => column < figures).map((cells) => cells.join("  ").trimEnd());

/**
 * Returns the styles for a stream: coloured on a terminal, never if NO_COLOR is set (no-color.org), else as FORCE_COLOR
 * says, where 0 and false mean no.
 */
export function paintOf(
  { NO_COLOR = "", FORCE_COLOR = "", TERM }: Given["environment"],
  { isTTY }: Pick<NodeJS.WriteStream, "isTTY"> = process.stdout,
) {
  const isTerminal = isTTY === true && TERM !== "dumb";
  const isColoured = FORCE_COLOR === "" ? isTerminal : !/^(?:0|false)$/.test(FORCE_COLOR);
  return colours.createColors(NO_COLOR === "" && isColoured);
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

type Content = string | Uint8Array | Iterable<string>;

/** Whether a path names a regular file, or nothing yet. A device, a pipe or a link, such as /dev/stdout, cannot be replaced. */
export const isReplaceable = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;

/**
 * Writes the file of `--out` or another flag. A regular file is replaced when the content is complete; until then, and
 * after a failure or a signal, it is as before.
 * @throws as `prepare`; DataFileError if the disk is full or broken
 */
export async function save(path: string, content: Content, flag = "--out", inputs: readonly string[] = []) {
  prepare(path, flag, inputs);
  await writing(path, flag, () =>
    isReplaceable(path) ? replace(path, content) : writeFile(path, content).catch(ignoreClosedPipe),
  );
}

/** Writes a text to the file of `--out`, or to stdout if there is none. @throws as `save` */
export async function saveOrPrint(path: string | null, text: string): Promise<void> {
  if (path === null) process.stdout.write(text);
  else await save(path, text);
}

/** Returns if nobody reads a pipe any more, because a command goes on as with a closed stdout. @throws any other error */
export function ignoreClosedPipe(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
}

/** @throws UsageError if a path names one of the files that the command reads, or a file of an exchange */
export function requireOutput(path: string, flag: string, inputs: readonly string[]): void {
  const real = realPath(path);
  if (inputs.some((input) => realPath(input) === real))
    throw new UsageError(`${flag} expects a file to write, found ${path}, which the command reads`);
  if (isOfExchange(nodeDisk, real))
    throw new UsageError(`${flag} expects a file to write, found ${path}, which is of a data directory`);
}

/**
 * Makes the missing folders of a path for `save`. Called before long work.
 * @throws UsageError if the file could not be written, or as `requireOutput`
 */
export const prepare = (path: string, flag = "--out", inputs: readonly string[] = []): void =>
  writing(path, flag, () => {
    requireOutput(path, flag, inputs);
    makeFolder(dirname(path));
    if (!isReplaceable(path)) return;
    for (const part of [dirname(path), path]) if (existsSync(part)) accessSync(part, constants.W_OK);
  });

/** Returns an absolute path without links, also of a file that does not exist. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const absolute = resolve(path);
    return join(realPath(dirname(absolute)), basename(absolute));
  }
}

/** Writes a file in `write`. @throws as `save` */
export function writing<Result>(path: string, flag: string, write: () => Result): Result {
  const wrong = (error: unknown): never => {
    throw unwritable(`${flag} expects a file that can be written`, path, error);
  };
  try {
    const result = write();
    return result instanceof Promise ? (result.catch(wrong) as Result) : result;
  } catch (error) {
    return wrong(error);
  }
}

/** Replaces a file as `replaceFile` does, but with content of any length, so that a signal can end it between two pieces. */
async function replace(path: string, content: Content): Promise<void> {
  const known = lstatSync(path, { throwIfNoEntry: false });
  const draft = draftBeside(path);
  const remove = (): void => rmSync(draft, { force: true });
  const exit = (signal: StopSignal): void => process.exit(SIGNAL_EXIT[signal]);
  process.on("exit", remove);
  for (const signal of SIGNALS) process.on(signal, exit);
  try {
    await writeFile(draft, content, { flag: "wx", ...(known && { mode: known.mode }) });
    await rename(draft, path);
  } finally {
    remove();
    process.off("exit", remove);
    for (const signal of SIGNALS) process.off(signal, exit);
  }
}

const SIGNALS = Object.keys(SIGNAL_EXIT) as StopSignal[];

/** Returns the error for a path that cannot be written. @throws the error itself if it is not a system error */
export function unwritable(expected: string, path: string, error: unknown): UsageError | DataFileError {
  const { code }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  if (code === undefined) throw error;
  if (isDiskFailure(error)) return new DataFileError("disk", `${path} cannot be written (${code})`);
  return new UsageError(`${expected}, found ${path} (${code})`);
}
