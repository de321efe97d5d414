import { FORMAT, isNote, type Line } from "./journal-line.ts";
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
  if (isNote(line, "opening") && line.d.format !== FORMAT) {
    throw new StoreError("newer", `${path} has the format ${line.d.format}, this version reads ${FORMAT}`);
  }
  const by = isNote(line, "opening") || isNote(line, "start") ? line.d.engine : null;
  if (by === null || !isNewer(by, engine)) return;
  throw new StoreError(
    "newer",
    `${path} was written by version ${by}, this is ${engine}: use that version, or another directory`,
  );
}
