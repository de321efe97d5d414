import type { ExchangeConfig } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";
import { Exchange } from "../engine/exchange.ts";
import type { Entry } from "../engine/journal.ts";
import { isNote } from "../engine/journal-line.ts";
import { originOf } from "../engine/origin.ts";
import { EntryLog, type RefusedLine } from "./entry-log.ts";
import type { JournalSource } from "./journal-source.ts";
import { Walk, type WalkEnd, type WalkOptions } from "./walk.ts";

/** All that a journal tells. */
export interface WholeHistory {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly devAccounts: readonly Address[];
  /** Every accepted command of a world's own history; none where the exchange goes on from a state. */
  readonly opening: readonly Entry[];
  /** A fresh exchange that stands behind them. */
  readonly open: () => Exchange;
  /** Every accepted command since then, oldest first. */
  readonly session: readonly Entry[];
  /** What was refused meanwhile, oldest first. */
  readonly refused: readonly RefusedLine[];
  /** The command that makes the program fail behind them; null when none does. */
  readonly failing: Entry | null;
  /** Where it has come to. */
  readonly exchange: Exchange;
  readonly end: WalkEnd;
}

/** Decides a journal anew, up to a line or a moment. `engine` is the version of this program. */
export function wholeHistory(
  source: JournalSource,
  engine: string,
  until: Pick<WalkOptions, "to" | "until"> = {},
): WholeHistory {
  const log = new EntryLog();
  const walk = new Walk(source, engine, { ...until, journal: log });
  const opening = log.entries;
  const end = walk.run(({ line, outcome }) => {
    if (!isNote(line, "refused") || outcome.kind === "unknown") return;
    log.refuse({ sequence: walk.exchange.sequence, at: line.t, request: line.d, line: line.n });
  });
  const { exchange } = walk;
  finishMoment(exchange);
  const { entries } = log;
  const { thrown, now, sequence } = exchange;
  const isKept = entries.at(-1)?.command === thrown?.command;
  const failing =
    thrown === null
      ? null
      : ((isKept ? entries.pop() : null) ?? { sequence: sequence + 1, at: now, command: thrown.command });
  const origin = originOf(source.opening, source.path);
  const { config, start, devAccounts } = origin;
  const open = (): Exchange => {
    const fresh = new Exchange(config, start);
    origin.play(fresh);
    return fresh;
  };
  return {
    config,
    start,
    devAccounts,
    opening,
    open,
    session: entries.slice(opening.length),
    refused: log.refused,
    failing,
    exchange,
    end,
  };
}

/** A journal that ends or is cut between a command and what time causes at the same moment goes on to the end of that. */
function finishMoment(exchange: Exchange): void {
  if (exchange.thrown !== null) return;
  try {
    exchange.advanceTo(exchange.now);
  } catch (error) {
    if (exchange.thrown === null) throw error;
  }
}
