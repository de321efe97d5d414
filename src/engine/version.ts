import { shown } from "../core/document/document-error.ts";
import { FORMAT, isNote, type Line, type OpeningData } from "./journal-line.ts";
import { StoreError } from "./store-error.ts";

/** Whether a version, `1.2.3`, is newer than another. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [partsOf(version), partsOf(than)];
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? 0;
    if (part !== other) return part > other;
  }
  return false;
}

const partsOf = (version: string): number[] =>
  version.split(".").map((part) => Number.parseInt(part, 10) || 0);

/** @throws StoreError `newer` when a newer program has written a line, or its format is not known here. */
export function demandNotNewer(line: Line, path: string, engine: string): void {
  if (isNote(line, "opening")) demandKnown(line.d, path, engine);
  else if (isNote(line, "start")) demandEngine(line.d.engine, path, engine);
}

/** The same of what a journal begins with. */
export function demandKnown({ format, engine: by }: OpeningData, path: string, engine: string): void {
  if (format !== FORMAT) {
    throw new StoreError("newer", `${path} has the format ${shown(format)}, this version reads ${FORMAT}`);
  }
  demandEngine(by, path, engine);
}

/** @throws StoreError `newer` when a program is newer than this one. */
export function demandEngine(by: string, path: string, engine: string): void {
  if (!isNewer(by, engine)) return;
  throw new StoreError(
    "newer",
    `${path} was written by version ${by}, this is ${engine}: use that version, or another directory`,
  );
}
