import { join } from "node:path";
import { nodeDisk } from "../../../src/engine/disk.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { JournalFile } from "../../../src/engine/journal-file.ts";
import { BEGINNING } from "../../../src/engine/journal-line.ts";
import type { Durability } from "../../../src/setting.ts";
import type { Flow } from "../flow.ts";
import { FlowCommands, mustSubmit, openFundedExchange } from "../submit/funded-exchange.ts";

/** Journal of a benchmark. */
export interface BenchJournal {
  readonly journal: JournalFile;
  /** Removes the file before the system writes it to disk, which would slow down the next measurement. */
  discard(): void;
}

/** Creates a journal on disk. */
export function newJournal(folder: string, name: string, durability: Durability): BenchJournal {
  const path = join(folder, name);
  const file = nodeDisk.open(path, "new");
  let isDiscarded = false;
  const journal = new JournalFile(
    {
      get size() {
        return file.size;
      },
      read: (into, position) => file.read(into, position),
      write: (bytes, position) => file.write(bytes, position),
      truncate: (size) => file.truncate(size),
      sync: () => (isDiscarded ? undefined : file.sync()),
      syncAsync: () => (isDiscarded ? Promise.resolve() : file.syncAsync()),
      close: () => file.close(),
    },
    durability,
    BEGINNING,
  );
  return {
    journal,
    discard: () => {
      isDiscarded = true;
      nodeDisk.remove(path);
      journal.close();
    },
  };
}

/** Run of a flow's commands, and its exchange. */
export interface KeptRun {
  readonly exchange: Exchange;
  run(): void;
}

/** Prepares the flow in memory, or with a journal that is written after each command or after several. */
export function prepareRun(flow: Flow, journal: JournalFile | null, group: number): KeptRun {
  const terms = { markets: 1, levels: flow.levels, feeRateBps: 0 };
  const exchange = openFundedExchange(journal === null ? terms : { ...terms, journal });
  const commands = new FlowCommands(flow, exchange.state).take(flow.tape.length);
  journal?.flush(journal.position);
  const run = (): void => {
    let left = group;
    for (const command of commands) {
      mustSubmit(exchange, command);
      left -= 1;
      if (left > 0) continue;
      journal?.flush(journal.position);
      left = group;
    }
    journal?.flush(journal.position);
  };
  return { exchange, run };
}
