import { statSync } from "node:fs";
import { dirname } from "node:path";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { reportFailure } from "./failure.ts";
import { FolderWatch } from "./folder-watch.ts";
import { stopSignal } from "./stop-signal.ts";

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
