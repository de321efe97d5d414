import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ReportContent, reportBytes } from "./report.ts";

const SHOWN_DIGITS = 8;

/** What the file of a report is called that is named after the state. */
export const reportName = (hash: string): string =>
  `report-${hash.slice(0, SHOWN_DIGITS) || "unknown"}.ndjson`;

/** A name in a folder that no file has yet. */
export function freeName(folder: string, subject: string): string {
  for (let count = 1; ; count += 1) {
    const name = `${subject}${count === 1 ? "" : `-${count}`}.ndjson`;
    if (!existsSync(join(folder, name))) return name;
  }
}

/** Writes a report into a folder, which is made when it is not there, and answers its path. No file is overwritten. */
export function saveReport(folder: string, subject: string, content: ReportContent): string {
  mkdirSync(folder, { recursive: true });
  const name = freeName(folder, subject);
  const path = join(folder, name);
  writeFileSync(path, reportBytes(content, name), { flag: "wx", mode: 0o600 });
  return path;
}
