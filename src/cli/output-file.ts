import { randomUUID } from "node:crypto";
import { accessSync, constants, existsSync, lstatSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { draftOf } from "../engine/files.ts";
import { DataFileError } from "../engine/journal.ts";
import { SIGNAL_EXIT, type StopSignal, UsageError } from "./process.ts";

type Content = string | Uint8Array | Iterable<string>;

/** Whether a path names a regular file, or nothing yet. A device, a pipe or a link, such as /dev/stdout, cannot be replaced. */
export const isReplaceable = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;

/**
 * Writes the file of `--out` or another flag. A regular file is replaced when the content is complete; until then, and
 * after a failure or a signal, it is as before.
 * @throws UsageError if it cannot be written; DataFileError if the disk is full or broken
 */
export const save = (path: string, content: Content, flag = "--out"): Promise<void> =>
  writing(path, flag, () =>
    isReplaceable(path) ? replace(path, content) : writeFile(path, content).catch(ignoreClosedPipe),
  );

/** Returns if nobody reads a pipe any more, because a command goes on as with a closed stdout. @throws any other error */
export function ignoreClosedPipe(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
}

/** Makes the missing folders of a path for `save`. @throws UsageError if the file could not be written */
export const prepare = (path: string, flag: string): void =>
  writing(path, flag, () => {
    mkdirSync(dirname(path), { recursive: true });
    for (const part of [dirname(path), path]) if (existsSync(part)) accessSync(part, constants.W_OK);
  });

/** Returns an absolute path without links, also of a file that does not exist. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const absolute = resolve(path);
    return join(realPath(dirname(absolute)), basename(absolute));
  }
}

/** Writes a file in `write`. @throws as `save` */
export function writing<Result>(path: string, flag: string, write: () => Result): Result {
  const wrong = (error: unknown): never => {
    throw unwritable(`${flag} expects a file that can be written`, path, error);
  };
  try {
    const result = write();
    return result instanceof Promise ? (result.catch(wrong) as Result) : result;
  } catch (error) {
    return wrong(error);
  }
}

async function replace(path: string, content: Content): Promise<void> {
  const known = lstatSync(path, { throwIfNoEntry: false });
  if (known !== undefined) accessSync(path, constants.W_OK);
  const draft = draftOf(path, randomUUID());
  const remove = (): void => rmSync(draft, { force: true });
  const exit = (signal: StopSignal): void => process.exit(SIGNAL_EXIT[signal]);
  process.on("exit", remove);
  for (const signal of SIGNALS) process.on(signal, exit);
  try {
    await writeFile(draft, content, { flag: "wx", ...(known && { mode: known.mode }) });
    await rename(draft, path);
  } finally {
    remove();
    process.off("exit", remove);
    for (const signal of SIGNALS) process.off(signal, exit);
  }
}

const SIGNALS = Object.keys(SIGNAL_EXIT) as StopSignal[];

/** System errors of a full or broken disk. */
export const DISK_FAILURE: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EIO"]);

/** Returns the error for a path that cannot be written. @throws the error itself if it is not a system error */
export function unwritable(expected: string, path: string, error: unknown): UsageError | DataFileError {
  const { code }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  if (code === undefined) throw error;
  if (DISK_FAILURE.has(code)) return new DataFileError("disk", `${path} cannot be written (${code})`);
  return new UsageError(`${expected}, found ${path} (${code})`);
}
