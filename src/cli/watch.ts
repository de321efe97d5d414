import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { reportFailure } from "./failure.ts";
import { stopSignal } from "./process.ts";

/** Folders that are not watched because they may have thousands of folders and no scenarios. */
const IGNORED: ReadonlySet<string> = new Set(["node_modules", ".git"]);

interface Watched {
  /** Identifies the folder, in case another takes its name. */
  readonly inode: number;
  readonly watcher: FSWatcher;
}

/**
 * Watches folders and all folders in them with a watcher each. Node 20's recursive watch on Linux misses later changes of a
 * file once another file is renamed over it, which is how many editors save.
 */
class FolderWatch {
  readonly #roots: readonly string[];
  readonly #changed: () => void;
  readonly #watched = new Map<string, Watched>();

  /** `changed` is called at every change in a folder. */
  constructor(roots: readonly string[], changed: () => void) {
    this.#roots = roots;
    this.#changed = changed;
    this.update();
  }

  /** Watches new folders, and stops watching removed ones. */
  update(): void {
    const present = new Map(this.#roots.flatMap((root) => [...foldersIn(root)]));
    for (const [folder, { inode, watcher }] of this.#watched) {
      if (present.get(folder) === inode) continue;
      watcher.close();
      this.#watched.delete(folder);
    }
    for (const [folder, inode] of present) if (!this.#watched.has(folder)) this.#watch(folder, inode);
  }

  close(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  /** Ignores a folder that was removed meanwhile. The next update does not find it. */
  #watch(folder: string, inode: number): void {
    try {
      const watcher = watch(folder, this.#changed);
      watcher.on("error", this.#changed);
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
    if (entry.isDirectory() && !IGNORED.has(entry.name)) yield* foldersIn(join(folder, entry.name));
  }
}

/** Changes within this time, in milliseconds, count as one because editors save a file in several steps. */
const SETTLE_MS = 60;

/** Calls `run` at once, and again after each change in the folders of the paths, until a signal stops it. */
export async function watchAndRun(paths: readonly string[], run: () => Promise<ExitCode>): Promise<ExitCode> {
  let isRunning = false;
  let isStale = true;
  const runWhileStale = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    while (isStale) {
      isStale = false;
      await run().catch(reportFailure);
      process.stdout.write("\nwatching for changes; Ctrl-C ends\n");
    }
    isRunning = false;
  };
  let timer: NodeJS.Timeout | null = null;
  const changed = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => {
      folders.update();
      isStale = true;
      void runWhileStale();
    }, SETTLE_MS);
  };
  const stopped = stopSignal();
  const folders = new FolderWatch(foldersOf(paths), changed);
  await runWhileStale();
  await stopped;
  if (timer !== null) clearTimeout(timer);
  folders.close();
  return EXIT.ok;
}

/** Returns the folders to watch for paths; of a glob, the part before its first pattern. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = paths.map((path) => {
    const plain = path.replace(/[^/]*[*?{[].*$/, "") || ".";
    return statSync(plain, { throwIfNoEntry: false })?.isDirectory() === true ? plain : dirname(plain);
  });
  return [...new Set(folders)];
}
