import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder and its missing parents. Returns the first that was created; undefined if the folder exists. Node's
 * `recursive` option never returns in file systems such as /proc, where an existing folder takes no others.
 */
export function makeFolder(path: string, mode?: number): string | undefined {
  const parent = dirname(path);
  const isOrphan = parent !== path && statSync(parent, { throwIfNoEntry: false }) === undefined;
  const first = isOrphan ? makeFolder(parent, mode) : undefined;
  try {
    mkdirSync(path, { mode });
    return first ?? path;
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return first;
    throw error;
  }
}
