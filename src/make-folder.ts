import { accessSync, mkdirSync, statSync } from "node:fs";
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
    if (statSync(path, { throwIfNoEntry: false }) === undefined) throw error;
    // The slash makes the system refuse a file in its place with ENOTDIR.
    accessSync(`${path}/`);
    return first;
  }
}
