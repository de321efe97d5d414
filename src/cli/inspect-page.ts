import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { BEGINNING } from "../engine/journal-line.ts";
import { damageText, scan } from "../engine/journal-scan.ts";
import type { JournalSource } from "../history/journal-source.ts";
import { CUT, endsReport, MAX_REPORT_BYTES, reportBytes, reportName } from "../history/report.ts";
import { inspectorPage, NOT_BUILT, withReport } from "../inspector-page.ts";
import { readRegular } from "../regular-file.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { sourceNamed } from "./journal-text.ts";
import { save, warn } from "./output.ts";
import { toldIn } from "./report.ts";

/** A report that a page carries, and the exit code that says in what order it is. */
interface Carried {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly code: ExitCode;
}

/**
 * `clobsim inspect --html`: one file that shows a report in any browser. What is damaged is written all the same, as far
 * as a page can read it; the exit code says so.
 */
export async function writePage(named: string, path: string): Promise<ExitCode> {
  const page = await inspectorPage();
  if (page === null) throw new UsageError(NOT_BUILT);
  const source = sourceNamed(named);
  const { size } = source.file;
  if (size > MAX_REPORT_BYTES) {
    throw new UsageError(
      `--html takes at most ${MAX_REPORT_BYTES} bytes, ${source.path} has ${size}: a page that is open already takes a larger report that is dropped on it`,
    );
  }
  requireReplaceable(path);
  const { name, bytes, code } = source.isFolder ? ofFolder(named) : ofReport(source);
  await save(path, await withReport(page, name, bytes), "--html");
  warn(
    `the inspector with ${name} in it is in ${path}; any browser opens it, and nothing leaves the machine`,
  );
  return code;
}

const REASON = "somebody looks into it";

/** What `clobsim report` would write of a data directory. */
function ofFolder(folder: string): Carried {
  const { content, code } = toldIn(folder, REASON);
  const name = reportName(content.hash);
  return { name, bytes: reportBytes(content, name), code };
}

function ofReport(source: JournalSource): Carried {
  const { path, file } = source;
  let isEnded = false;
  const { damage } = scan(file, BEGINNING, (line) => {
    isEnded = endsReport(line);
  });
  file.close();
  const carried = { name: basename(path), bytes: readRegular(path, MAX_REPORT_BYTES) };
  if (damage === null) {
    if (!isEnded) warn(`${source.name}: ${CUT}`);
    return { ...carried, code: EXIT.ok };
  }
  warn(`${damageText(path, source.name, damage)}; the page shows what stands before`);
  return { ...carried, code: EXIT.corrupt };
}

/** The beginning of every page that this command has written. */
const TITLE = "<title>clobsim inspector</title>";
const HEAD_BYTES = 4096;

/** @throws UsageError when something stands at the path that this command has not written. */
function requireReplaceable(path: string): void {
  const head = beginningOf(path);
  if (head === null || head.includes(TITLE)) return;
  throw new UsageError(
    `--html expects the path of a new file, or of a page that it has written before, found ${path}`,
  );
}

/** The first bytes of a file as text; null where no file is. */
function beginningOf(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    // Whoever writes it says what is wrong.
    return null;
  }
  try {
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
