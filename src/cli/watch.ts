import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { reportFailure } from "./failure.ts";
import { stopSignal } from "./process.ts";

/** Not looked into: nobody keeps scenarios there, and there may be thousands of folders. */
const IGNORED: ReadonlySet<string> = new Set(["node_modules", ".git"]);

interface Watched {
  /** Tells a folder from another that took its place. */
  readonly inode: number;
  readonly watcher: FSWatcher;
}

/**
 * Watches folders with all the folders in them, each by itself: Node 20's own recursive watch loses sight of a file
 * on Linux as soon as another is renamed over it, which is how many editors save.
 */
class FolderWatch {
  readonly #roots: readonly string[];
  readonly #changed: () => void;
  readonly #watched = new Map<string, Watched>();

  /** `changed` is told of everything that happens in a folder. */
  constructor(roots: readonly string[], changed: () => void) {
    this.#roots = roots;
    this.#changed = changed;
    this.look();
  }

  /** Takes folders that have come or gone into account. */
  look(): void {
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

  /** A folder that is gone before it can be watched is one that the next look does not find. */
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

/** A folder and those within it, each with its inode; of one that is gone nothing. */
function* foldersIn(folder: string): Generator<readonly [folder: string, inode: number]> {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) return;
  yield [folder, found.ino];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory() && !IGNORED.has(entry.name)) yield* foldersIn(join(folder, entry.name));
  }
}

/** Editors write a file in several steps; what changes within so many milliseconds is one change. */
const SETTLE_MS = 60;

/** Runs at once, and again when something in the folders of the paths changes, until it is told to stop. */
export async function watchAndRun(paths: readonly string[], run: () => Promise<ExitCode>): Promise<ExitCode> {
  let isRunning = false;
  let isStale = true;
  const runWhileStale = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    while (isStale) {
      isStale = false;
      await run().catch(reportFailure);
      process.stdout.write("\nwatching; a change runs it again, Ctrl-C ends\n");
    }
    isRunning = false;
  };
  let timer: NodeJS.Timeout | null = null;
  const changed = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => {
      folders.look();
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

/** The folders in which paths lie; of a glob, the part before its first sign. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = paths.map((path) => {
    const plain = path.replace(/[^/]*[*?{[].*$/, "") || ".";
    return statSync(plain, { throwIfNoEntry: false })?.isDirectory() === true ? plain : dirname(plain);
  });
  return [...new Set(folders)];
}
