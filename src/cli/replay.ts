import { VERSION } from "../config.ts";
import { toIso } from "../core/time.ts";
import { isNote } from "../engine/journal-line.ts";
import type { JournalSource } from "../history/journal-source.ts";
import type { ChangedAnswer } from "../history/refused-again.ts";
import { visible } from "../scenario/report/text.ts";
import { type Given, LINE, MOMENT, readOne } from "../setting.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { sourceNamed, TAKES_JOURNAL } from "./history-arguments.ts";

/** `clobsim replay`: decides a journal anew and compares. */
export const replayCommand: Command = {
  name: "replay",
  summary:
    "Decide every command of a journal or a report anew, try each refused request again, and name what comes out otherwise.",
  takes: TAKES_JOURNAL,
  flags: [
    { name: "to", group: "Which:", text: "The last line to replay", otherwise: "the end" },
    { name: "until", group: "Which:", text: "Only what was done up to this moment" },
  ],
  examples: [
    ["replay .clobsim", "the directory of clobsim serve"],
    ["replay report.ndjson", "a bug report: it ends as it did where it was written"],
  ],
  run: replay,
};

async function replay(given: Given, words: readonly string[]): Promise<ExitCode> {
  const to = readOne("to", LINE, given) ?? undefined;
  const until = readOne("until", MOMENT, given) ?? undefined;
  const source = sourceNamed("replay", words);
  const { Walk, RefusedAgain, endingOf } = await import("./on-histories.ts");
  const walk = new Walk(source, VERSION, { to, until, isVerified: true });
  process.stdout.write(`${heading(source)}\n`);
  let reason: string | null = null;
  const refused = new RefusedAgain();
  const end = walk.run((told) => {
    const { line } = told;
    refused.take(told, walk.exchange.state);
    if (isNote(line, "report")) reason = visible(`${line.d.reason} (Node ${line.d.node})`);
  });
  const { exchange } = walk;
  const { code, lines } = endingOf(source, end, exchange.state);
  const { last, commands, trouble } = end;
  const rest = trouble === null ? "every one comes out as recorded" : "compared up to the line below";
  const verdict = [
    ...(reason === null ? [] : [`  written because ${reason}`]),
    `  ${commands.toLocaleString("en-US")} command${commands === 1 ? "" : "s"}, ${rest}`,
    ...(refused.summary === null ? [] : [`  ${refused.summary}`]),
    `  up to line ${last?.n ?? 0} at ${toIso(exchange.now)}`,
    ...(trouble === null ? [`  state ${exchange.hash}`] : []),
  ];
  process.stdout.write(`${verdict.join("\n")}\n`);
  if (lines.length > 0) {
    const out = code === EXIT.ok ? process.stdout : process.stderr;
    out.write(`clobsim: ${lines.join("\n")}\n`);
  }
  if (refused.changed.length === 0) return code;
  process.stderr.write(`clobsim: ${changesIn(source.name, refused.changed).join("\n")}\n`);
  return code === EXIT.ok ? EXIT.differs : code;
}

const MAX_CHANGES = 20;

function changesIn(name: string, changed: readonly ChangedAnswer[]): string[] {
  const shown = changed
    .slice(0, MAX_CHANGES)
    .flatMap(({ line, asked, change }) => [
      `line ${line} of ${name}: ${visible(change)}`,
      `  ${visible(asked)}`,
    ]);
  return changed.length <= MAX_CHANGES ? shown : [...shown, `and ${changed.length - MAX_CHANGES} more`];
}

function heading({ name, opening }: JournalSource): string {
  const { config, engine, start, base } = opening;
  return `${name}: a ${base.kind} of seed ${visible(config.seed)}, opened at ${toIso(start)} by clobsim ${engine}`;
}
