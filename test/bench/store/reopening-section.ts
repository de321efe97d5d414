import { join } from "node:path";
import { millis } from "../../../src/core/units.ts";
import { nodeDisk } from "../../../src/engine/disk.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { hex8 } from "../../../src/engine/hashes.ts";
import { BEGINNING, type OpeningData } from "../../../src/engine/journal-line.ts";
import { restoreTargets, scan } from "../../../src/engine/journal-scan.ts";
import { Replayer } from "../../../src/engine/replayer.ts";
import { readStateFile, STATE_FORMAT, snapshotOf, stateDatabase } from "../../../src/engine/state-file.ts";
import { commonFlow } from "../flow.ts";
import { benchFolder } from "../programs.ts";
import { garbageCollector, median, takeTurns } from "../rounds.ts";
import { measurementOf, type Section } from "../section.ts";
import { type ProcessTask, SeparateProcess } from "../separate-process.ts";
import { openEmptyExchange } from "../submit/funded-exchange.ts";
import { newJournal, prepareRun } from "./journaled-run.ts";

/** Persisted data, and the hash of its state. */
interface KeptHistory {
  readonly folder: string;
  readonly hash: string;
}

/** Seconds to replay a whole journal. */
export const replayedJournal: ProcessTask<KeptHistory> = ({ folder, hash }) => {
  const collectGarbage = garbageCollector();
  return () => {
    collectGarbage();
    const exchange = openEmptyExchange();
    const start = performance.now();
    const path = join(folder, "journal");
    const file = nodeDisk.open(path, "read");
    const replayer = new Replayer(exchange, () => {}, path, restoreTargets(file, BEGINNING));
    const { damage } = scan(file, BEGINNING, (line) => replayer.take(line));
    file.close();
    const seconds = (performance.now() - start) / 1_000;
    if (damage !== null || exchange.hash !== hash) throw new Error("the journal gives another state");
    return [seconds];
  };
};

/** Seconds to read a state from its file. */
export const readState: ProcessTask<KeptHistory> = ({ folder, hash }) => {
  const collectGarbage = garbageCollector();
  return () => {
    collectGarbage();
    const start = performance.now();
    const kept = readStateFile(nodeDisk, join(folder, "db.json"));
    const seconds = (performance.now() - start) / 1_000;
    if (kept === null) throw new Error("there is no state");
    const exchange = openEmptyExchange();
    exchange.restore(snapshotOf(kept));
    if (exchange.hash !== hash) throw new Error("the file has another state");
    return [seconds];
  };
};

const COMMANDS = 1_000_000;

/** Time to reopen a persisted exchange. */
export const reopeningSection: Section = {
  name: "reopening",
  about: "an exchange read from what was kept of it",
  async measure(rounds) {
    const folder = benchFolder();
    const flow = commonFlow({ levels: 99, operations: COMMANDS });
    const { journal } = newJournal(folder, "journal", "process");
    journal.control("opening", opening(), millis(0));
    const kept = prepareRun(flow, journal, COMMANDS);
    kept.run();
    journal.close();
    await writeState(folder, kept.exchange);
    const choice: KeptHistory = { folder, hash: kept.exchange.hash };
    const trades = kept.exchange.state.trades.size;
    const parts = ["replayedJournal", "readState"].map((name) => new SeparateProcess(name, choice));
    const times = await takeTurns(
      parts.map((part) => async () => (await part.ask())[0] as number),
      { rounds, warmUps: 1 },
    );
    await Promise.all(parts.map((part) => part.stop()));
    const speeds = times.map((seconds) => seconds.map((each) => COMMANDS / 1_000 / each));
    const baseline = median(speeds[0] ?? []);
    return {
      unit: "thousand commands/s",
      baseline: "journal",
      rounds,
      measurements: speeds.map((each, index) => measurementOf(NAMES[index] ?? "", "clobsim", each, baseline)),
      notes: [
        `A journal of ${COMMANDS.toLocaleString("en-US")} commands that left ${trades.toLocaleString("en-US")} trades. The state's hash is the same after each.`,
        "Opening reads the latest state, then the commands after it.",
      ],
    };
  },
};

const NAMES = ["journal: every command decided anew and compared", "db.json: the state read and checked"];

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

async function writeState(folder: string, exchange: Exchange): Promise<void> {
  const { state, now, sequence, digest } = exchange.snapshot();
  const clock = { setting: { mode: "frozen", rate: 0 }, virtual: now, wall: 0 } as const;
  const place = { line: sequence, check: hex8(0), offset: 1, sequence, now, digest, devAccounts: [] };
  const database = stateDatabase(nodeDisk, folder);
  database.data = {
    header: { format: STATE_FORMAT, engine: "0", ...place, clock, durability: "process", refused: 0 },
    state,
  };
  await database.write();
}
