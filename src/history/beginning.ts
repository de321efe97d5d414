import { documentLines } from "../core/document/document-lines.ts";
import type { ClockSetting } from "../engine/clock.ts";
import type { Disk } from "../engine/disk.ts";
import type { Exchange } from "../engine/exchange.ts";
import { type Origin, originOf, originOfState, type StateDocument } from "../engine/origin.ts";
import { ReplayDiffers } from "../engine/replayer.ts";
import { STATE_FORMAT } from "../engine/state-header.ts";
import { StoreError } from "../engine/store-error.ts";
import { damageText } from "../engine/torn-end.ts";
import { isCorrupt, type JournalSource, openSource } from "./journal-source.ts";
import { type Told, Walk, type WalkOptions } from "./walk.ts";

/** Where a history has come to, for another exchange to begin there. */
export interface Beginning {
  readonly origin: Origin;
  /** The last line that is in it. */
  readonly line: number;
  /** How the clock ran then; null when the history does not say. */
  readonly clock: ClockSetting | null;
}

/**
 * The exchange that a journal tells of, as it stood after a line or at a moment. `engine` is the version of this program.
 * @throws StoreError when there is no such journal, no such line in it, or it is damaged; ReplayDiffers
 */
export function beginningIn(
  disk: Disk,
  name: string,
  engine: string,
  at: Pick<WalkOptions, "to" | "until">,
): Beginning {
  const source = openSource(disk, name, engine);
  try {
    return begunAt(source, engine, at);
  } finally {
    source.file.close();
  }
}

function begunAt(source: JournalSource, engine: string, at: Pick<WalkOptions, "to" | "until">): Beginning {
  const walk = new Walk(source, engine, at);
  const { scan, last, trouble } = walk.run();
  if (scan.damage !== null && isCorrupt(source, scan.damage)) {
    throw new StoreError("corrupt", damageText(source.path, source.name, scan.damage));
  }
  if (trouble !== null) return beforeDefect(source, engine, trouble);
  if (last === null || (at.to !== undefined && last.n !== at.to)) {
    const found = at.to ?? "a moment before its first";
    throw new StoreError(
      "usage",
      `--at expects a line of ${source.name}, which has ${scan.number}, found ${found}`,
    );
  }
  const { exchange, clock } = walk;
  // What must follow at the same moment, as the end of a block, follows.
  exchange.advanceTo(exchange.now);
  const { devAccounts } = originOf(source.opening, source.path);
  return { origin: originOfState(documentOf(exchange, devAccounts)), line: last.n, clock };
}

/** The state before a command that makes the program fail, as it did then. @throws ReplayDiffers of any other trouble */
function beforeDefect(source: JournalSource, engine: string, { line, command, outcome }: Told): Beginning {
  const isRecorded = outcome.kind === "fails" && outcome.isRecorded;
  if (isRecorded && line.n > 1) return begunAt(source, engine, { to: line.n - 1 });
  const redone =
    outcome.kind === "fails" ? outcome.error : outcome.kind === "differs" ? outcome.decision : null;
  if (command === null || redone === null) throw new Error(`${outcome.kind} at line ${line.n}`);
  throw new ReplayDiffers(source.path, line, command, redone);
}

function documentOf(exchange: Exchange, devAccounts: Origin["devAccounts"]): StateDocument {
  const { state, now, sequence } = exchange;
  const header: StateDocument["clobsim"] = { format: STATE_FORMAT, now, sequence, devAccounts };
  const lines = [`{"clobsim":${JSON.stringify(header)},`, ...documentLines(state), "}"];
  return JSON.parse(lines.join("\n")) as StateDocument;
}
