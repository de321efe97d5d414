import { type ReadOptions, type ReadScenario, readScenario } from "./read-scenario.ts";
import { readTextFile } from "./read-text-file.ts";
import { SourceText } from "./source-text.ts";

/** Reads the scenario of a file, in whose folder its paths stay. Never throws because of what the file is. */
export function loadScenario(file: string, options: Omit<ReadOptions, "folder"> = {}): ReadScenario {
  const read = readTextFile(file);
  if (read.ok) return readScenario(file, read.text, options);
  const place = new SourceText(file, read.before).placeOf(read.before.length);
  return { scenario: null, problems: [{ place, message: read.message, hint: null }] };
}
