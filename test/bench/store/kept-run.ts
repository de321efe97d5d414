import { join } from "node:path";
import type { Exchange } from "../../../src/runtime/exchange.ts";
import { nodeDisk } from "../../../src/store/disk.ts";
import { type Durability, JournalFile } from "../../../src/store/journal-file.ts";
import { BEGINNING } from "../../../src/store/journal-scan.ts";
import type { Flow } from "../flow.ts";
import { demand, openFloor } from "../submit/floor.ts";
import { FlowCommands } from "../submit/flow-commands.ts";

let files = 0;

/** A new journal on the disk. */
export const newJournal = (folder: string, durability: Durability): JournalFile => {
  files += 1;
  return new JournalFile(nodeDisk.open(join(folder, `journal-${files}`), "new"), durability, BEGINNING);
};

/** A run of a flow's commands on an exchange, and the exchange that they have made. */
export interface KeptRun {
  readonly exchange: Exchange;
  run(): void;
}

/** The same flow in memory alone, or with all that is answered written: after each command, or after several. */
export function prepareRun(flow: Flow, journal: JournalFile | null, group: number): KeptRun {
  const terms = { markets: 1, levels: flow.levels, feeRateBps: 0 };
  const exchange = openFloor(journal === null ? terms : { ...terms, journal });
  const commands = new FlowCommands(flow, exchange.state).take(flow.tape.length);
  journal?.keep();
  const run = (): void => {
    let left = group;
    for (const command of commands) {
      demand(exchange, command);
      left -= 1;
      if (left > 0) continue;
      journal?.keep();
      left = group;
    }
    journal?.keep();
  };
  return { exchange, run };
}
