import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { join } from "node:path";

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
export class FolderWatch {
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
