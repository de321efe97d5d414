import { closeSync, readSync } from "node:fs";
import { basename } from "node:path";
import { DEFAULT_DATA } from "../config.ts";
import { shellPath } from "../core/format.ts";
import { BEGINNING } from "../engine/journal-line.ts";
import { damageText, scan } from "../engine/journal-scan.ts";
import type { JournalSource } from "../history/journal-files.ts";
import { replayJournalLines } from "../history/journal-replay.ts";
import {
  CUT_WARNING,
  endsReport,
  MAX_REPORT_BYTES,
  type ReportContent,
  reportBytes,
  reportName,
} from "../history/report.ts";
import { inspectorPage, NOT_BUILT, withReport } from "../inspector-page.ts";
import { FILE_LIMITS, openRegular, readRegular } from "../regular-file.ts";
import { askServer, serverNamed } from "./ask-server.ts";
import type { Run } from "./commands.ts";
import { replayProblems } from "./failure.ts";
import { openNamed } from "./journal.ts";
import { save, warn } from "./output.ts";
import { EXIT, type ExitCode, UsageError } from "./process.ts";

/** `clobsim report`: writes one file that another machine can replay. */
export const report: Run<"report"> = async (values, [word], given) => {
  const { out } = values;
  const reason = values.reason ?? "it was requested";
  const url = serverNamed("report", word, values, given);
  if (url !== null) {
    const path = `/sim/report?reason=${encodeURIComponent(reason)}`;
    const asked = { simToken: values.simToken, path, what: "report its sessions" };
    const text = await askServer(url, asked, ({ headers, text }) =>
      headers["content-type"] === "application/x-ndjson" ? text : null,
    );
    await write(out ?? reportName(lastHashIn(text)), text);
    return EXIT.ok;
  }
  const source = openNamed(word ?? DEFAULT_DATA);
  const { content, code } = reportContent(source, reason);
  const path = out ?? reportName(content.hash);
  await write(path, reportBytes(content, path), [source.path]);
  return code;
};

async function write(path: string, content: string | Uint8Array, inputs: readonly string[] = []) {
  await save(path, content, "--out", inputs);
  warn(`the report is in ${path}; on any machine, clobsim replay ${shellPath(path)} replays it`);
}

/**
 * Returns the content of a report of a directory, and the exit code for the journal's condition. If the journal is damaged
 * or its replay differs, the report is written all the same, so that it shows the problem.
 */
function reportContent(source: JournalSource, reason: string) {
  const end = replayJournalLines(source);
  const ending = replayProblems(source, end);
  if (ending.lines.length > 0) warn(ending.lines);
  const content: ReportContent = {
    history: { kind: "journal", path: source.path, end: end.scan },
    reason,
    now: end.exchange.now,
    hash: end.problem === null ? end.exchange.hash : "",
    defect: null,
  };
  return { content, code: ending.code };
}

/** Returns the state hash in the last line of a report. */
const lastHashIn = (text: string): string => /"hash":"(?:v2:)?([0-9a-f]{64})"[^\n]*\n$/.exec(text)?.[1] ?? "";

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
  const { name, bytes, code } = source.isFolder ? ofFolder(source) : ofReport(source);
  await save(path, await withReport(page, name, bytes), "--html");
  // The report of a folder has a name only for whoever downloads it from the page.
  const content = source.isFolder ? `a report of ${source.name}` : name;
  warn(
    `the inspector with ${content} is in ${path}; open it in any browser, it sends nothing over the network`,
  );
  return code;
}

/** Returns the report that `clobsim report` would write of a data directory. */
function ofFolder(source: JournalSource) {
  const { content, code } = reportContent(source, "it was opened in the inspector");
  const name = reportName(content.hash);
  return { name, bytes: reportBytes(content, name), code };
}

function ofReport({ path, name, file }: JournalSource) {
  let isEnded = false;
  const { damage } = scan(file, BEGINNING, (line) => {
    isEnded = endsReport(line);
  });
  file.close();
  const bytes = readRegular(path, MAX_REPORT_BYTES);
  if (damage !== null) warn(`${damageText(path, name, damage)}; the page shows the lines before the damage`);
  else if (!isEnded) warn(`${name}: ${CUT_WARNING}`);
  return { name: basename(path), bytes, code: damage === null ? EXIT.ok : EXIT.corrupt };
}

/** Text at the beginning of every page that this command writes. */
const TITLE = "<title>clobsim inspector</title>";
const HEAD_BYTES = 4096;

/** @throws UsageError if the path has a file that this command has not written. */
function requireReplaceable(path: string): void {
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    const file = openRegular(path, FILE_LIMITS.journal);
    readSync(file, head);
    closeSync(file);
  } catch {
    // There is no file, it is a pipe, or writing it reports the error.
    return;
  }
  if (head.includes(TITLE)) return;
  throw new UsageError(
    `--html expects the path of a new file, or of a page that it has written before, found ${path}`,
  );
}
