import { isNote, type Notes } from "../store/journal-line.ts";
import { BEGINNING, scan } from "../store/journal-scan.ts";
import type { JournalSource } from "./journal-source.ts";

/** The scenario whose failure a report is of; null when it is of something else. */
export function scenarioIn({ file }: JournalSource): Notes["scenario"] | null {
  let told: Notes["scenario"] | null = null;
  scan(file, BEGINNING, (line) => {
    if (isNote(line, "scenario")) told = line.d;
  });
  return told;
}
