import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { shellWord } from "../scenario/run/run-scenario.ts";
import type { Run } from "./commands.ts";
import { EXIT, UsageError } from "./exit-code.ts";
import { filesOf, managerOf, nextCommands, type Project, runnerOf } from "./init-files.ts";
import { print, table } from "./output.ts";
import { unwritable } from "./output-file.ts";

/** The fields of a package.json that are read. */
interface Manifest {
  readonly type?: unknown;
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

/** Change of a file. `text` is its new content; null leaves it unchanged. */
interface Change {
  readonly path: string;
  readonly done: "wrote" | "added" | "kept";
  readonly note: string;
  readonly text: string | null;
}

const IGNORED = ".clobsim/";

/** `clobsim init`: writes a first scenario, a test and a workflow into a project. @throws UsageError if it cannot. */
export const run: Run<"init"> = async ({ runner, dryRun }, [folder = "."]) => {
  const manifest = manifestIn(folder);
  const packages = { ...manifest.dependencies, ...manifest.devDependencies };
  const has = (name: string): boolean => Object.hasOwn(packages, name);
  const folders = foldersOf(folder);
  const managers = folders.map((each) => managerOf((name) => existsSync(join(each, name))));
  const project: Project = {
    runner: runner ?? runnerOf(String(manifest.scripts?.test), has),
    isModule: manifest.type === "module",
    manager: managers.find((name) => name !== undefined) ?? "npm",
    pathInRepository: relative(folders.at(-1) ?? folder, resolve(folder))
      .split(sep)
      .join("/"),
  };
  const changes: readonly Change[] = [
    ...filesOf(project).map(
      ({ path, purpose, text }): Change =>
        existsSync(join(folder, path))
          ? { path, done: "kept", note: "exists already", text: null }
          : { path, done: "wrote", note: purpose, text },
    ),
    ignoreChange(folder),
  ];
  for (const { path, text } of changes) if (text !== null) requireFolder(join(folder, dirname(path)));
  if (!dryRun) writeAll(folder, changes);
  const verbs = {
    wrote: dryRun ? "would write" : "wrote",
    added: dryRun ? "would add" : "added",
    kept: "kept",
  };
  const next = nextCommands(project, has);
  const enter = folder === "." ? [] : [`cd ${shellWord(folder)}`];
  print([
    ...table(changes.map(({ path, done, note }) => [verbs[done], path, note])),
    "",
    ...table([...enter, ...next].map((command, index) => [index === 0 ? "next" : "", command])),
  ]);
  return EXIT.ok;
};

/** Returns the text of a file; null if it does not exist. @throws UsageError if it cannot be read */
function textOf(path: string): string | null {
  if (!existsSync(path)) return null;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unwritable("init expects a file that can be read", path, error);
  }
}

/** Reads the package.json of a project; empty if it does not exist. @throws UsageError if it cannot be read */
function manifestIn(folder: string): Manifest {
  const path = join(folder, "package.json");
  const text = (textOf(path) ?? "{}").replace(/^\ufeff/, "");
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
  if (typeof manifest === "object" && manifest !== null) return manifest;
  throw new UsageError(`${path}: expected an object, found ${JSON.stringify(manifest)}`);
}

/** Returns a folder and those above it up to the root of its git repository; without a repository the folder alone. */
function foldersOf(folder: string): readonly string[] {
  const folders = [resolve(folder)];
  for (const path of folders) {
    if (existsSync(join(path, ".git"))) return folders;
    if (dirname(path) !== path) folders.push(dirname(path));
  }
  return folders.slice(0, 1);
}

/** @throws UsageError if a folder cannot be created because it, or a part of its path, is a file */
function requireFolder(path: string): void {
  if (!existsSync(path)) {
    if (dirname(path) !== path) requireFolder(dirname(path));
  } else if (!statSync(path).isDirectory())
    throw new UsageError(`init expects a folder, found the file ${path}`);
}

/** Adds the default data directory to .gitignore. */
function ignoreChange(folder: string): Change {
  const path = ".gitignore";
  const text = textOf(join(folder, path));
  if (text === null) return { path, done: "wrote", note: `with ${IGNORED}`, text: `${IGNORED}\n` };
  if (/^\/?\.clobsim\/?\s*$/m.test(text)) return { path, done: "kept", note: `has ${IGNORED}`, text: null };
  const end = text === "" || text.endsWith("\n") ? "" : "\n";
  return { path, done: "added", note: IGNORED, text: `${text}${end}${IGNORED}\n` };
}

/** Writes all files, or none if one fails. @throws UsageError that names the file */
function writeAll(folder: string, changes: readonly Change[]): void {
  const undo: (() => void)[] = [];
  const makeFolder = (path: string): void => {
    const first = mkdirSync(path, { recursive: true });
    if (first !== undefined) undo.push(() => rmSync(first, { recursive: true }));
  };
  for (const { path, done, text } of changes) {
    if (text === null) continue;
    const file = join(folder, path);
    try {
      makeFolder(dirname(file));
      // Only the last file may have existed before, so it needs no undo.
      writeFileSync(file, text, { flag: done === "wrote" ? "wx" : "w" });
      undo.push(() => rmSync(file));
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw unwritable("init expects a folder that can be written to", file, error);
    }
  }
}
