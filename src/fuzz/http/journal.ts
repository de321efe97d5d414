import { Buffer } from "node:buffer";
import { VERSION } from "../../config.ts";
import { openingIn } from "../../engine/journal-scan.ts";
import { type Origin, originOf } from "../../engine/origin.ts";
import { inMemory } from "../../history/report.ts";
import { type WholeHistory, wholeHistory } from "../../history/walk.ts";

/** What a server kept or reported of its session, decided anew. */
export interface Journal {
  readonly origin: Origin;
  readonly history: WholeHistory;
  /** What is wrong with it by itself, in a sentence; null where it replays as it was recorded. */
  readonly trouble: string | null;
}

const NAME = "the report";

/** Reads a report, or a data directory's journal. @throws StoreError when it is neither. */
export function readJournal(bytes: Uint8Array): Journal {
  const file = inMemory(Buffer.from(bytes));
  const opening = openingIn(file);
  if (opening === null) throw new Error("the report has no whole first line");
  const source = { path: NAME, name: NAME, isFolder: false, file, opening };
  const history = wholeHistory(source, VERSION);
  return { origin: originOf(opening, NAME), history, trouble: troubleOf(history) };
}

function troubleOf({ end, failing, exchange }: WholeHistory): string | null {
  const { trouble, scan } = end;
  if (failing !== null)
    return `${failing.command.kind} makes the exchange fail: ${messageOf(exchange.thrown?.error)}`;
  if (trouble !== null)
    return `line ${trouble.line.n}, ${trouble.line.k}, ${trouble.outcome.kind} when it is decided again`;
  return scan.damage === null ? null : "a line is damaged";
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
