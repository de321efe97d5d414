import { formatValue } from "../core/schema.ts";
import { FORMAT, isControl, type Line, type OpeningData } from "./journal-line.ts";

/** Why a directory or a file cannot be used; determines the exit code of the program. */
export type StoreProblem = "usage" | "corrupt" | "disk" | "locked" | "newer" | "differs";

/** A data directory or file cannot be used; the message is for its user. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly problem: StoreProblem;

  constructor(problem: StoreProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

/** An error in the content of a journal line: `path: expected X, found Y`. */
export const wrongLine = (path: string, line: number, what: string): StoreError =>
  new StoreError("corrupt", `${path}, line ${line}: ${what} (sed -n ${line}p ${path} prints it)`);

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

/** @throws StoreError `newer` if a newer program wrote a line, or its format is unknown */
export function assertNotNewer(line: Line, path: string, engine: string): void {
  if (isControl(line, "opening")) assertKnown(line.d, path, engine);
  else if (isControl(line, "start")) assertEngine(line.d.engine, path, engine);
}

/** Does the same for the first record. */
export function assertKnown({ format, engine: by }: OpeningData, path: string, engine: string): void {
  if (format !== FORMAT) {
    throw new StoreError(
      "newer",
      `${path} has the format ${formatValue(format)}, this version reads ${FORMAT}`,
    );
  }
  assertEngine(by, path, engine);
}

/** @throws StoreError `newer` if the version is newer than this one */
export function assertEngine(by: string, path: string, engine: string): void {
  if (!isNewer(by, engine)) return;
  throw new StoreError(
    "newer",
    `${path} was written by version ${by}, this is ${engine}: use that version, or another directory`,
  );
}
