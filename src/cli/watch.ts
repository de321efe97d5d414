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
  const inputs = inputsAt(paths);
  const ending = new AbortController();
  const { signal } = ending;
  const unread = new Promise<void>((resolve) => whenClosed(process.stdout, resolve));
  void Promise.race([stopSignal(), unread]).then(() => ending.abort());
  for (let isFirst = true; ; isFirst = false) {
    inputs.changed();
    const files: RunFiles = { read: [], written: [] };
    await run(files).catch((error: unknown) => {
      if (isFirst) throw error;
      reportFailure(error);
    });
    inputs.wereRead(files);
    process.stdout.write("\nwatching for changes; Ctrl-C ends\n");
    try {
      do await scheduler.wait(POLL_MS, { signal });
      while (!inputs.changed());
      await scheduler.wait(SETTLE_MS, { signal });
    } catch (error) {
      if (signal.aborted) return EXIT.ok;
      throw error;
    }
  }
}

/** The files that can change the result of a run. Other files in their folders, such as reports, change all the time. */
function inputsAt(paths: readonly string[]) {
  /** The files that the last run read, besides those at the paths. */
  let lastRead: readonly string[] = [];
  /** What each file was like at the last call of `changed`. */
  let known: ReadonlyMap<string, string> = new Map();
  const files = (): string[] => [...new Set([...foundAt(paths).map((file) => resolve(file)), ...lastRead])];
  return {
    /** Notes the versions of all files. Returns whether one has changed, come or gone since the last call or run. */
    changed: (): boolean => {
      const before = known;
      known = new Map(files().map((file) => [file, versionOf(file)]));
      return !isDeepStrictEqual(before, known);
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
