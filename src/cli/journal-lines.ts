import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import { isNote } from "../engine/journal-line.ts";
import { actorOf, commandText } from "../history/command-words.ts";
import { outcomeText } from "../history/event-words.ts";
import { noteText } from "../history/note-words.ts";
import { refusalText, refusedText, senderOf } from "../history/refused-words.ts";
import { addressText } from "../history/thing-words.ts";
import type { Outcome, Told } from "../history/walk.ts";
import type { Paint } from "../scenario/report/text.ts";
import { visible } from "../scenario/report/text.ts";

const NUMBER_WIDTH = 6;
const ACTOR_WIDTH = 10;
const COMMAND_WIDTH = 56;

/** One line of a journal as it is printed. */
export interface JournalLine {
  readonly plain: string;
  readonly painted: string;
  readonly json: object;
}

/** The words of a line; the state is that behind it. */
export function journalLine(told: Told, state: State, paint: Paint): JournalLine {
  const { line, command, outcome } = told;
  const number = String(line.n).padStart(NUMBER_WIDTH);
  const time = toIso(line.t);
  const note = noteText(line);
  const refused = isNote(line, "refused") ? line.d : null;
  // Names and messages are somebody else's text: nothing in it may speak to the terminal.
  const what = visible(askedText(told, state));
  const became =
    refused !== null
      ? visible(refusalText(refused))
      : note !== null && outcome.kind === "note"
        ? ""
        : visible(outcomeWords(outcome, state));
  const who = refused !== null ? senderOf(refused) : command === null ? null : actorOf(command);
  const actor = (who === null ? "" : addressText(who)).padEnd(ACTOR_WIDTH);
  const asked = became === "" ? what : what.padEnd(COMMAND_WIDTH);
  const isTrouble = refused !== null || (outcome.kind !== "accepted" && outcome.kind !== "note");
  const shown = note === null ? asked : paint.yellow(asked);
  const arrow = became === "" ? "" : `  → ${isTrouble ? paint.red(became) : paint.green(became)}`;
  return {
    plain: `${number}  ${time}  ${actor}  ${asked}${became === "" ? "" : `  → ${became}`}`.trimEnd(),
    painted: `${paint.dim(`${number}  ${time}`)}  ${actor}  ${shown}${arrow}`.trimEnd(),
    json: {
      line: line.n,
      time,
      kind: line.k,
      actor: who,
      text: what,
      outcome: became === "" ? null : became,
      data: line.k === "opening" ? null : line.d,
      events: outcome.kind === "accepted" ? outcome.events : null,
    },
  };
}

function askedText({ line, command }: Told, state: State): string {
  if (isNote(line, "refused")) return refusedText(line.d, state);
  return noteText(line) ?? (command === null ? line.k : commandText(command, state));
}

function outcomeWords(outcome: Outcome, state: State): string {
  switch (outcome.kind) {
    case "note":
      return "";
    case "accepted":
      return outcomeText(outcome.events, state);
    case "differs":
      return outcome.decision.ok
        ? `differs: ${outcomeText(outcome.decision.events, state)}`
        : `differs: refused, ${outcome.decision.refusal.code}`;
    case "other state":
      return "the state is another";
    case "fails":
      return `fails: ${outcome.error.message}`;
    case "unknown":
      return "unknown";
  }
}
