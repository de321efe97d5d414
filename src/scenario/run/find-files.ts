import { statSync } from "node:fs";
import { resolve } from "node:path";
import { globSync } from "tinyglobby";
import { shownPath } from "./shown-path.ts";

/** In a folder: what has such a name, unless it begins with an underscore, as parts for `include` do. */
const IN_FOLDER = ["**/*.yaml", "**/*.yml", "**/*.scenario.json"];
const PARTS = ["**/_*", "**/node_modules/**"];

/** Nothing that can be run was named; the message is a sentence for the user. */
export class NoFilesError extends Error {
  override readonly name = "NoFilesError";
}

/**
 * The scenario files that paths name: files themselves, what folders hold, what globs match; each once, in order of
 * their paths.
 * @throws NoFilesError naming the path that leads to none.
 */
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
