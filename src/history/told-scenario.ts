import { isNote, type Notes } from "../engine/journal-line.ts";
import { BEGINNING, scan } from "../engine/journal-scan.ts";
import { StoreError } from "../engine/store-error.ts";
import { damageText } from "../engine/torn-end.ts";
import { isCorrupt, type JournalSource } from "./journal-source.ts";

/** The scenario whose failure a report is of, and the line that carries it. */
export interface CarriedScenario {
  readonly line: number;
  readonly sources: Notes["scenario"];
}

/** The scenario that a report carries; null when it carries none. @throws StoreError when the report is damaged */
export function scenarioIn(source: JournalSource): CarriedScenario | null {
  let carried: CarriedScenario | null = null;
  const { damage } = scan(source.file, BEGINNING, (line) => {
    if (isNote(line, "scenario")) carried = { line: line.n, sources: line.d };
  });
  if (damage !== null && isCorrupt(source, damage)) {
    throw new StoreError("corrupt", damageText(source.path, source.name, damage));
  }
  return carried;
}
