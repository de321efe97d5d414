import { stripVTControlCharacters } from "node:util";
import { VERSION } from "../config.ts";
import { JournalReplay } from "../history/journal-replay.ts";
import { Mentions } from "../history/mentions.ts";
import type { Run } from "./commands.ts";
import { UsageError } from "./exit-code.ts";
import { endingOf, journalLine, sourceNamed } from "./journal-text.ts";
import { OutputLines, paintOf, warn } from "./output.ts";

/** `clobsim journal`: prints a journal as a person reads it. */
export const run: Run<"journal"> = async ({ from, to, grep, json: isJson }, [name = ""], { environment }) => {
  if (to !== null && to < from)
    throw new UsageError(`--to expects a line from --from ${from} on, found ${to}`);
  const source = sourceNamed(name);
  const replay = new JournalReplay(source, VERSION, { to: to ?? undefined });
  const paint = paintOf(environment);
  const output = new OutputLines();
  const end = replay.run((told) => {
    if (told.line.n < from) return;
    const { state } = replay.exchange;
    const { text, json } = journalLine(told, state, paint);
    const isWanted = grep === null || grep.test(stripVTControlCharacters(text));
    if (!isWanted && !new Mentions(told, state).matches(grep)) return;
    output.add(isJson ? JSON.stringify(json) : text, isJson);
  });
  output.end();
  const { code, lines } = endingOf(source, end, replay.exchange.state);
  if (lines.length > 0) warn(lines.join("\n"));
  return code;
};
