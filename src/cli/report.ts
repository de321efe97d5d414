import { DEFAULT_DATA, VERSION } from "../config.ts";
import { JournalReplay } from "../history/journal-replay.ts";
import { type ReportContent, reportBytes, reportName } from "../history/report.ts";
import { shellWord } from "../scenario/run/run-scenario.ts";
import { SERVER_URL } from "../setting.ts";
import { askServer, serverNamed } from "./ask-server.ts";
import type { Run } from "./commands.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { endingOf, openNamed } from "./journal-text.ts";
import { warn } from "./output.ts";
import { save } from "./output-file.ts";

const DEFAULT_REASON = "it was requested";

/** `clobsim report`: writes one file that another machine can replay. */
export const run: Run<"report"> = async (values, [word], given) => {
  const { out } = values;
  const reason = values.reason ?? DEFAULT_REASON;
  const isUrl = word !== undefined && /^https?:/.test(word);
  // A directory on the command line takes precedence over a server in the environment.
  const isNamed = word === undefined || given.flags.url !== undefined || given.flags.from !== undefined;
  const url = isUrl ? SERVER_URL.read(word) : isNamed ? serverNamed(values, given) : null;
  if (word !== undefined && isUrl === (url === null)) {
    throw new UsageError(`report expects one directory or the URL of a server, found ${word}`);
  }
  if (url !== null) {
    const path = `/sim/report?reason=${encodeURIComponent(reason)}`;
    const asked = { simToken: values.simToken, path, what: "report its sessions" };
    const text = await askServer(url, asked, ({ headers, text }) =>
      headers["content-type"] === "application/x-ndjson" ? text : null,
    );
    await write(out ?? reportName(lastHashIn(text)), text);
    return EXIT.ok;
  }
  const { content, code } = reportContent(word ?? DEFAULT_DATA, reason);
  const path = out ?? reportName(content.hash);
  await write(path, reportBytes(content, path));
  return code;
};

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await save(path, content);
  warn(`the report is in ${path}; on any machine, clobsim replay ${shellWord(path)} replays it`);
}

/**
 * Returns the content of a report of a directory, and the exit code for the journal's condition. If the journal is damaged
 * or its replay differs, the report is written all the same, so that it shows the problem.
 */
export function reportContent(folder: string, reason: string): { content: ReportContent; code: ExitCode } {
  const source = openNamed(folder);
  const replay = new JournalReplay(source, VERSION);
  const end = replay.run();
  const { exchange } = replay;
  const { code, lines } = endingOf(source, end, exchange.state);
  if (lines.length > 0) warn(lines.join("\n"));
  const content: ReportContent = {
    history: { kind: "journal", path: source.path, end: end.scan },
    engine: VERSION,
    reason,
    now: exchange.now,
    hash: end.problem === null ? exchange.hash : "",
    defect: null,
  };
  return { content, code };
}

/** Returns the state hash in the last line of a report. */
const lastHashIn = (text: string): string => /"hash":"(?:v2:)?([0-9a-f]{64})"[^\n]*\n$/.exec(text)?.[1] ?? "";
