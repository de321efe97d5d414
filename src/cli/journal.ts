import { stripVTControlCharacters } from "node:util";
import { VERSION } from "../config.ts";
import { JournalReplay } from "../history/journal-replay.ts";
import { Mentions } from "../history/mentions.ts";
import type { Run } from "./commands.ts";
import { UsageError } from "./exit-code.ts";
import { endedWith, endingOf, journalLine, openNamed, requireLine } from "./journal-text.ts";
import { OutputLines, paintOf } from "./output.ts";

/** `clobsim journal`: prints a journal in readable form. */
export const run: Run<"journal"> = async ({ from, to, grep, json: isJson }, [name = ""], { environment }) => {
  if (to !== null && to < from)
    throw new UsageError(`--to expects a line from --from ${from} on, found ${to}`);
  const source = openNamed(name);
  const replay = new JournalReplay(source, VERSION, { to: to ?? undefined });
  const paint = paintOf(environment);
  const output = new OutputLines();
  const end = replay.run((replayed) => {
    if (replayed.line.n < from) return;
    const { state } = replay.exchange;
    const { text, json } = journalLine(replayed, state, paint);
    const isMatch = grep === null || grep.test(stripVTControlCharacters(text));
    if (!isMatch && !new Mentions(replayed, state).matches(grep)) return;
    output.add(isJson ? JSON.stringify(json) : text, isJson);
  });
  return endedWith(endingOf(source, end, replay.exchange.state), () => {
    output.end();
    requireLine(source, { to: from }, end, "--from");
    if (to !== null) requireLine(source, { to }, end, "--to");
  });
};
