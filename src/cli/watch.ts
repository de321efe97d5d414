import { statSync } from "node:fs";
import { resolve } from "node:path";
import { scheduler } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { findFiles, NoFilesError } from "../scenario/run/files.ts";
import { reportFailure } from "./failure.ts";
import { EXIT, type ExitCode, stopSignal, whenClosed } from "./process.ts";

/** Time between two looks at the files, in milliseconds. The system's notifications differ by platform and by editor. */
const POLL_MS = 250;
/** Time from a change to the run, in milliseconds, because editors save a file in several steps. */
const SETTLE_MS = 60;

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
export async function watchAndRun(paths: readonly string[], run: (files: RunFiles) => Promise<ExitCode>) {
  const ending = new AbortController();
  const { signal } = ending;
  const unread = new Promise<void>((resolve) => whenClosed(process.stdout, resolve));
  void Promise.race([stopSignal(), unread]).then(() => ending.abort());
  /** The files that the last run read. Other files in their folders, such as reports, change all the time. */
  let read: readonly string[] = [];
  const versions = () => versionsOf([...foundAt(paths), ...read]);
  for (let isFirst = true; ; isFirst = false) {
    const before = versions();
    const files: RunFiles = { read: [], written: [] };
    await run(files).catch((error: unknown) => {
      if (isFirst) throw error;
      reportFailure(error);
    });
    if (files.read.length > 0) read = files.read;
    // A change during the run counts, but not what the run wrote itself.
    const known = new Map([...versionsOf(read), ...before, ...versionsOf(files.written)]);
    const present = versions();
    for (const file of known.keys()) if (!present.has(file)) known.delete(file);
    process.stdout.write("\nwatching for changes; Ctrl-C ends\n");
    try {
      do await scheduler.wait(POLL_MS, { signal });
      while (isDeepStrictEqual(known, versions()));
      await scheduler.wait(SETTLE_MS, { signal });
    } catch (error) {
      if (signal.aborted) return EXIT.ok;
      throw error;
    }
  }
}

/** Returns the version of each file by its absolute path. */
const versionsOf = (files: readonly string[]) =>
  new Map(files.map((file) => [resolve(file), versionOf(file)]));

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
