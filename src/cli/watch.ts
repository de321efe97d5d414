import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findFiles, NoFilesError } from "../scenario/run/files.ts";
import { reportFailure } from "./failure.ts";
import { EXIT, type ExitCode, stopSignal, whenClosed } from "./process.ts";

/** Whether a folder is not watched, because it may have thousands of folders and no scenarios. */
const isIgnored = (name: string): boolean => name === "node_modules" || name.startsWith(".");

/**
 * Watches folders and all folders in them with a watcher each, and calls `changed` at every change. Node 20's recursive watch
 * on Linux misses later changes of a file once another file is renamed over it, which is how many editors save.
 */
function watchFolders(roots: readonly string[], changed: () => void) {
  /** Each with the inode of its folder, in case another takes its name. */
  const watched = new Map<string, { readonly inode: number; readonly watcher: FSWatcher }>();
  const add = (folder: string, inode: number): void => {
    try {
      watched.set(folder, { inode, watcher: watch(folder, changed).on("error", changed) });
    } catch (error) {
      // A folder that was removed meanwhile is not found by the next update.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  };
  return {
    /** Watches new folders and those of some files, and stops watching others. */
    update: (files: readonly string[]): void => {
      const present = new Map(roots.flatMap((root) => [...foldersIn(root)]));
      for (const folder of new Set(files.map((file) => dirname(file)))) {
        const found = statSync(folder, { throwIfNoEntry: false });
        if (found !== undefined) present.set(folder, found.ino);
      }
      for (const [folder, { inode, watcher }] of watched) {
        if (present.get(folder) === inode) continue;
        watcher.close();
        watched.delete(folder);
      }
      for (const [folder, inode] of present) if (!watched.has(folder)) add(folder, inode);
    },
    close: (): void => {
      for (const { watcher } of watched.values()) watcher.close();
    },
  };
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

/**
 * Calls `run` at once, and again after each change of the files that it reads, until a signal stops it or nobody reads stdout.
 * @throws what the first run throws: no change of a file mends a command line
 */
export async function watchAndRun(
  paths: readonly string[],
  run: (files: RunFiles) => Promise<ExitCode>,
): Promise<ExitCode> {
  let isFirst = true;
  let isRunning = false;
  let timer: NodeJS.Timeout | undefined;
  const inputs = inputsAt(paths);
  const runIfChanged = async (): Promise<void> => {
    folders.update(inputs.files());
    if (isRunning || !inputs.changed()) return;
    isRunning = true;
    const files: RunFiles = { read: [], written: [] };
    await run(files).catch((error: unknown) => {
      if (isFirst) throw error;
      reportFailure(error);
    });
    isFirst = false;
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
  const unread = new Promise<void>((resolve) => whenClosed(process.stdout, resolve));
  const stopped = Promise.race([stopSignal(), unread]);
  const folders = watchFolders(foldersOf(paths), changed);
  try {
    await runIfChanged();
    await stopped;
  } finally {
    clearTimeout(timer);
    folders.close();
  }
  return EXIT.ok;
}

/** The files that can change the result of a run. Other files in their folders, such as reports, change all the time. */
function inputsAt(paths: readonly string[]) {
  /** The files that the last run read, besides those at the paths. */
  let lastRead: readonly string[] = [];
  /** What each file was like when the last run began. */
  let known: ReadonlyMap<string, string> | null = null;
  const files = (): string[] => [...new Set([...foundAt(paths).map((file) => resolve(file)), ...lastRead])];
  return {
    files,
    /** Whether a file has changed, come or gone since the last run began. Call it before each run. */
    changed: (): boolean => {
      const before = known;
      known = new Map(files().map((file) => [file, versionOf(file)]));
      return before === null || !isDeepStrictEqual(before, known);
    },
    /** Takes the files of a run that has ended. What it wrote itself is no change. */
    wereRead: ({ read, written }: RunFiles): void => {
      if (read.length > 0) lastRead = read.map((file) => resolve(file));
      const versions = new Map(known);
      for (const file of lastRead) if (!versions.has(file)) versions.set(file, versionOf(file));
      for (const file of written) versions.set(resolve(file), versionOf(file));
      const present = new Set(files());
      known = new Map([...versions].filter(([file]) => present.has(file)));
    },
  };
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
