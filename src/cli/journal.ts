import { stripVTControlCharacters } from "node:util";
import { DEFAULT_DATA } from "../config.ts";
import { addressText } from "../core/format.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import { nodeDisk } from "../engine/disk.ts";
import { isControl } from "../engine/journal-line.ts";
import { describeLine, mentionsIn } from "../history/describe-line.ts";
import { type JournalSource, openSource } from "../history/journal-files.ts";
import {
  missingLine,
  type ReplayEnd,
  type ReplayedLine,
  replayJournalLines,
} from "../history/journal-replay.ts";
import { RefusedRetries } from "../history/refused-retries.ts";
import { count, type Paint, visible } from "../scenario/report/text.ts";
import type { JournalPoint } from "../setting.ts";
import type { Run } from "./commands.ts";
import { endedWith, replayProblems } from "./failure.ts";
import { paintOf, print, warn } from "./output.ts";
import { EXIT, UsageError } from "./process.ts";

/** Opens the data directory or report of a command line. @throws DataFileError */
export const openNamed = (name: string): JournalSource => openSource(nodeDisk, name);

/** @throws UsageError if a journal does not have the line that a flag names. */
export function requireLine(source: JournalSource, at: JournalPoint, end: ReplayEnd, flag = "--at"): void {
  const missing = missingLine(source, at, end);
  if (missing !== null) throw new UsageError(`${flag} ${missing}`);
}

/** `clobsim journal`: prints a journal in readable form. */
export const journal: Run<"journal"> = async (values, [name = DEFAULT_DATA], { environment }) => {
  const { from, to, grep, json: isJson } = values;
  if (to !== null && to < from)
    throw new UsageError(`--to expects a line from --from ${from} on, found ${to}`);
  const source = openNamed(name);
  const paint = paintOf(environment);
  let lines: string[] = [];
  const flush = (): void => {
    if (isJson) process.stdout.write(lines.map((line) => `${line}\n`).join(""));
    else print(lines);
    lines = [];
  };
  const end = replayJournalLines(source, to === null ? {} : { to }, (replayed, { state }) => {
    if (replayed.line.n < from) return;
    const { text, json } = journalLine(replayed, state, paint);
    const isMatch = grep === null || grep.test(stripVTControlCharacters(text));
    if (!isMatch && !mentionsIn(replayed, state).matches(grep)) return;
    lines.push(isJson ? JSON.stringify(json) : text);
    if (lines.length === MAX_UNPRINTED) flush();
  });
  return endedWith(replayProblems(source, end), () => {
    flush();
    requireLine(source, { to: from }, end, "--from");
    if (to !== null) requireLine(source, { to }, end, "--to");
  });
};

/** Lines that are printed at once, because printing each would take longer than all else. */
const MAX_UNPRINTED = 500;
const NUMBER_WIDTH = 6;
const ACTOR_WIDTH = 10;
const COMMAND_WIDTH = 56;

/** Formats a line as text and as JSON. `state` is the state after it. */
export function journalLine(replayed: ReplayedLine, state: State, paint: Paint) {
  const { line, result } = replayed;
  const { actor, text, result: resultText, isControlRecord, isProblem } = describeLine(replayed, state);
  const number = String(line.n).padStart(NUMBER_WIDTH);
  const time = toIso(line.t);
  // Names and messages come from users, so control characters are made visible.
  const what = visible(text);
  const shownResult = visible(resultText);
  const asked = shownResult === "" ? what : what.padEnd(COMMAND_WIDTH);
  const shown = isControlRecord ? paint.yellow(asked) : asked;
  const arrow =
    shownResult === "" ? "" : `  → ${isProblem ? paint.red(shownResult) : paint.green(shownResult)}`;
  const who = (actor === null ? "" : addressText(actor)).padEnd(ACTOR_WIDTH);
  return {
    text: `${paint.dim(`${number}  ${time}`)}  ${who}  ${shown}${arrow}`.trimEnd(),
    json: {
      ...{ line: line.n, time, kind: line.k, actor, text: what },
      outcome: shownResult === "" ? null : shownResult,
      data: line.k === "opening" ? null : line.d,
      events: result.kind === "accepted" ? result.events : null,
    },
  };
}

/** `clobsim replay`: replays a journal and compares the results. */
export const replay: Run<"replay"> = async ({ to, until }, [name = DEFAULT_DATA], _given, progress) => {
  const source = openNamed(name);
  const { config, engine, start, base } = source.opening;
  const seed = visible(config.seed);
  let reason: string | null = null;
  const refused = new RefusedRetries();
  const options = { to: to ?? undefined, until: until ?? undefined, verifiesHashes: true };
  const end = replayJournalLines(source, options, (replayed, { state }) => {
    const { line } = replayed;
    progress.update({ done: line.n, total: 0 });
    refused.take(replayed, state);
    if (isControl(line, "report")) reason = visible(`${line.d.reason} (Node ${line.d.node})`);
  });
  const { code, lines } = replayProblems(source, end);
  const { exchange, last, commands, problem } = end;
  // Of --to and --until, the earlier one ends a replay.
  if (problem === null && code === EXIT.ok) {
    if (to !== null && to > end.scan.number) requireLine(source, { to }, end, "--to");
    requireLine(source, {}, end, "--until");
  }
  const result = problem === null ? "each has the recorded result" : "compared up to the line below";
  print([
    `${visible(name)}: a ${base.kind} of seed ${seed}, opened at ${toIso(start)} by clobsim ${engine}`,
    ...(reason === null ? [] : [`  written because ${reason}`]),
    `  ${count(commands, "command")}, ${result}`,
    ...(refused.summary === null ? [] : [`  ${refused.summary}`]),
    `  up to line ${last?.n ?? 0} at ${toIso(exchange.now)}`,
    ...(problem === null ? [`  state ${exchange.hash}`] : []),
  ]);
  if (lines.length > 0) warn(lines, code === EXIT.ok ? process.stdout : process.stderr);
  if (refused.changed.length === 0) return code;
  warn(changesIn(source.name, refused.changed));
  return code === EXIT.ok ? EXIT.differs : code;
};

const MAX_CHANGES = 20;

function changesIn(name: string, changed: RefusedRetries["changed"]): string[] {
  const shown = changed
    .slice(0, MAX_CHANGES)
    .flatMap(({ line, asked, change }) => [`line ${line} of ${name}: ${change}`, `  ${asked}`]);
  return changed.length <= MAX_CHANGES ? shown : [...shown, `and ${changed.length - MAX_CHANGES} more`];
}
