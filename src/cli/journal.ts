import { VERSION } from "../config.ts";
import { type Given, LINE, readOne, type Setting, truth } from "../setting.ts";
import type { Command } from "./command.ts";
import type { ExitCode } from "./exit-code.ts";
import { sourceNamed, TAKES_JOURNAL } from "./history-arguments.ts";
import { OutputLines, paintOf } from "./output.ts";

const PATTERN: Setting<RegExp> = { expected: "a regular expression, or an id", read: readPattern };

/** `clobsim journal`: prints a journal as a person reads it. */
export const journalCommand: Command = {
  name: "journal",
  summary: "Print a journal or a report line by line: when, who, what, and what came of it.",
  takes: TAKES_JOURNAL,
  flags: [
    { name: "from", group: "Which:", text: "The first line to print", otherwise: "1" },
    { name: "to", group: "Which:", text: "The last line to print", otherwise: "the end" },
    {
      name: "grep",
      group: "Which:",
      text: "Only lines whose words match this regular expression, or that speak of the order, trade, market, event, token or account of this id, slug or address",
    },
    { name: "json", group: "Output:", text: "A JSON object a line, with the events of each", toggle: "on" },
  ],
  examples: [
    ["journal .clobsim", "all that was done"],
    ["journal .clobsim --from 100 --to 120", "a part of it"],
    ["journal report.ndjson --grep fills", "what traded"],
    ["journal .clobsim --grep 4acfce73-8b67-80ed-9cc2-000000000001", "what the API calls so"],
  ],
  run: printJournal,
};

async function printJournal(given: Given, words: readonly string[]): Promise<ExitCode> {
  const from = readOne("from", LINE, given) ?? 1;
  const to = readOne("to", LINE, given) ?? undefined;
  const pattern = readOne("grep", PATTERN, given);
  const isJson = readOne("json", truth, given) ?? false;
  const source = sourceNamed("journal", words);
  const { Walk, Mentions, endingOf, journalLine } = await import("./on-histories.ts");
  const walk = new Walk(source, VERSION, { to });
  const paint = paintOf(given.environment);
  const output = new OutputLines();
  const end = walk.run((told) => {
    if (told.line.n < from) return;
    const { plain, painted, json } = journalLine(told, walk.exchange.state, paint);
    if (pattern !== null && !pattern.test(plain) && !new Mentions(told, walk.exchange.state).matches(pattern))
      return;
    output.add(isJson ? JSON.stringify(json) : painted);
  });
  output.end();
  const { code, lines } = endingOf(source, end, walk.exchange.state);
  if (lines.length > 0) process.stderr.write(`clobsim: ${lines.join("\n")}\n`);
  return code;
}

function readPattern(given: string): RegExp | null {
  try {
    return given === "" ? null : new RegExp(given, "iu");
  } catch {
    return null;
  }
}
