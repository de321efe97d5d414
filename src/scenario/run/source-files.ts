import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { readTextFile } from "../language/read-text-file.ts";
import type { Scenario } from "../language/scenario.ts";
import { stepsOf } from "./needs.ts";

/** The files that a scenario was read from, by paths in its folder, which none of them leaves; slashes part names. */
export interface SourceFiles {
  /** The scenario's own. */
  readonly file: string;
  readonly texts: Readonly<Record<string, string>>;
}

/** What has more bytes in all is carried nowhere. */
const MOST_BYTES = 4 * 1024 * 1024;

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
    const read = bytes > MOST_BYTES ? null : readTextFile(path);
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
