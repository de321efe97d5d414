import assert from "node:assert";
import { closeSync, fdatasync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { hex8 } from "../../src/core/hash.ts";
import { millis } from "../../src/core/units.ts";
import { nodeDisk } from "../../src/engine/disk.ts";
import type { Exchange } from "../../src/engine/exchange.ts";
import { JournalFile } from "../../src/engine/journal-file.ts";
import { BEGINNING, type OpeningData } from "../../src/engine/journal-line.ts";
import { restoreTargets, scan } from "../../src/engine/journal-scan.ts";
import { Replayer } from "../../src/engine/replayer.ts";
import { readStateFile, STATE_FORMAT, snapshotOf, writeState } from "../../src/engine/state-file.ts";
import type { Durability } from "../../src/setting.ts";
import { commonFlow, type Flow } from "./flow.ts";
import {
  assertInvariants,
  FlowCommands,
  mustSubmit,
  openEmptyExchange,
  openFundedExchange,
  prepareFlow,
} from "./funded-exchange.ts";
import type { ProcessTask } from "./programs.ts";
import { compared, elapsed, garbageCollector, lineOf, measured, type Section, timed } from "./rounds.ts";
import { whole } from "./table.ts";

const OPERATIONS = 200_000;
/** Number of lines that are synced. */
const SYNCED = 32_000;
/** Number of concurrent clients, whose commands are written together. */
const CLIENTS = 64;
/** Rounds with sync that do not count, for compilation. */
const WARM_UPS = 3;
/** Average length of a journal line, in bytes. */
const LINE_BYTES = 150;

/** Cost of persisting answered commands. */
export const storeSection: Section = {
  name: "store",
  about: "commands through the whole exchange, kept in a journal that is written before each answer",
  unit: "thousand commands/s",
  baseline: "in memory; for power, the bare appends",
  async measure(rounds, programs) {
    const folder = programs.folder();
    const flow = commonFlow({ levels: 99, operations: OPERATIONS });
    const line = (workload: string, group: number, isKept = true) => {
      const sample = timed({
        prepare() {
          const kept = isKept ? newJournal(folder, "process") : null;
          const run = kept === null ? prepareFlow(flow) : prepareKept(flow, kept.journal, group);
          return () => ({ exchange: run(), discard: kept?.discard });
        },
        check({ exchange, discard }) {
          discard?.();
          assertInvariants(exchange.state);
        },
      });
      return lineOf(workload, "clobsim", () => OPERATIONS / sample());
    };
    const lines = [
      line("in memory", 1, false),
      line(`process, ${CLIENTS} answers at a time`, CLIENTS),
      line("process, an answer to each command", 1),
    ];
    const measurements = await measured(lines, { rounds, warmUps: 2 });
    const synced = programs.task("groupCommits", { folder, lines: SYNCED, clients: CLIENTS });
    const [bare = [], power = []] = await synced.columns({ rounds, warmUps: WARM_UPS });
    const speeds = (seconds: readonly number[]) => seconds.map((each) => SYNCED / 1_000 / each);
    const onTheDisk = compared([
      { workload: `${CLIENTS} lines appended, then fdatasync`, subject: "node:fs", figures: speeds(bare) },
      { workload: `power, ${CLIENTS} clients`, subject: "clobsim", figures: speeds(power) },
    ]);
    return {
      measurements: [...measurements, ...onTheDisk],
      notes: [
        `The first ${whole(OPERATIONS)} operations of the book's flow. A line has about 150 bytes; each is chained to the one before by its CRC.`,
        "Every command is in the file, by write(2), before its answer.",
      ],
    };
  },
};

/**
 * Creates a journal on disk. `discard` removes the file before the system writes it to disk, which would slow down the next
 * measurement.
 */
function newJournal(folder: string, durability: Durability) {
  const path = join(folder, "journal");
  const file = nodeDisk.open(path, "new");
  let isDiscarded = false;
  const syncedUnlessDiscarded = {
    get size() {
      return file.size;
    },
    read: file.read.bind(file),
    write: file.write.bind(file),
    truncate: file.truncate.bind(file),
    sync: () => (isDiscarded ? undefined : file.sync()),
    syncAsync: () => (isDiscarded ? Promise.resolve() : file.syncAsync()),
    close: file.close.bind(file),
  };
  const journal = new JournalFile(syncedUnlessDiscarded, durability, BEGINNING);
  const discard = (): void => {
    isDiscarded = true;
    nodeDisk.remove(path);
    journal.close();
  };
  return { journal, discard };
}

/** Prepares the flow with a journal that is written after every `every` commands, which divides their number. */
function prepareKept(flow: Flow, journal: JournalFile, every: number): () => Exchange {
  const pause = () => journal.flush(journal.position);
  const run = prepareFlow(flow, { journal, pause, every });
  journal.flush(journal.position);
  return run;
}

type GroupCommitChoice = Readonly<Record<"lines" | "clients", number>> & { readonly folder: string };

/** Returns the seconds of plain synced appends, then those of an exchange whose clients wait for the sync. */
export const groupCommits: ProcessTask<GroupCommitChoice> = (choice) => {
  const flow = commonFlow({ levels: 99, operations: choice.lines });
  return async () => [await bareAppend(choice), await groupCommit(flow, choice)];
};

/** Returns the seconds of a flow whose `clients` wait for their answers, which wait for the sync. */
async function groupCommit(flow: Flow, { folder, clients }: GroupCommitChoice): Promise<number> {
  const { journal, discard } = newJournal(folder, "power");
  const exchange = openFundedExchange({ levels: flow.levels, journal });
  const commands = new FlowCommands(flow, exchange.state).take(flow.tape.length).values();
  await journal.flush(journal.position);
  const client = async (): Promise<void> => {
    for (const command of commands) {
      mustSubmit(exchange, command);
      await journal.flush(journal.position);
    }
  };
  garbageCollector()();
  const ms = await elapsed(() => Promise.all(Array.from({ length: clients }, client)));
  discard();
  return ms / 1_000;
}

/** Returns the seconds to append as many bytes in groups of equal size, each synced before the next. */
async function bareAppend({ lines, folder, clients }: GroupCommitChoice): Promise<number> {
  const path = join(folder, "bare");
  const fd = openSync(path, "wx");
  const group = Buffer.alloc(LINE_BYTES * clients, "x");
  const sync = promisify(fdatasync);
  const ms = await elapsed(async () => {
    for (let done = 0; done < lines; done += clients) {
      writeSync(fd, group);
      await sync(fd);
    }
  });
  unlinkSync(path);
  closeSync(fd);
  return ms / 1_000;
}

/** Persisted data, and the hash of its state. */
type KeptHistory = Readonly<Record<"folder" | "hash", string>>;

/** Seconds to replay a whole journal. */
export const replayedJournal: ProcessTask<KeptHistory> = ({ folder, hash }) => {
  const path = join(folder, "journal");
  const sample = timed({
    prepare() {
      const exchange = openEmptyExchange();
      return () => {
        const file = nodeDisk.open(path, "read");
        const replayer = new Replayer(exchange, { play: () => {} }, path, restoreTargets(file, BEGINNING));
        const { damage } = scan(file, BEGINNING, (line) => replayer.take(line));
        file.close();
        return damage === null && exchange.hash === hash;
      };
    },
    check: (isSame) => assert(isSame, "the journal gives another state"),
  });
  return () => [sample() / 1_000];
};

/** Seconds to read a state from its file. */
export const readState: ProcessTask<KeptHistory> = ({ folder, hash }) => {
  const sample = timed({
    prepare: () => () => readStateFile(nodeDisk, join(folder, "db.json")),
    check(kept) {
      assert(kept !== null, "there is no state");
      const exchange = openEmptyExchange();
      exchange.restore(snapshotOf(kept));
      assert(exchange.hash === hash, "the file has another state");
    },
  });
  return () => [sample() / 1_000];
};

const COMMANDS = 1_000_000;

/** Time to reopen a persisted exchange. */
export const reopeningSection: Section = {
  name: "reopening",
  about: "an exchange read from what was kept of it",
  unit: "thousand commands/s",
  baseline: "journal",
  async measure(rounds, programs) {
    const folder = programs.folder();
    const flow = commonFlow({ levels: 99, operations: COMMANDS });
    const { journal } = newJournal(folder, "process");
    journal.control("opening", opening(), millis(0));
    const exchange = prepareKept(flow, journal, COMMANDS)();
    journal.close();
    await saveState(folder, exchange);
    const line = (workload: string, name: string) => {
      const task = programs.task(name, { folder, hash: exchange.hash });
      return lineOf(workload, "clobsim", async () => COMMANDS / 1_000 / ((await task.ask())[0] as number));
    };
    const lines = [
      line("journal: every command decided anew and compared", "replayedJournal"),
      line("db.json: the state read and checked", "readState"),
    ];
    return {
      measurements: await measured(lines, { rounds, warmUps: 1 }),
      notes: [
        `A journal of ${whole(COMMANDS)} commands that left ${whole(exchange.state.trades.size)} trades. The state's hash is the same after each.`,
        "Opening reads the latest state, then the commands after it.",
      ],
    };
  },
};

/** First line of a journal of an exchange without a world. */
const opening = (): OpeningData => ({
  format: "clobsim-journal/1",
  engine: "0",
  config: openEmptyExchange().state.config,
  start: millis(0),
  clock: { mode: "frozen", rate: 0, followsWall: false },
  base: { kind: "world", content: {} },
  sequence: 0,
  hash: "0".repeat(64),
});

function saveState(folder: string, exchange: Exchange): Promise<void> {
  const { state, now, sequence, digest } = exchange.snapshot();
  const clock = { setting: { mode: "frozen", rate: 0 }, virtual: now, wall: 0 } as const;
  const place = { line: sequence, check: hex8(0), offset: 1, sequence, now, digest, devAccounts: [] };
  const kept = { clock, durability: "process", refused: 0 } as const;
  return writeState(nodeDisk, folder, {
    header: { format: STATE_FORMAT, engine: "0", ...place, ...kept },
    state,
  });
}
