import type { ExchangeConfig, State } from "../core/state.ts";
import type { Millis } from "../core/units.ts";
import type { Entry } from "../runtime/journal.ts";
import { EntryLog } from "./entry-log.ts";
import type { JournalSource } from "./journal-source.ts";
import { Walk, type WalkEnd } from "./walk.ts";

/** Every command of an exchange, its world's own among them; one that makes the program fail is the last. */
export interface WholeHistory {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly entries: readonly Entry[];
  readonly end: WalkEnd;
  /** Behind all of it. */
  readonly state: State;
}

/** What a journal tells; null when it goes on from a state, of which nobody knows how it came to be. */
export function wholeHistory(source: JournalSource, engine: string): WholeHistory | null {
  const { config, start, base } = source.opening;
  if (base.kind === "state") return null;
  const log = new EntryLog();
  const walk = new Walk(source, engine, { journal: log });
  const end = walk.run();
  const { entries } = log;
  const { thrown, now, sequence } = walk.exchange;
  const isKept = thrown === null || entries.at(-1)?.command === thrown.command;
  if (!isKept) entries.push({ sequence: sequence + 1, at: now, command: thrown.command });
  return { config, start, entries, end, state: walk.exchange.state };
}
