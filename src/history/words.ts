import type { RetryResult } from "../api/order-request.ts";
import { actorOf, commandText, orderWords } from "../core/commands.ts";
import { eventsText } from "../core/events.ts";
import { orderIdText, tokenIdText } from "../core/format.ts";
import type { RefusedRequest, Scalar } from "../core/refusals.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import {
  type ControlKind,
  type ControlRecords,
  isControl,
  isControlKind,
  type Line,
} from "../engine/journal-line.ts";
import type { Outcome, ReplayedLine } from "./journal-replay.ts";
import { digitsOf } from "./report.ts";

const SHOWN_DIGITS = 12;

/** What a line says that is no command; null of what is told elsewhere. */
const NOTES: { readonly [Kind in ControlKind]: (data: ControlRecords[Kind]) => string | null } = {
  opening: ({ config, base, engine }) => `opens from a ${base.kind}, seed ${config.seed}, clobsim ${engine}`,
  start: ({ engine, durability, mode, rate }) =>
    `clobsim ${engine} starts, clock ${clockText(mode, rate)}, durability ${durability}`,
  clock: ({ mode, rate }) => `clock set to ${clockText(mode, rate)}`,
  restore: ({ line }) => `back to where it stood after line ${line}`,
  reset: () => "opened anew",
  close: ({ hash }) => `stopped in good order, state ${digitsOf(hash).slice(0, SHOWN_DIGITS)}`,
  defect: ({ message }) => `a defect: ${message}`,
  report: ({ reason }) => `end of the report: ${reason}`,
  scenario: ({ file }) => `the scenario that failed: ${file}`,
  refused: () => null,
  refusedFull: ({ noted }) => `further refused requests are left out, ${noted} are noted`,
};

/** The same of any line; null of a command. */
export const noteText = ({ k, d }: Line): string | null =>
  isControlKind(k) ? (NOTES[k] as (data: unknown) => string | null)(d) : null;

const clockText = (mode: string, rate: number): string => (mode === "scaled" ? `${rate}x` : mode);

/** Whose request it was: who signed it, or who it claims to be of; null where that is not known. */
export const senderOf = ({ address, asked }: RefusedRequest): string | null =>
  address ?? (asked?.kind === "command" ? actorOf(asked.command) : null);

/** What a refused request asked for, in the words of a command as far as it has them. */
export function refusedText(request: RefusedRequest, state: State): string {
  const { method, path, isProven, address, asked } = request;
  if (asked?.kind === "command") return commandText(asked.command, state);
  if (asked?.kind === "request" && path === "/clob/order") {
    const { body, query } = asked;
    return method === "POST" ? orderText(body, state) : cancelWords({ ...query, ...body }, state);
  }
  return `${method} ${path}${address !== null && !isProven ? ", sender not proven" : ""}`;
}

type Values = Readonly<Record<string, Scalar>>;

function orderText({ tokenId, side, size, price, ...rest }: Values, state: State): string {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(rest)) texts[name] = word(value);
  if (texts.expiration !== undefined) texts.expiration = `until ${texts.expiration}`;
  const token = typeof tokenId === "string" ? tokenIdText(state, tokenId) : "?";
  return orderWords({ ...texts, side: word(side), size: amount(size), price: amount(price) }, token);
}

function cancelWords({ orderId, id, orderID }: Values, state: State): string {
  const ids = [orderId, id, orderID].filter((given) => given !== undefined);
  const named = ids.map((given) => (typeof given === "string" ? orderIdText(state, given) : word(given)));
  return ["cancel", ...named].join(" ");
}

/** A value as it was sent; a text without its quotes where it is one word. */
function word(value: Scalar | undefined): string {
  if (value === undefined) return "?";
  return typeof value === "string" && /^[\w.:+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** The same of a number, whose quotes may be why it was refused. */
const amount = (value: Scalar | undefined): string => (value === undefined ? "?" : JSON.stringify(value));

/** `refused: INVALID_TICK_SIZE (price)`. */
export const refusalText = ({ code, field }: RefusedRequest): string =>
  `refused: ${code}${field === null ? "" : ` (${field})`}`;

/** Then and now, where a refused request gets another answer when it is tried again; null where it does not. */
export function changeText({ code }: RefusedRequest, now: RetryResult): string | null {
  switch (now.kind) {
    case "accepted":
      return `refused with ${code} then, accepted now`;
    case "fails":
      return `refused with ${code} then, fails now: ${now.message}`;
    case "refused":
      return now.code === code ? null : `refused with ${code} then, with ${now.code} now`;
    case "unknown":
      return null;
  }
}

/** A line of a journal in words. */
export interface LineWords {
  /** Who asked; null where nobody did, or nobody knows. */
  readonly actor: Address | null;
  /** What was asked for, or what the line notes. */
  readonly text: string;
  /** What came of it; empty where nothing is to be said. */
  readonly became: string;
  readonly isNote: boolean;
  /** Whether it was refused, differs or fails. */
  readonly isTrouble: boolean;
}

/** The words of a line; the state is the one behind it. Names and messages in them are somebody else's text. */
export function wordsOf({ line, command, outcome }: ReplayedLine, state: State): LineWords {
  if (isControl(line, "refused")) {
    const [actor, text, became] = [senderOf(line.d), refusedText(line.d, state), refusalText(line.d)];
    return { actor, text, became, isNote: false, isTrouble: true };
  }
  const note = noteText(line);
  return {
    actor: command === null ? null : actorOf(command),
    text: note ?? (command === null ? line.k : commandText(command, state)),
    became: outcomeText(outcome, state),
    isNote: note !== null,
    isTrouble: outcome.kind !== "accepted" && outcome.kind !== "note",
  };
}

function outcomeText(outcome: Outcome, state: State): string {
  switch (outcome.kind) {
    case "note":
      return "";
    case "accepted":
      return eventsText(outcome.events, state);
    case "differs":
      return outcome.decision.ok
        ? `differs: ${eventsText(outcome.decision.events, state)}`
        : `differs: refused, ${outcome.decision.refusal.code}`;
    case "other state":
      return "the state is another";
    case "fails":
      return `fails: ${outcome.error.message}`;
    case "unknown":
      return "unknown";
  }
}
