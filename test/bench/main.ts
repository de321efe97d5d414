import { parseArgs } from "node:util";
import { bookSection, flatnessSection } from "./book-section.ts";
import { botsSection } from "./bots/bots-section.ts";
import { chainSection } from "./chain/chain-section.ts";
import { fuzzSection } from "./fuzz/fuzz-section.ts";
import { httpSection } from "./http/http-section.ts";
import { overviewSection } from "./http/overview-section.ts";
import { inspectorSection } from "./inspector/inspector-section.ts";
import { historyMemory, marketMemory, memorySection } from "./memory/memory-section.ts";
import { openingSection } from "./opening/opening-section.ts";
import { PAGE_SECTIONS, writePage } from "./page.ts";
import { partsSection } from "./parts-section.ts";
import { peersSection } from "./peers/peers-section.ts";
import { scenarioSection } from "./scenario/scenario-section.ts";
import type { Section, SectionReport } from "./section.ts";
import { serveTasks } from "./separate-process.ts";
import { settlementSection } from "./settlement/settlement-section.ts";
import { startSection } from "./start/start-section.ts";
import { groupCommits } from "./store/group-commit.ts";
import { readState, reopeningSection, replayedJournal } from "./store/reopening-section.ts";
import { snapshotCosts, snapshotsSection } from "./store/snapshots-section.ts";
import { storeSection } from "./store/store-section.ts";
import { streamReader } from "./stream/reader.ts";
import { streamSection } from "./stream/stream-section.ts";
import { steadyExchange, submitFlatnessSection } from "./submit/submit-flatness-section.ts";
import { submitSection } from "./submit/submit-section.ts";
import { subscribers } from "./subscribers/subscribers.ts";
import { subscribersSection } from "./subscribers/subscribers-section.ts";
import { machine, machineLine, sectionText } from "./table.ts";

/** All sections in the order in which they run. */
const SECTIONS: readonly Section[] = [
  bookSection,
  flatnessSection,
  submitSection,
  submitFlatnessSection,
  settlementSection,
  chainSection,
  storeSection,
  reopeningSection,
  snapshotsSection,
  memorySection,
  partsSection,
  httpSection,
  overviewSection,
  subscribersSection,
  streamSection,
  inspectorSection,
  openingSection,
  startSection,
  scenarioSection,
  fuzzSection,
  botsSection,
  peersSection,
];

/** Measurements that run in separate processes. */
const TASKS = {
  steadyExchange,
  marketMemory,
  replayedJournal,
  readState,
  snapshotCosts,
  historyMemory,
  groupCommits,
  subscribers,
  streamReader,
};

const USAGE =
  "usage: npm run bench -- [--json] [--only SECTION,...] [--rounds N], or --write [--rounds N] for the page of the guide";

interface Choice {
  readonly json: boolean;
  /** Whether to measure the sections of the guide's page and write it. */
  readonly write: boolean;
  readonly rounds: number;
  readonly sections: readonly Section[];
}

/** @throws Error that names an invalid flag. */
function choiceOf(args: readonly string[]): Choice {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string", default: "7" },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`--rounds must be a whole number from 1, not ${values.rounds}`);
  }
  if (values.write && values.only !== undefined) throw new Error("--write measures what its page shows");
  const all = values.write ? PAGE_SECTIONS : SECTIONS.map(({ name }) => name);
  const names = values.only?.split(",") ?? all;
  for (const name of names) {
    if (!SECTIONS.some((section) => section.name === name)) {
      throw new Error(
        `no section "${name}"; there are ${SECTIONS.map((section) => section.name).join(", ")}`,
      );
    }
  }
  return {
    json: values.json,
    write: values.write,
    rounds,
    sections: SECTIONS.filter(({ name }) => names.includes(name)),
  };
}

async function run({ json, write, rounds, sections }: Choice): Promise<void> {
  const where = machine();
  if (!json) process.stdout.write(`${machineLine(where)}\n`);
  const reports = new Map<Section, SectionReport>();
  for (const section of sections) {
    process.stderr.write(`measuring ${section.name} ...\n`);
    const report = await section.measure(rounds);
    reports.set(section, report);
    if (!json) process.stdout.write(`\n${sectionText(section, report)}\n`);
  }
  if (write) writePage(machineLine(where), reports);
  const named = Object.fromEntries([...reports].map(([{ name }, report]) => [name, report]));
  if (json) process.stdout.write(`${JSON.stringify({ machine: where, sections: named }, null, 2)}\n`);
}

function choiceOrExit(): Choice {
  try {
    return choiceOf(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}\n`);
    process.exit(2);
  }
}

if (!serveTasks(TASKS)) await run(choiceOrExit());
