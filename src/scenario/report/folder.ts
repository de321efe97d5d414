import type { ScenarioResult } from "../run/result.ts";

/** The folder of a file as the user named it, with a separator at its end; `./` for none. */
export const folderOf = (file: string): string =>
  file.slice(0, Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1) || "./";

/** Results by their folder, folders and results in the order of their coming. */
export function byFolder(results: readonly ScenarioResult[]): Map<string, ScenarioResult[]> {
  const folders = new Map<string, ScenarioResult[]>();
  for (const result of results) {
    const folder = folderOf(result.file);
    const others = folders.get(folder);
    if (others === undefined) folders.set(folder, [result]);
    else others.push(result);
  }
  return folders;
}

/** What the scenarios of a folder took together, in milliseconds. */
export const durationOf = (results: readonly ScenarioResult[]): number =>
  results.reduce((sum, { durationMs }) => sum + durationMs, 0);

/** How many of the results have a status. */
export const countOf = (results: readonly ScenarioResult[], status: ScenarioResult["status"]): number =>
  results.filter((result) => result.status === status).length;
