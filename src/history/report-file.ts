import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SHOWN_DIGITS = 8;

/** The digits of a state hash, without its version. */
export const digitsOf = (hash: string): string => hash.slice(hash.indexOf(":") + 1);

/** What the file of a report is called that is named after the state. */
export const reportName = (hash: string): string =>
  `report-${digitsOf(hash).slice(0, SHOWN_DIGITS) || "unknown"}.ndjson`;

/**
 * Writes a report into a folder, which is made when it is not there, and answers its path. No file is overwritten.
 * `contentOf` is told the name of the file.
 */
export function saveReport(folder: string, subject: string, contentOf: (name: string) => Buffer): string {
  mkdirSync(folder, { recursive: true });
  const name = freeName(folder, subject);
  const path = join(folder, name);
  writeFileSync(path, contentOf(name), { flag: "wx", mode: 0o600 });
  return path;
}

/** A name in a folder that no file has yet. */
function freeName(folder: string, subject: string): string {
  for (let count = 1; ; count += 1) {
    const name = `${subject}${count === 1 ? "" : `-${count}`}.ndjson`;
    if (!existsSync(join(folder, name))) return name;
  }
}
