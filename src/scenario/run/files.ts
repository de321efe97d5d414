import { existsSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { globSync } from "tinyglobby";
import { DataFileError } from "../../engine/journal.ts";
import type { ControlRecords } from "../../engine/journal-line.ts";
import { makeFolder } from "../../make-folder.ts";
import { replaceFile, statOf, withSlashes } from "../../regular-file.ts";
import type { ExpectationOf } from "../language/expectations.ts";
import type { WrongFile } from "../language/page.ts";
import { isScenarioFile, readTextFile } from "../language/scenario-files.ts";
import { type Scenario, stepsOf } from "../language/steps.ts";
import type { Update } from "./session.ts";

/** Returns a path relative to the working directory, or unchanged if it is outside. */
export function shownPath(file: string): string {
  const short = relative(process.cwd(), file);
  return withSlashes(short.startsWith("..") ? file : short);
}

export class NoFilesError extends Error {
  override readonly name = "NoFilesError";
}

/**
 * Returns the scenario files at some paths, sorted and unique.
 * @throws NoFilesError for a path without scenario files, or with a folder that cannot be read
 */
export function findFiles(paths: readonly string[]): string[] {
  const found = new Map<string, string>();
  for (const path of paths) {
    const files = filesOf(path);
    if (files.length === 0)
      throw new NoFilesError(
        `no scenario file at ${path}: expected a file, a folder with .yaml files, or a glob; names that begin with _ or . are left out`,
      );
    for (const file of files) if (!found.has(resolve(file))) found.set(resolve(file), file);
  }
  return [...found.values()].sort();
}

const PARTS = ["**/_*", "**/node_modules/**"];

function filesOf(path: string): string[] {
  const found = statOf(path);
  if (found?.isDirectory() === false) return [withSlashes(path)];
  const options = { absolute: true, ignore: PARTS, expandDirectories: false, onlyFiles: true } as const;
  const files = found === undefined ? globSync(withSlashes(path), options) : [...filesBelow(resolve(path))];
  return files.map(shownPath);
}

/**
 * Yields the scenario files below a folder, also broken links. `above` are the real paths of the folders around it.
 * @throws NoFilesError if a folder cannot be read
 */
function* filesBelow(folder: string, above: readonly string[] = []): Generator<string> {
  const { real, entries } = readFolder(folder);
  if (above.includes(real)) return;
  for (const entry of entries) {
    if (/^[._]|^node_modules$/.test(entry.name)) continue;
    const path = join(folder, entry.name);
    const target = entry.isSymbolicLink() && existsSync(path) ? statSync(path) : entry;
    if (target.isDirectory()) yield* filesBelow(path, [...above, real]);
    else if (isScenarioFile(path)) yield path;
  }
}

function readFolder(path: string) {
  try {
    return { real: realpathSync(path), entries: readdirSync(path, { withFileTypes: true }) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new NoFilesError(`the folder ${shownPath(path)} cannot be read: ${code}`);
  }
}

/** Maximum total size of the files of a scenario in a report. */
const MAX_SOURCE_BYTES = 4 * 1024 * 1024;

/** Yields the paths of a scenario's file and of those that it includes. */
function* pagesOf({ place, steps }: Scenario): Generator<string> {
  yield place.file;
  for (const step of stepsOf(steps)) yield step.place.file;
}

/** Yields the absolute paths of a scenario's world and flows. */
function* inputsOf({ world, steps }: Scenario): Generator<string> {
  if (world !== null) yield world;
  for (const step of stepsOf(steps)) if (step.kind === "replay") yield step.file;
}

/** Yields the expected golden files of a scenario, each with its absolute path. */
function* goldensOf({ steps }: Scenario): Generator<ExpectationOf<"golden">> {
  for (const step of stepsOf(steps)) {
    const expectations = step.kind === "expect" ? step.expectations : step.kind === "race" ? step.after : [];
    for (const expectation of expectations) if (expectation.kind === "golden") yield expectation;
  }
}

/** Yields the absolute paths of a scenario's world, flows and golden files. */
export function* filesNamedIn(scenario: Scenario): Generator<string> {
  yield* inputsOf(scenario);
  for (const { file } of goldensOf(scenario)) yield file;
}

/** Returns the scenarios whose golden files are read by the run, so that `--update` would overwrite what others need. */
export function overwritingIn(scenarios: readonly Scenario[]): WrongFile[] {
  const paths = scenarios.flatMap((scenario) => [...pagesOf(scenario), ...inputsOf(scenario)]);
  const read = new Set(paths.map((path) => resolve(path)));
  return scenarios.flatMap((scenario) => {
    const found = [...goldensOf(scenario)].filter(({ file }) => read.has(file));
    const problems = found.map(({ file, place }) => ({
      place,
      message: `expected a golden file of its own, found ${shownPath(file)}, which the run reads`,
      hint: "name another",
    }));
    return problems.length === 0 ? [] : [{ file: scenario.place.file, problems }];
  });
}

/** Returns the files needed to run a scenario elsewhere, by path relative to its folder, with slashes; null if they are too large, or one is not UTF-8. */
export function sourceFilesOf(scenario: Scenario): ControlRecords["scenario"] | null {
  const { file } = scenario.place;
  const paths = new Set([...pagesOf(scenario), ...filesNamedIn(scenario)]);
  const folder = dirname(file);
  const texts: Record<string, string> = {};
  let bytes = 0;
  for (const path of paths) {
    bytes += statOf(path)?.size ?? 0;
    const read = bytes > MAX_SOURCE_BYTES ? null : readTextFile(path);
    if (read === null || read.problem !== null) return null;
    texts[nameIn(folder, path)] = read.text;
  }
  return { file: nameIn(folder, file), texts };
}

/** Writes the files into a folder; returns the path of the scenario's file. @throws RangeError for a path outside of it. */
export function writeSourceFiles({ file, texts }: ControlRecords["scenario"], folder: string): string {
  for (const [name, text] of Object.entries(texts)) {
    const path = pathIn(folder, name);
    makeFolder(dirname(path));
    writeFileSync(path, text);
  }
  return pathIn(folder, file);
}

/** Returns the path for a file of a report, which is untrusted. */
function pathIn(folder: string, name: string): string {
  const path = resolve(folder, name);
  if (path.startsWith(folder + sep)) return path;
  throw new RangeError(`expected a path in the scenario's folder, found ${JSON.stringify(name)}`);
}

const nameIn = (folder: string, path: string): string => withSlashes(relative(folder, path));

/**
 * Writes updated files, and updated values in place. Returns the written files.
 * @throws DataFileError `usage` if a value is no longer in its place; the system's error
 */
export function applyUpdates(updates: readonly Update[]): string[] {
  const files = updates.filter((update) => update.kind === "file");
  for (const { file, text } of files) {
    makeFolder(dirname(file));
    replaceFile(file, text);
  }
  const values = updates.filter((update) => update.kind === "value");
  // From the end of a line, because a new text moves what is after it.
  for (const { file, line, before, text } of values.toSorted((a, b) => b.before.length - a.before.length)) {
    const whole = readFileSync(file, "utf8");
    const start = lineStart(whole, line);
    // Another process may have just written it.
    if (whole.startsWith(text, start)) continue;
    if (!whole.startsWith(before, start)) {
      const found = `that ${shownPath(file)} was changed while it ran: run it again`;
      throw new DataFileError("usage", `--update expects files that nobody changes, found ${found}`);
    }
    replaceFile(file, whole.slice(0, start) + text + whole.slice(start + before.length));
  }
  return [...new Set([...files, ...values].map(({ file }) => shownPath(file)))];
}

/** Returns the offset of a line in the text of its file, which may have a byte order mark and any line ends. */
function lineStart(text: string, line: number): number {
  const lineEnd = /\r\n?|\n/g;
  for (let passed = 1; passed < line; passed += 1) lineEnd.exec(text);
  return line === 1 && text.startsWith("\ufeff") ? 1 : lineEnd.lastIndex;
}
