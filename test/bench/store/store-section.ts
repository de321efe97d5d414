import { commonFlow, type Flow } from "../flow.ts";
import { benchFolder } from "../programs.ts";
import { alternate, median, type Subject } from "../rounds.ts";
import type { Section } from "../section.ts";
import { measurementOf } from "../section.ts";
import { SeparateProcess } from "../separate-process.ts";
import { assertInvariants } from "../submit/funded-exchange.ts";
import type { GroupCommitChoice } from "./group-commit.ts";
import { type BenchJournal, type KeptRun, newJournal, prepareRun } from "./journaled-run.ts";

const OPERATIONS = 200_000;
/** Number of lines that are synced. */
const SYNCED = 32_000;
/** Number of concurrent clients, whose commands are written together. */
const CLIENTS = 64;
/** Rounds with sync that do not count, for compilation. */
const WARM_UPS = 3;

/** Cost of persisting answered commands. */
export const storeSection: Section = {
  name: "store",
  about: "commands through the whole exchange, kept in a journal that is written before each answer",
  async measure(rounds) {
    const folder = benchFolder();
    const flow = commonFlow({ levels: 99, operations: OPERATIONS });
    const subjects = [
      subjectOf("in memory", flow, null, 1),
      subjectOf(`process, ${CLIENTS} answers at a time`, flow, folder, CLIENTS),
      subjectOf("process, an answer to each command", flow, folder, 1),
    ];
    const samples = alternate(subjects, { rounds, warmUps: 2, sampleMs: 0 });
    const speeds = samples.map((milliseconds) => milliseconds.map((each) => OPERATIONS / each));
    const baseline = median(speeds[0] ?? []);
    const [bare, power] = await onTheDisk(folder, rounds);
    return {
      unit: "thousand commands/s",
      baseline: "in memory; for power, the bare appends",
      rounds,
      measurements: [
        ...speeds.map((each, index) => measurementOf(subjects[index]?.name ?? "", "clobsim", each, baseline)),
        measurementOf(`${CLIENTS} lines appended, then fdatasync`, "node:fs", bare, median(bare)),
        measurementOf(`power, ${CLIENTS} clients`, "clobsim", power, median(bare)),
      ],
      notes: [
        `The first ${OPERATIONS.toLocaleString("en-US")} operations of the book's flow. A line has about 150 bytes; each is chained to the one before by its CRC.`,
        "Every command is in the file, by write(2), before its answer.",
      ],
    };
  },
};

/** Thousand synced lines per second, by plain appends and by an exchange whose clients wait. */
async function onTheDisk(folder: string, rounds: number): Promise<[bare: number[], power: number[]]> {
  const choice: GroupCommitChoice = { folder, lines: SYNCED, clients: CLIENTS };
  const part = new SeparateProcess("groupCommits", choice);
  const speeds: [number[], number[]] = [[], []];
  for (let round = -WARM_UPS; round < rounds; round += 1) {
    const seconds = await part.ask();
    if (round < 0) continue;
    for (const [index, each] of speeds.entries()) each.push(SYNCED / 1_000 / (seconds[index] as number));
  }
  await part.stop();
  return speeds;
}

function subjectOf(name: string, flow: Flow, folder: string | null, group: number): Subject {
  let kept: KeptRun | null = null;
  let journal: BenchJournal | null = null;
  return {
    name,
    prepare() {
      journal = folder === null ? null : newJournal(folder, "journal", "process");
      const run = prepareRun(flow, journal?.journal ?? null, group);
      kept = run;
      return () => run.run();
    },
    check() {
      journal?.discard();
      if (kept !== null) assertInvariants(kept.exchange.state);
    },
  };
}
