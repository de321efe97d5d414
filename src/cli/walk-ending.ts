import type { Decision } from "../core/decision.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import { commandText } from "../history/command-words.ts";
import { outcomeText } from "../history/event-words.ts";
import type { JournalSource } from "../history/journal-source.ts";
import type { Told, WalkEnd } from "../history/walk.ts";
import { visible } from "../scenario/report/printable.ts";
import { eventHash } from "../store/event-hash.ts";
import { hex8 } from "../store/hex8.ts";
import { isNote } from "../store/journal-line.ts";
import { repairHint } from "../store/torn-end.ts";
import { sideBySide } from "./difference.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";

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

const SOUND: Ending = { code: EXIT.ok, lines: [] };

function damageOf({ path, name, isFolder }: JournalSource, { scan: { damage } }: WalkEnd): Ending {
  if (damage === null) return SOUND;
  const { offset, bytes, line, proof } = damage;
  const place = `${path} from byte ${offset} on, where line ${line} should begin`;
  if (proof === null && isFolder) {
    return {
      code: EXIT.ok,
      lines: [
        `${place}: ${bytes} bytes are no whole line; a crash has torn them, or they are being written now`,
      ],
    };
  }
  return {
    code: EXIT.corrupt,
    lines: [`${place}, is damaged: ${proof ?? `${bytes} bytes are no whole line`}; ${repairHint(name)}`],
  };
}

function troubleOf({ name }: JournalSource, told: Told, state: State): Ending {
  const { line, command, outcome } = told;
  const what = `line ${line.n} of ${name}`;
  const asked = command === null ? [] : [`  ${toIso(line.t)}  ${visible(commandText(command, state))}`];
  switch (outcome.kind) {
    case "differs": {
      const [recorded, hash] = isNote(line, "defect")
        ? [visible(`fails: ${line.d.message}`), "none"]
        : ["accepted", hex8(line.r)];
      const table = sideBySide([
        ["", "recorded", "now"],
        ["outcome", recorded, decisionText(outcome.decision, state)],
        ["events", hash, outcome.decision.ok ? hex8(eventHash(outcome.decision.events)) : "none"],
      ]);
      return {
        code: EXIT.differs,
        lines: [`${what}, ${line.k}, comes out otherwise than it did`, ...asked, ...table],
      };
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
    case "fails": {
      const { error, isRecorded } = outcome;
      const way = isRecorded ? "fails in the same way" : "makes this program fail: a defect";
      const trace = isRecorded ? visible(error.message) : (error.stack ?? error.message);
      return {
        code: isRecorded ? EXIT.ok : EXIT.defect,
        lines: [`${what}, ${command?.kind ?? line.k}, ${way}`, ...asked, `  ${trace}`],
      };
    }
    default:
      return SOUND;
  }
}

const decisionText = (decision: Decision, state: State): string =>
  decision.ok
    ? visible(`accepted: ${outcomeText(decision.events, state)}`)
    : `refused, ${decision.refusal.code}: ${JSON.stringify(decision.refusal)}`;
