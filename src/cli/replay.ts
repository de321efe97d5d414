import { VERSION } from "../config.ts";
import { toIso } from "../core/time.ts";
import { isControl } from "../engine/journal-line.ts";
import { JournalReplay } from "../history/journal-replay.ts";
import type { JournalSource } from "../history/journal-source.ts";
import { type ChangedAnswer, RefusedRetries } from "../history/retry-refused.ts";
import { count, visible } from "../scenario/report/text.ts";
import type { Run } from "./commands.ts";
import { EXIT } from "./exit-code.ts";
import { endingOf, openNamed, requireLine } from "./journal-text.ts";
import { print, warn } from "./output.ts";

/** `clobsim replay`: replays a journal and compares the outcomes. */
export const run: Run<"replay"> = async ({ to, until }, [name = ""], _given, progress) => {
  const source = openNamed(name);
  const replay = new JournalReplay(source, VERSION, {
    to: to ?? undefined,
    until: until ?? undefined,
    isVerified: true,
  });
  print([heading(source)]);
  let reason: string | null = null;
  const refused = new RefusedRetries();
  const end = replay.run((replayed) => {
    const { line } = replayed;
    progress.update({ done: line.n, total: 0 });
    refused.take(replayed, replay.exchange.state);
    if (isControl(line, "report")) reason = visible(`${line.d.reason} (Node ${line.d.node})`);
  });
  const { exchange } = replay;
  const { code, lines } = endingOf(source, end, exchange.state);
  const { last, commands, problem } = end;
  if (to !== null && problem === null && code === EXIT.ok) requireLine(source, { to }, end, "--to");
  const result = problem === null ? "each has the recorded outcome" : "compared up to the line below";
  print([
    ...(reason === null ? [] : [`  written because ${reason}`]),
    `  ${count(commands, "command")}, ${result}`,
    ...(refused.summary === null ? [] : [`  ${refused.summary}`]),
    `  up to line ${last?.n ?? 0} at ${toIso(exchange.now)}`,
    ...(problem === null ? [`  state ${exchange.hash}`] : []),
  ]);
  if (lines.length > 0) {
    const out = code === EXIT.ok ? process.stdout : process.stderr;
    out.write(`clobsim: ${lines.join("\n")}\n`);
  }
  if (refused.changed.length === 0) return code;
  warn(changesIn(source.name, refused.changed).join("\n"));
  return code === EXIT.ok ? EXIT.differs : code;
};

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
