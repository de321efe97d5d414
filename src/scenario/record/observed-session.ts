import type { SettlementFault } from "../../core/chain/settlement-fault.ts";
import { type Command, isCausedByTime } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Entry } from "../../engine/journal.ts";
import type { OrderState } from "../language/scenario.ts";
import { RecordingError } from "./recording-error.ts";

/** One accepted command of a session with what it caused. */
export interface Act {
  readonly sequence: number;
  readonly at: Millis;
  readonly command: Command;
  readonly events: readonly DomainEvent[];
  /** The order that it placed as it stood when all that follows at once was done, and its number; null where it placed none. */
  readonly placed: { readonly order: number; readonly look: OrderState } | null;
  /** Whether some order waited for its expiration when the command came. */
  readonly isTimed: boolean;
  /** The settlement faults in force before it. */
  readonly faults: readonly SettlementFault[];
}

/** A session as it happened once more. */
export interface ObservedSession {
  /** Where it began, and what the exchange knew then. */
  readonly start: Millis;
  readonly opening: State;
  readonly acts: readonly Act[];
  /** What the exchange knows at its end. */
  readonly end: State;
}

/**
 * Repeats a session in a fresh exchange that stands at its opening, a step for each command, and notes what it caused.
 * @throws RecordingError when the commands are not such a session's.
 */
export function* observeSession(
  exchange: Exchange,
  entries: readonly Entry[],
): Generator<undefined, ObservedSession> {
  const { state: opening, now: start } = exchange.snapshot();
  const acts: Act[] = [];
  let isTimed = anyExpires(exchange);
  let { faults } = opening.chain;
  const unwatch = exchange.watch((_sequence, at, events) => {
    const entry = entries[acts.length];
    if (entry === undefined || entry.at !== at) throw astray(entry);
    const { sequence, command } = entry;
    acts.push({ sequence, at, command, events, placed: placedIn(exchange.state, events), isTimed, faults });
    isTimed = anyExpires(exchange);
    ({ faults } = exchange.state.chain);
  });
  for (const entry of entries) {
    yield;
    // What expires does so on the way.
    exchange.advanceTo(entry.at);
    if (isCausedByTime(entry.command)) continue;
    const next = acts.length;
    if (!exchange.submit(entry.command).ok) throw astray(entry);
    const act = acts[next];
    if (act !== undefined) acts[next] = { ...act, placed: placedIn(exchange.state, act.events) };
  }
  unwatch();
  if (acts.length !== entries.length) throw astray(entries[acts.length]);
  return { start, opening, acts, end: exchange.state };
}

const anyExpires = ({ state }: Exchange): boolean => state.expiries.first() !== 0;

function placedIn(state: State, events: readonly DomainEvent[]): Act["placed"] {
  for (const event of events) {
    if (event.kind !== "orderPlaced") continue;
    const { status, matched, size, cancelReason: reason } = state.orders.get(event.order);
    return { order: event.order, look: { status, matched, size, reason } };
  }
  return null;
}

/** What was decided by the rules of an earlier version comes out otherwise in a scenario, which has today's alone. */
const astray = (entry: Entry | undefined): RecordingError =>
  new RecordingError(
    "SESSION_NOT_RECORDABLE",
    entry === undefined
      ? "repeated by the rules of this version, the session does more than it did"
      : `repeated by the rules of this version, the session differs from sequence ${entry.sequence} on: ${entry.command.kind}`,
  );
