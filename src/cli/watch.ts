import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findFiles, NoFilesError } from "../scenario/run/files.ts";
import { reportFailure } from "./failure.ts";
import { EXIT, type ExitCode, stopSignal } from "./process.ts";

/** Whether a folder is not watched, because it may have thousands of folders and no scenarios. */
const isIgnored = (name: string): boolean => name === "node_modules" || name.startsWith(".");

/**
 * Watches folders and all folders in them with a watcher each, and calls `changed` at every change. Node 20's recursive watch
 * on Linux misses later changes of a file once another file is renamed over it, which is how many editors save.
 */
class FolderWatch {
  readonly #roots: readonly string[];
  readonly #changed: () => void;
  /** Each with the inode of its folder, in case another takes its name. */
  readonly #watched = new Map<string, { readonly inode: number; readonly watcher: FSWatcher }>();

  constructor(roots: readonly string[], changed: () => void) {
    this.#roots = roots;
    this.#changed = changed;
  }

  /** Watches new folders and those of some files, and stops watching others. */
  update(files: readonly string[]): void {
    const present = new Map(this.#roots.flatMap((root) => [...foldersIn(root)]));
    for (const folder of new Set(files.map((file) => dirname(file)))) {
      const found = statSync(folder, { throwIfNoEntry: false });
      if (found !== undefined) present.set(folder, found.ino);
    }
    for (const [folder, { inode, watcher }] of this.#watched) {
      if (present.get(folder) === inode) continue;
      watcher.close();
      this.#watched.delete(folder);
    }
    for (const [folder, inode] of present) if (!this.#watched.has(folder)) this.#watch(folder, inode);
  }

  close(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
  }

  /** Ignores a folder that was removed meanwhile. The next update does not find it. */
  #watch(folder: string, inode: number): void {
    try {
      const watcher = watch(folder, this.#changed).on("error", this.#changed);
      this.#watched.set(folder, { inode, watcher });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

/** Lists a folder and all folders in it, each with its inode. Lists nothing if the folder does not exist. */
function* foldersIn(folder: string): Generator<readonly [folder: string, inode: number]> {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) return;
  yield [folder, found.ino];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory() && !isIgnored(entry.name)) yield* foldersIn(join(folder, entry.name));
  }
}

/** Changes within this time, in milliseconds, count as one because editors save a file in several steps. */
const SETTLE_MS = 60;

/** The files of a run. */
export interface RunFiles {
  /** Those that can change its result, also missing ones. */
  read: readonly string[];
  /** Those of them that `--update` wrote. */
  written: readonly string[];
}

/** Calls `run` at once, and again after each change of the files that it reads, until a signal stops it. */
export async function watchAndRun(
  paths: readonly string[],
  run: (files: RunFiles) => Promise<ExitCode>,
): Promise<ExitCode> {
  let isRunning = false;
  let timer: NodeJS.Timeout | undefined;
  const inputs = new Inputs(paths);
  const runIfChanged = async (): Promise<void> => {
    folders.update(inputs.files);
    if (isRunning || !inputs.changed()) return;
    isRunning = true;
    const files: RunFiles = { read: [], written: [] };
    await run(files).catch(reportFailure);
    inputs.wereRead(files);
    process.stdout.write("\nwatching for changes; Ctrl-C ends\n");
    isRunning = false;
    // Files may have changed meanwhile.
    changed();
  };
  const changed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void runIfChanged(), SETTLE_MS);
  };
  const stopped = stopSignal();
  const folders = new FolderWatch(foldersOf(paths), changed);
  await runIfChanged();
  await stopped;
  clearTimeout(timer);
  folders.close();
  return EXIT.ok;
}

/** The files that can change the result of a run. Other files in their folders, such as reports, change all the time. */
class Inputs {
  readonly #paths: readonly string[];
  /** The files that the last run read, besides those at the paths. */
  #read: readonly string[] = [];
  /** What each file was like when the last run began. */
  #known: ReadonlyMap<string, string> | null = null;

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  get files(): readonly string[] {
    return [...new Set([...foundAt(this.#paths).map((file) => resolve(file)), ...this.#read])];
  }

  /** Whether a file has changed, come or gone since the last run began. Call it before each run. */
  changed(): boolean {
    const before = this.#known;
    this.#known = new Map(this.files.map((file) => [file, versionOf(file)]));
    return before === null || !isDeepStrictEqual(before, this.#known);
  }

  /** Takes the files of a run that has ended. What it wrote itself is no change. */
  wereRead({ read, written }: RunFiles): void {
    if (read.length > 0) this.#read = read.map((file) => resolve(file));
    const known = new Map(this.#known);
    for (const file of this.#read) if (!known.has(file)) known.set(file, versionOf(file));
    for (const file of written) known.set(resolve(file), versionOf(file));
    const files = new Set(this.files);
    this.#known = new Map([...known].filter(([file]) => files.has(file)));
  }
}

/** Identifies a version of a file; empty if it does not exist. */
function versionOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ino} ${found.mtimeNs} ${found.size}`;
}

function foundAt(paths: readonly string[]): readonly string[] {
  try {
    return findFiles(paths);
  } catch (error) {
    if (error instanceof NoFilesError) return [];
    throw error;
  }
}

/** Returns the folders to watch for paths; of a glob, the part before its first pattern. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = paths.map((path) => {
    const plain = path.replace(/[^/]*[*?{[].*$/, "") || ".";
    return statSync(plain, { throwIfNoEntry: false })?.isDirectory() === true ? plain : dirname(plain);
  });
  return [...new Set(folders)];
}
