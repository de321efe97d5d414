import type { Decision } from "../core/refusals.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import { eventHash } from "../engine/event-hash.ts";
import { hex8 } from "../engine/hex8.ts";
import { isNote, type Line } from "../engine/journal-line.ts";
import type { Redone } from "../engine/replayer.ts";
import { damageText } from "../engine/torn-end.ts";
import { commandText } from "../history/command-words.ts";
import { outcomeText } from "../history/event-words.ts";
import { isCorrupt, type JournalSource } from "../history/journal-source.ts";
import type { Told, WalkEnd } from "../history/walk.ts";
import { visible } from "../scenario/report/text.ts";
import { sideBySide } from "./difference.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { UsageError } from "./usage-error.ts";

/** What is wrong with a journal or with what it leads to, and the exit code that says so. */
export interface Ending {
  readonly code: ExitCode;
  readonly lines: readonly string[];
}

/** How a walk over a journal has ended; the state is that of its exchange. */
export function endingOf(source: JournalSource, end: WalkEnd, state: State): Ending {
  const trouble = end.trouble === null ? SOUND : troubleOf(source, end.trouble, state);
  const damage = damageOf(source, end);
  return {
    code: damage.code === EXIT.ok ? trouble.code : damage.code,
    lines: [...trouble.lines, ...damage.lines],
  };
}

/**
 * Shows what a walk has come to, and says how it has ended. What cannot be shown may lie behind what is wrong with the
 * journal, which then decides how the program ends.
 * @throws UsageError where nothing is wrong with the journal.
 */
export async function endedWith(
  { code, lines }: Ending,
  show: () => void | Promise<void>,
): Promise<ExitCode> {
  try {
    await show();
  } catch (error) {
    if (code === EXIT.ok || !(error instanceof UsageError)) throw error;
    process.stderr.write(`clobsim: ${error.message}\n`);
  }
  if (lines.length > 0) process.stderr.write(`clobsim: ${lines.join("\n")}\n`);
  return code;
}

const SOUND: Ending = { code: EXIT.ok, lines: [] };

function damageOf(source: JournalSource, { scan: { damage } }: WalkEnd): Ending {
  if (damage === null) return SOUND;
  const { path, name } = source;
  if (isCorrupt(source, damage)) return { code: EXIT.corrupt, lines: [damageText(path, name, damage)] };
  const { offset, bytes, line } = damage;
  const place = `${path} from byte ${offset} on, where line ${line} should begin`;
  return {
    code: EXIT.ok,
    lines: [
      `${place}: ${bytes} bytes are no whole line; a crash has torn them, or they are being written now`,
    ],
  };
}

function troubleOf({ name }: JournalSource, told: Told, state: State): Ending {
  const { line, command, outcome } = told;
  const what = `line ${line.n} of ${name}`;
  const asked = command === null ? [] : [`  ${toIso(line.t)}  ${visible(commandText(command, state))}`];
  switch (outcome.kind) {
    case "differs":
    case "fails": {
      if (outcome.kind === "fails" && outcome.isRecorded) {
        const heading = `${what}, ${command?.kind ?? line.k}, fails in the same way`;
        return { code: EXIT.ok, lines: [heading, ...asked, `  ${visible(outcome.error.message)}`] };
      }
      const heading = `${what}, ${line.k}, comes out otherwise than it did`;
      const now = outcome.kind === "fails" ? outcome.error : outcome.decision;
      return { code: EXIT.differs, lines: [heading, ...asked, ...comparison(line, now, state)] };
    }
    case "other state": {
      const table = sideBySide([
        ["", "recorded", "now"],
        ["state", outcome.recorded, outcome.found],
      ]);
      return {
        code: EXIT.differs,
        lines: [`every command comes out as it did, and at ${what} the state is another`, ...table],
      };
    }
    default:
      return SOUND;
  }
}

/** What a line says came of its command, and what comes of it now. */
function comparison(line: Line, now: Redone, state: State): string[] {
  const [recorded, hash] = isNote(line, "defect")
    ? [visible(`fails: ${line.d.message}`), "none"]
    : ["accepted", hex8(line.r)];
  const [outcome, events] =
    now instanceof Error
      ? [visible(`fails: ${now.message}`), "none"]
      : [decisionText(now, state), now.ok ? hex8(eventHash(now.events)) : "none"];
  return sideBySide([
    ["", "recorded", "now"],
    ["outcome", recorded, outcome],
    ["events", hash, events],
  ]);
}

const decisionText = (decision: Decision, state: State): string =>
  decision.ok
    ? visible(`accepted: ${outcomeText(decision.events, state)}`)
    : `refused, ${decision.refusal.code}: ${JSON.stringify(decision.refusal)}`;
