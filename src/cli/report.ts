import { DEFAULT_DATA, SETTINGS, VERSION } from "../config.ts";
import type { ReportContent } from "../history/report.ts";
import { type Given, ORIGIN, readOne, type Setting } from "../setting.ts";
import { askServer, refusalOf, serverFlags, serverNamed } from "./ask-server.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { sourceNamed } from "./history-arguments.ts";
import { OUT, save } from "./output.ts";

const REASON: Setting<string> = {
  expected: "one line of 1 to 200 characters",
  read: (text) => (/^[^\p{Cc}\p{Cs}]{1,200}$/u.test(text) && text.trim() !== "" ? text : null),
};
const DEFAULT_REASON = "somebody asked for it";

/** `clobsim report`: one file that another machine replays. */
export const reportCommand: Command = {
  name: "report",
  summary: "Write all that was done on an exchange to one file that another machine replays.",
  takes: "[DIR]",
  flags: [
    ...serverFlags({ text: "Where a running server answers, instead of a directory" }),
    { name: "reason", group: "Output:", text: "What went wrong, in a line", otherwise: "none" },
    { name: "out", group: "Output:", text: "File to write", otherwise: "report-STATE.ndjson" },
  ],
  examples: [
    ["report", `of the exchange in ${DEFAULT_DATA}, whether or not it runs`],
    ["report --url http://127.0.0.1:7070 --out bug.ndjson", "of a running server, which may keep nothing"],
    ["replay bug.ndjson", "what whoever gets the file types"],
  ],
  run: report,
};

async function report(given: Given, words: readonly string[]): Promise<ExitCode> {
  const out = readOne("out", OUT, given);
  const reason = readOne("reason", REASON, given) ?? DEFAULT_REASON;
  const [word, ...others] = words;
  const isUrl = word !== undefined && /^https?:/.test(word);
  // Which server the environment names does not matter where a directory is named.
  const url = isUrl
    ? ORIGIN.read(word)
    : serverNamed(word === undefined ? given : { ...given, environment: {} });
  if (others.length > 0 || (!isUrl && word !== undefined && url !== null) || (isUrl && url === null)) {
    throw new UsageError(
      `report expects one directory or the origin of a server, found ${words.join(" ")} (see clobsim report --help)`,
    );
  }
  const { reportBytes, reportName } = await import("./on-histories.ts");
  if (url !== null) {
    const text = await reportedBy(url, readOne("sim-token", SETTINGS["sim-token"], given), reason);
    await write(out ?? reportName(lastHashIn(text)), text);
    return EXIT.ok;
  }
  const { content, code } = await toldIn(word ?? DEFAULT_DATA, reason);
  const path = out ?? reportName(content.hash);
  await write(path, reportBytes(content, path));
  return code;
}

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await save(path, content);
  process.stderr.write(
    `clobsim: the report is in ${path}; on any machine, clobsim replay ${path} replays it\n`,
  );
}

/**
 * What a directory's journal comes to, and the exit code that says so: where it is damaged, or leads elsewhere than it
 * says, the report is written all the same, for it is to show just that.
 */
async function toldIn(folder: string, reason: string): Promise<{ content: ReportContent; code: ExitCode }> {
  const source = sourceNamed("report", [folder]);
  const { Walk, endingOf } = await import("./on-histories.ts");
  const walk = new Walk(source, VERSION);
  const end = walk.run();
  const { exchange } = walk;
  const { code, lines } = endingOf(source, end, exchange.state);
  if (lines.length > 0) process.stderr.write(`clobsim: ${lines.join("\n")}\n`);
  const content: ReportContent = {
    deeds: { kind: "journal", path: source.path, end: end.scan },
    engine: VERSION,
    reason,
    now: exchange.now,
    hash: end.trouble === null ? exchange.hash : "",
    defect: null,
  };
  return { content, code };
}

/** @throws UsageError when there is no clobsim, or it refuses. */
async function reportedBy(url: URL, token: string | null, reason: string): Promise<string> {
  const reply = await askServer(url, token, `/sim/report?reason=${encodeURIComponent(reason)}`);
  const isReport = reply.headers["content-type"] === "application/x-ndjson";
  if (reply.status === 200 && isReport) return reply.text;
  throw refusalOf(reply, url.origin, token !== null, "report its sessions");
}

/** The hash of the state, as the last line of a report says it. */
const lastHashIn = (text: string): string => /"hash":"(?:v2:)?([0-9a-f]{64})"[^\n]*\n$/.exec(text)?.[1] ?? "";
