import { randomUUID } from "node:crypto";
import { accessSync, constants, lstatSync, rmSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { constants as system } from "node:os";
import { draftOf } from "../engine/files.ts";
import { StoreError } from "../engine/store-error.ts";
import { UsageError } from "./exit-code.ts";

type Content = string | Uint8Array | Iterable<string>;

/** Whether a path names a regular file, or nothing yet. A device, a pipe or a link, such as /dev/stdout, cannot be replaced. */
export const isReplaceable = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;

/**
 * Writes the file of `--out` or another flag. A regular file is replaced when the content is complete; until then, and
 * after a failure or a signal, it is as before.
 * @throws UsageError if it cannot be written; StoreError if the disk is full or broken
 */
export async function save(path: string, content: Content, flag = "--out"): Promise<void> {
  try {
    await (isReplaceable(path) ? replace(path, content) : writeFile(path, content));
  } catch (error) {
    throw unwritable(`${flag} expects a file that can be written`, path, error);
  }
}

async function replace(path: string, content: Content): Promise<void> {
  const known = lstatSync(path, { throwIfNoEntry: false });
  if (known !== undefined) accessSync(path, constants.W_OK);
  const draft = draftOf(path, randomUUID());
  const remove = (): void => rmSync(draft, { force: true });
  const exit = (signal: keyof typeof system.signals): void => process.exit(128 + system.signals[signal]);
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

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** System errors of a full or broken disk. */
export const DISK_FAILURE: ReadonlySet<string> = new Set(["ENOSPC", "EIO"]);

/** Returns the error for a path that cannot be written. @throws the error itself if it is not a system error */
export function unwritable(expected: string, path: string, error: unknown): UsageError | StoreError {
  const { code }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  if (code === undefined) throw error;
  if (DISK_FAILURE.has(code)) return new StoreError("disk", `${path} cannot be written (${code})`);
  return new UsageError(`${expected}, found ${path} (${code})`);
}
