import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { BEGINNING } from "../engine/journal-line.ts";
import { damageText, scan } from "../engine/journal-scan.ts";
import type { JournalSource } from "../history/journal-source.ts";
import { CUT_WARNING, endsReport, MAX_REPORT_BYTES, reportBytes, reportName } from "../history/report.ts";
import { inspectorPage, NOT_BUILT, withReport } from "../inspector-page.ts";
import { readRegular } from "../regular-file.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { openNamed } from "./journal-text.ts";
import { warn } from "./output.ts";
import { save } from "./output-file.ts";
import { reportContent } from "./report.ts";

/** The report in a page, and the exit code for its condition. */
interface PageReport {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly code: ExitCode;
}

/**
 * `clobsim inspect --html`: writes one file that shows a report in any browser. A damaged report is written too, and the
 * exit code says so.
 */
export async function writePage(named: string, path: string): Promise<ExitCode> {
  const page = await inspectorPage();
  if (page === null) throw new UsageError(NOT_BUILT);
  const source = openNamed(named);
  const { size } = source.file;
  if (size > MAX_REPORT_BYTES) {
    throw new UsageError(
      `--html takes at most ${MAX_REPORT_BYTES} bytes, ${source.path} has ${size}: drop a larger report on an open inspector page`,
    );
  }
  requireReplaceable(path);
  const { name, bytes, code } = source.isFolder ? ofFolder(named) : ofReport(source);
  await save(path, await withReport(page, name, bytes), "--html");
  warn(`the inspector with ${name} is in ${path}; open it in any browser, it sends nothing over the network`);
  return code;
}

const REASON = "it was opened in the inspector";

/** Returns the report that `clobsim report` would write of a data directory. */
function ofFolder(folder: string): PageReport {
  const { content, code } = reportContent(folder, REASON);
  const name = reportName(content.hash);
  return { name, bytes: reportBytes(content, name), code };
}

function ofReport(source: JournalSource): PageReport {
  const { path, file } = source;
  let isEnded = false;
  const { damage } = scan(file, BEGINNING, (line) => {
    isEnded = endsReport(line);
  });
  file.close();
  const carried = { name: basename(path), bytes: readRegular(path, MAX_REPORT_BYTES) };
  if (damage === null) {
    if (!isEnded) warn(`${source.name}: ${CUT_WARNING}`);
    return { ...carried, code: EXIT.ok };
  }
  warn(`${damageText(path, source.name, damage)}; the page shows the lines before the damage`);
  return { ...carried, code: EXIT.corrupt };
}

/** Text at the beginning of every page that this command writes. */
const TITLE = "<title>clobsim inspector</title>";
const HEAD_BYTES = 4096;

/** @throws UsageError if the path has a file that this command has not written. */
function requireReplaceable(path: string): void {
  const head = readHead(path);
  if (head === null || head.includes(TITLE)) return;
  throw new UsageError(
    `--html expects the path of a new file, or of a page that it has written before, found ${path}`,
  );
}

/** Reads the first bytes of a file as text; null if it cannot be opened. */
function readHead(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    // Writing the file reports the error.
    return null;
  }
  try {
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
