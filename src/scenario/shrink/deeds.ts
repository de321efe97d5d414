import { type Command, isCausedByTime } from "../../core/commands.ts";
import { numberOf } from "../../core/ids.ts";
import type { State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Entry, RefusedEntry } from "../../engine/journal.ts";
import { type Position, positionIn } from "../record/position-change.ts";

/** What one entry of a history made, by the numbers that it had there; 0 for nothing. */
export interface Made {
  readonly order: number;
  readonly market: number;
  readonly event: number;
  readonly fault: number;
}

/** What one entry of a history speaks of, by the numbers that it had there. */
export interface Means {
  /** The order that is canceled; 0 for none. */
  readonly order: number;
  /** Token numbers: of an order, or of each funding in shares; 0 where there was no such token. */
  readonly tokens: readonly number[];
  /** What a wallet does with its position in a market; null of everything else. */
  readonly position: Position | null;
}

/** One thing that was done, in terms that hold also when others are left out. */
export interface Deed {
  /** In the history; that of the first of several that time alone caused at one moment. */
  readonly sequence: number;
  readonly at: Millis;
  /** Null where time alone passed. */
  readonly command: Command | null;
  readonly made: Made;
  readonly means: Means;
}

const NOTHING: Made = { order: 0, market: 0, event: 0, fault: 0 };
const NO_MEANING: Means = { order: 0, tokens: [], position: null };

/** Repeats the entries of a history, and answers each with what it made. What throws is the last. */
export function deedsOf(exchange: Exchange, entries: readonly Entry[]): Deed[] {
  const deeds: Deed[] = [];
  for (const { sequence, at, command } of entries) {
    if (isCausedByTime(command) && deeds.at(-1)?.at === at) continue;
    const before = counts(exchange.state);
    let isBroken = false;
    try {
      exchange.advanceTo(at);
      if (!isCausedByTime(command)) exchange.submit(command);
    } catch {
      isBroken = true;
    }
    const after = isBroken ? before : counts(exchange.state);
    const made = isCausedByTime(command) ? NOTHING : madeBetween(before, after);
    const means = meaningOf(exchange.state, command);
    deeds.push({ sequence, at, command: isCausedByTime(command) ? null : command, made, means });
    if (isBroken) break;
  }
  return deeds;
}

/** A request that was refused at the end of a history, as the deed that it would have been. */
export const refusedDeed = (state: State, { sequence, at }: RefusedEntry, command: Command): Deed => ({
  sequence: sequence + 1,
  at,
  command,
  made: NOTHING,
  means: meaningOf(state, command),
});

const counts = ({ orders, markets, events, chain }: State): Made => ({
  order: orders.size,
  market: markets.size,
  event: events.size,
  fault: chain.faultsSet,
});

function madeBetween(before: Made, after: Made): Made {
  const made = (key: keyof Made): number => (after[key] > before[key] ? after[key] : 0);
  return { order: made("order"), market: made("market"), event: made("event"), fault: made("fault") };
}

function meaningOf(state: State, command: Command): Means {
  switch (command.kind) {
    case "cancelOrder":
      return { ...NO_MEANING, order: numberOf(state.idPrefixes.order, command.orderId) };
    case "placeOrder":
      return { ...NO_MEANING, tokens: [state.tokenById.get(command.tokenId) ?? 0] };
    case "fundAccount":
      return {
        ...NO_MEANING,
        tokens: command.tokens.map(({ tokenId }) => state.tokenById.get(tokenId) ?? 0),
      };
    case "sendTransaction":
      return { ...NO_MEANING, position: positionIn(state, command) };
    default:
      return NO_MEANING;
  }
}
