import type { Address } from "../core/commands.ts";
import { originOf } from "../opening/origin.ts";
import { Exchange } from "../runtime/exchange.ts";
import type { Entry } from "../runtime/journal.ts";
import { EntryLog } from "./entry-log.ts";
import type { JournalSource } from "./journal-source.ts";
import { Walk, type WalkEnd, type WalkOptions } from "./walk.ts";

/** What a journal tells of what was done on its exchange, apart from how that began. */
export interface SessionHistory {
  /** A fresh exchange that stands where the session began. */
  readonly open: () => Exchange;
  /** Every accepted command since then, oldest first. */
  readonly entries: readonly Entry[];
  readonly devAccounts: readonly Address[];
  /** Where the session has come to. */
  readonly exchange: Exchange;
  readonly end: WalkEnd;
}

/** Decides a journal anew, up to a line or a moment. `engine` is the version of this program. */
export function sessionHistory(
  source: JournalSource,
  engine: string,
  until: Pick<WalkOptions, "to" | "until"> = {},
): SessionHistory {
  const log = new EntryLog();
  const walk = new Walk(source, engine, { ...until, journal: log });
  const before = log.entries.length;
  const end = walk.run();
  const origin = originOf(source.opening, source.path);
  const open = (): Exchange => {
    const exchange = new Exchange(origin.config, origin.start);
    origin.play(exchange);
    return exchange;
  };
  const { devAccounts } = origin;
  return { open, entries: log.entries.slice(before), devAccounts, exchange: walk.exchange, end };
}
