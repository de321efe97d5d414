import { join } from "node:path";
import type { Exchange } from "../../../src/runtime/exchange.ts";
import { nodeDisk } from "../../../src/store/disk.ts";
import { hex8 } from "../../../src/store/journal-line.ts";
import { BEGINNING, scan } from "../../../src/store/journal-scan.ts";
import { Replayer } from "../../../src/store/replayer.ts";
import { readStateFile, STATE_FORMAT, stateDatabase } from "../../../src/store/state-file.ts";
import { commonFlow } from "../flow.ts";
import { measurementOf } from "../measurement.ts";
import { median } from "../rounds.ts";
import type { Section } from "../section.ts";
import { bareFloor } from "../submit/floor.ts";
import { takeTurns } from "../turns.ts";
import { benchFolder } from "./bench-folder.ts";
import { newJournal, prepareRun } from "./kept-run.ts";

const COMMANDS = 1_000_000;

/** What it takes to have an exchange again that was kept. */
export const reopeningSection: Section = {
  name: "reopening",
  about: "an exchange read from what was kept of it",
  async measure(rounds) {
    const folder = benchFolder();
    const flow = commonFlow({ levels: 99, operations: COMMANDS });
    const journal = newJournal(folder, "process");
    const kept = prepareRun(flow, journal, COMMANDS);
    kept.run();
    journal.close();
    await writeState(folder, kept.exchange);
    const { hash } = kept.exchange;
    const subjects = [() => replayed(folder, hash), () => read(folder, hash)];
    const times = await takeTurns(
      subjects.map((subject) => async () => subject()),
      { rounds, warmUps: 1 },
    );
    const speeds = times.map((seconds) => seconds.map((each) => COMMANDS / 1_000 / each));
    const names = ["journal: every command decided anew and compared", "db.json: the state read and checked"];
    const baseline = median(speeds[0] ?? []);
    return {
      unit: "thousand commands/s",
      baseline: "journal",
      rounds,
      measurements: speeds.map((each, index) => measurementOf(names[index] ?? "", "clobsim", each, baseline)),
      notes: [
        `A journal of ${COMMANDS.toLocaleString("en-US")} commands that left ${kept.exchange.state.trades.size.toLocaleString("en-US")} trades. The state's hash is the same after each.`,
        "Opening reads the latest state, then the commands after it.",
      ],
    };
  },
};

async function writeState(folder: string, exchange: Exchange): Promise<void> {
  const { state, now, sequence } = exchange.snapshot();
  const clock = { setting: { mode: "frozen", rate: 0 }, virtual: now, wall: 0 } as const;
  const place = { line: sequence, check: hex8(0), offset: 0, sequence, now, devAccounts: [] };
  const database = stateDatabase(nodeDisk, folder);
  database.data = {
    header: { format: STATE_FORMAT, engine: "0", ...place, clock, durability: "process" },
    state,
  };
  await database.write();
}

/** Seconds that replaying the whole journal takes. */
function replayed(folder: string, hash: string): number {
  const exchange = bareFloor();
  const start = performance.now();
  const file = nodeDisk.open(join(folder, "journal-1"), "read");
  const replayer = new Replayer(exchange, () => {}, new Set());
  const { damage } = scan(file, BEGINNING, (line) => replayer.take(line));
  file.close();
  const seconds = (performance.now() - start) / 1_000;
  if (damage !== null || exchange.hash !== hash) throw new Error("the journal leads to another state");
  return seconds;
}

/** Seconds that reading the state takes. */
function read(folder: string, hash: string): number {
  const start = performance.now();
  const kept = readStateFile(nodeDisk, join(folder, "db.json"));
  const seconds = (performance.now() - start) / 1_000;
  if (kept === null) throw new Error("there is no state");
  const exchange = bareFloor();
  exchange.restore({ ...kept.header, state: kept.state, hash: null, mark: null });
  if (exchange.hash !== hash) throw new Error("the file holds another state");
  return seconds;
}
