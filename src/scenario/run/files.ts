import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, relative, resolve, sep } from "node:path";
import { globSync } from "tinyglobby";
import { readText } from "../../regular-file.ts";
import { type Scenario, stepsOf } from "../language/scenario.ts";
import { MAX_SCENARIO_BYTES, readTextFile } from "../language/scenario-files.ts";
import type { Update } from "./session.ts";

/** A file as a person in this folder would write it; one that lies outside by its whole path. */
export function shownPath(file: string): string {
  const short = relative(process.cwd(), file);
  return (short.startsWith("..") ? file : short).split(sep).join("/");
}

const IN_FOLDER = ["**/*.yaml", "**/*.yml", "**/*.scenario.json"];
const PARTS = ["**/_*", "**/node_modules/**"];

export class NoFilesError extends Error {
  override readonly name = "NoFilesError";
}

/** Each file once, in order of their paths. @throws NoFilesError naming the path that leads to none. */
export function findFiles(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const files = filesOf(path);
    if (files.length === 0)
      throw new NoFilesError(
        `no scenario file at ${path}: expected a file, a folder with .yaml files, or a glob`,
      );
    for (const file of files) found.add(file);
  }
  return [...found].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function filesOf(path: string): string[] {
  const kind = kindOf(path);
  if (kind === "file") return [path];
  const options = { absolute: true, ignore: PARTS, expandDirectories: false, onlyFiles: true } as const;
  const files =
    kind === "folder" ? globSync(IN_FOLDER, { ...options, cwd: resolve(path) }) : globSync(path, options);
  return files.map(shownPath);
}

function kindOf(path: string): "file" | "folder" | "none" {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "none" : found.isDirectory() ? "folder" : "file";
}

/** The files that a scenario was read from, by paths in its folder, which none of them leaves; slashes part names. */
interface SourceFiles {
  readonly file: string;
  readonly texts: Readonly<Record<string, string>>;
}

/** What has more bytes in all is carried nowhere. */
const MAX_CARRIED_BYTES = 4 * 1024 * 1024;

/** Absolute paths of the files that a scenario speaks of: its world, what it replays, what it compares with. */
export function* filesNamedIn({ world, steps }: Scenario): Generator<string> {
  if (world !== null) yield world;
  for (const step of stepsOf(steps)) {
    if (step.kind === "replay") yield step.file;
    const said = step.kind === "expect" ? step.expectations : step.kind === "race" ? step.after : [];
    for (const expectation of said) if (expectation.kind === "golden") yield expectation.file;
  }
}

/** All that it takes to run a scenario somewhere else; null when it is too much, or one of its files is no text. */
export function sourceFilesOf(scenario: Scenario): SourceFiles | null {
  const { file } = scenario.place;
  const included = [...stepsOf(scenario.steps)].map(({ place }) => place.file);
  const paths = [...new Set([file, ...included, ...filesNamedIn(scenario)])];
  const folder = dirname(file);
  const texts: Record<string, string> = {};
  let bytes = 0;
  for (const path of paths) {
    bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const read = bytes > MAX_CARRIED_BYTES ? null : readTextFile(path);
    if (read?.ok !== true) return null;
    texts[nameIn(folder, path)] = read.text;
  }
  return { file: nameIn(folder, file), texts };
}

/** Writes them into a folder, and answers the path of the scenario's own. @throws RangeError when one would lie outside. */
export function writeSourceFiles({ file, texts }: SourceFiles, folder: string): string {
  for (const [name, text] of Object.entries(texts)) {
    const path = pathIn(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return pathIn(folder, file);
}

/** Where a file of a report is to lie, which may have been written by anybody. */
function pathIn(folder: string, name: string): string {
  const path = resolve(folder, name);
  if (path.startsWith(folder + sep)) return path;
  throw new RangeError(`expected a path in the scenario's folder, found ${JSON.stringify(name)}`);
}

const nameIn = (folder: string, path: string): string => relative(folder, path).split(sep).join("/");

/** Writes what a run found out of date, and answers the files written; a value changes in its place in the file. */
export async function applyUpdates(updates: readonly Update[]): Promise<string[]> {
  const written = new Set<string>();
  for (const update of updates) {
    if (update.kind !== "file") continue;
    await mkdir(dirname(update.file), { recursive: true });
    await writeFile(update.file, update.text);
    written.add(update.file);
  }
  const values = updates.filter((update) => update.kind === "value");
  for (const file of new Set(values.map((value) => value.file))) {
    let text = readText(file, MAX_SCENARIO_BYTES);
    const own = values.filter((value) => value.file === file).sort((a, b) => b.range[0] - a.range[0]);
    for (const { range, text: value } of own) text = text.slice(0, range[0]) + value + text.slice(range[1]);
    await writeFile(file, text);
    written.add(file);
  }
  return [...written].map(shownPath);
}
