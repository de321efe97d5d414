import { closeSync, fdatasync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { commonFlow, type Flow } from "../flow.ts";
import { garbageCollector } from "../rounds.ts";
import type { ProcessTask } from "../separate-process.ts";
import { FlowCommands, mustSubmit, openFundedExchange } from "../submit/funded-exchange.ts";
import { newJournal } from "./journaled-run.ts";

/** Average length of a journal line, in bytes. */
const LINE_BYTES = 150;

export interface GroupCommitChoice {
  readonly folder: string;
  readonly lines: number;
  readonly clients: number;
}

/** Returns the seconds of plain synced appends, then those of an exchange whose clients wait for the sync. */
export const groupCommits: ProcessTask<GroupCommitChoice> = ({ folder, lines, clients }) => {
  const collectGarbage = garbageCollector();
  const flow = commonFlow({ levels: 99, operations: lines });
  return async () => {
    const bare = await bareAppend(lines, folder, clients);
    return [bare, await groupCommit(flow, folder, clients, collectGarbage)];
  };
};

/** Returns the seconds of a flow whose `clients` wait for their answers, which wait for the sync. */
async function groupCommit(
  flow: Flow,
  folder: string,
  clients: number,
  collectGarbage: () => void,
): Promise<number> {
  const { journal, discard } = newJournal(folder, "journal", "power");
  const exchange = openFundedExchange({ markets: 1, levels: flow.levels, feeRateBps: 0, journal });
  const commands = new FlowCommands(flow, exchange.state).take(flow.tape.length);
  await journal.flush(journal.position);
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < commands.length) {
      const command = commands[next];
      next += 1;
      if (command !== undefined) mustSubmit(exchange, command);
      await journal.flush(journal.position);
    }
  };
  collectGarbage();
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  const seconds = (performance.now() - start) / 1_000;
  discard();
  return seconds;
}

/** Returns the seconds to append as many bytes in groups of equal size, each synced before the next. */
async function bareAppend(lines: number, folder: string, clients: number): Promise<number> {
  const path = join(folder, "bare");
  const fd = openSync(path, "wx");
  const group = Buffer.alloc(LINE_BYTES * clients, "x");
  const sync = promisify(fdatasync);
  const start = performance.now();
  for (let done = 0; done < lines; done += clients) {
    writeSync(fd, group);
    await sync(fd);
  }
  const seconds = (performance.now() - start) / 1_000;
  unlinkSync(path);
  closeSync(fd);
  return seconds;
}
