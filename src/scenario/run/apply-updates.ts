import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { readText } from "../../regular-file.ts";
import { MOST_BYTES } from "../language/text-limits.ts";
import type { Update } from "./session.ts";
import { shownPath } from "./shown-path.ts";

/** Writes what a run found out of date, and answers the files written; a value changes in its place in the file. */
export async function applyUpdates(updates: readonly Update[]): Promise<string[]> {
  const written = new Set<string>();
  for (const update of updates) {
    if (update.kind !== "file") continue;
    await mkdir(dirname(update.file), { recursive: true });
    await writeFile(update.file, update.text);
    written.add(update.file);
  }
  const values = updates.filter((update) => update.kind === "value");
  for (const file of new Set(values.map((value) => value.file))) {
    let text = readText(file, MOST_BYTES);
    const own = values.filter((value) => value.file === file).sort((a, b) => b.range[0] - a.range[0]);
    for (const { range, text: value } of own) text = text.slice(0, range[0]) + value + text.slice(range[1]);
    await writeFile(file, text);
    written.add(file);
  }
  return [...written].map(shownPath);
}
