import { VERSION } from "../config.ts";
import { commandText } from "../core/commands.ts";
import { eventsText } from "../core/events.ts";
import { addressText, counted } from "../core/format.ts";
import type { Decision } from "../core/refusals.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import { nodeDisk } from "../engine/disk.ts";
import { eventHash, hex8 } from "../engine/hashes.ts";
import { isControl } from "../engine/journal-line.ts";
import { damageText } from "../engine/journal-scan.ts";
import type { ReplayDiffers, ReplayResult } from "../engine/replayer.ts";
import { describeLine } from "../history/describe-line.ts";
import type { ReplayEnd, ReplayedLine } from "../history/journal-replay.ts";
import { isCorrupt, type JournalSource, openSource } from "../history/journal-source.ts";
import { CUT_WARNING } from "../history/report.ts";
import { indented, type Paint, visible } from "../scenario/report/text.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { table, warn } from "./output.ts";

/** Describes the first difference of a replay, with both outcomes side by side. */
export function differenceText({ line, command, result, message }: ReplayDiffers): string {
  const recorded = ["accepted", hex8(line.r)] as const;
  const words = (decision: Decision): string =>
    decision.ok ? "accepted" : `refused, ${decision.refusal.code}`;
  const events = result instanceof Error || !result.ok ? [] : result.events;
  return [
    message,
    `  command   ${JSON.stringify(command)}`,
    ...comparison(recorded, result, words),
    ...events.map((event) => `            ${JSON.stringify(event)}`),
  ].join("\n");
}

/** Compares the recorded outcome of a command with its outcome now, as a table. */
function comparison(
  [outcome, events]: readonly [outcome: string, events: string],
  now: ReplayResult,
  words: (decision: Decision) => string,
): string[] {
  const [newOutcome, newEvents] =
    now instanceof Error
      ? [visible(`fails: ${now.message}`), "none"]
      : [words(now), now.ok ? hex8(eventHash(now.events)) : "none"];
  const rows = [
    ["", "recorded", "now"],
    ["outcome", outcome, newOutcome],
    ["events", events, newEvents],
  ];
  return indented(table(rows), 2);
}

/** Problems of a journal and its replay, and the exit code for them. */
interface Ending {
  readonly code: ExitCode;
  readonly lines: readonly string[];
}

/** Describes how the replay of a journal ended. `state` is the state of its exchange. */
export function endingOf(source: JournalSource, end: ReplayEnd, state: State): Ending {
  const problem = end.problem === null ? NO_PROBLEM : problemOf(source, end.problem, state);
  const damage = damageOf(source, end);
  return {
    code: damage.code === EXIT.ok ? problem.code : damage.code,
    lines: [...problem.lines, ...damage.lines],
  };
}

/**
 * Prints the result of a replay, then how the replay ended. If the result cannot be shown because the journal is damaged,
 * the damage decides the exit code.
 * @throws UsageError from `show` if the journal is undamaged.
 */
export async function endedWith(
  { code, lines }: Ending,
  show: () => void | Promise<void>,
): Promise<ExitCode> {
  try {
    await show();
  } catch (error) {
    if (code === EXIT.ok || !(error instanceof UsageError)) throw error;
    warn(error.message);
  }
  if (lines.length > 0) warn(lines.join("\n"));
  return code;
}

const NO_PROBLEM: Ending = { code: EXIT.ok, lines: [] };

function damageOf(source: JournalSource, { scan: { damage }, isCut }: ReplayEnd): Ending {
  const { path, name } = source;
  if (damage === null) return isCut ? { code: EXIT.ok, lines: [`${name}: ${CUT_WARNING}`] } : NO_PROBLEM;
  if (isCorrupt(source, damage)) return { code: EXIT.corrupt, lines: [damageText(path, name, damage)] };
  const { offset, bytes, line } = damage;
  const place = `${path} from byte ${offset} on, where line ${line} should begin`;
  return {
    code: EXIT.ok,
    lines: [
      `${place}: an incomplete line, ${counted(bytes, "byte")}; a crash tore it, or it is being written now`,
    ],
  };
}

function problemOf({ name }: JournalSource, replayed: ReplayedLine, state: State): Ending {
  const { line, command, result } = replayed;
  const what = `line ${line.n} of ${name}`;
  const asked = command === null ? [] : [`  ${toIso(line.t)}  ${visible(commandText(command, state))}`];
  switch (result.kind) {
    case "differs":
    case "fails": {
      if (result.kind === "fails" && result.isRecorded) {
        const heading = `${what}, ${command?.kind ?? line.k}, fails in the same way`;
        return { code: EXIT.ok, lines: [heading, ...asked, `  ${visible(result.error.message)}`] };
      }
      const heading = `${what}, ${line.k}, has another outcome than recorded`;
      const now = result.kind === "fails" ? result.error : result.decision;
      const recorded = isControl(line, "defect")
        ? ([visible(`fails: ${line.d.message}`), "none"] as const)
        : (["accepted", hex8(line.r)] as const);
      const rows = comparison(recorded, now, (decision) => decisionText(decision, state));
      return { code: EXIT.differs, lines: [heading, ...asked, ...rows] };
    }
    case "other state": {
      const rows = [
        ["", "recorded", "now"],
        ["state", result.recorded, result.found],
      ];
      return {
        code: EXIT.differs,
        lines: [
          `every command has the recorded outcome, but at ${what} the state differs`,
          ...indented(table(rows), 2),
        ],
      };
    }
    default:
      return NO_PROBLEM;
  }
}

const decisionText = (decision: Decision, state: State): string =>
  decision.ok
    ? visible(`accepted: ${eventsText(decision.events, state)}`)
    : `refused, ${decision.refusal.code}: ${JSON.stringify(decision.refusal)}`;

const NUMBER_WIDTH = 6;
const ACTOR_WIDTH = 10;
const COMMAND_WIDTH = 56;

/** A line of a journal, formatted for output. */
export interface JournalLine {
  readonly text: string;
  readonly json: object;
}

/** Formats a line. `state` is the state after it. */
export function journalLine(replayed: ReplayedLine, state: State, paint: Paint): JournalLine {
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
      line: line.n,
      time,
      kind: line.k,
      actor,
      text: what,
      outcome: shownResult === "" ? null : shownResult,
      data: line.k === "opening" ? null : line.d,
      events: result.kind === "accepted" ? result.events : null,
    },
  };
}

/** @throws UsageError if a journal does not have the line that a flag names. */
export function requireLine(
  { name }: JournalSource,
  at: { readonly to?: number },
  end: ReplayEnd,
  flag = "--at",
): void {
  if (at.to === undefined || (end.last?.n ?? 0) >= at.to) return;
  throw new UsageError(`${flag} expects a line of ${name}, which has ${end.scan.number}, found ${at.to}`);
}

/** Opens the data directory or report of a command line. @throws StoreError */
export const openNamed = (name: string): JournalSource => openSource(nodeDisk, name, VERSION);
