import { parseArgs } from "node:util";
import { bookSection, flatnessSection } from "./book-section.ts";
import { botsSection } from "./bots-section.ts";
import { chainSection } from "./chain-section.ts";
import {
  settlementSection,
  steadyExchange,
  submitFlatnessSection,
  submitSection,
} from "./commands-section.ts";
import { streamReader, streamSection, subscribers, subscribersSection } from "./followers-section.ts";
import { httpSection, overviewSection } from "./http-section.ts";
import { inspectorSection } from "./inspector-section.ts";
import {
  historyMemory,
  marketMemory,
  memorySection,
  snapshotCosts,
  snapshotsSection,
} from "./memory-section.ts";
import { partsSection } from "./parts-section.ts";
import { peersSection } from "./peers/peers-section.ts";
import { Programs, serveTasks } from "./programs.ts";
import type { Section } from "./rounds.ts";
import { fuzzSection, scenarioSection } from "./scenario-section.ts";
import { openingSection, startSection } from "./start-section.ts";
import { groupCommits, readState, reopeningSection, replayedJournal, storeSection } from "./store-section.ts";
import { machine, machineLine, PAGE_SECTIONS, type Report, sectionText, writePage } from "./table.ts";

/** All sections in the order in which they run. */
const SECTIONS: readonly Section[] = [
  ...[bookSection, flatnessSection, submitSection, submitFlatnessSection, settlementSection, chainSection],
  ...[storeSection, reopeningSection, snapshotsSection, memorySection, partsSection],
  ...[httpSection, overviewSection, subscribersSection, streamSection, inspectorSection],
  ...[openingSection, startSection, scenarioSection, fuzzSection, botsSection, peersSection],
];

/** Measurements that run in separate processes. */
const TASKS = {
  ...{ steadyExchange, marketMemory, historyMemory, snapshotCosts, replayedJournal, readState, groupCommits },
  ...{ subscribers, streamReader },
};

const USAGE =
  "usage: npm run bench -- [--json] [--only SECTION,...] [--rounds N], or --write [--rounds N] for the page of the guide";

/** Parses the flags; `write` measures the sections of the guide's page and writes it. @throws Error that names an invalid one. */
function choice() {
  const { json, write, only, rounds } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string", default: "7" },
    },
  }).values;
  if (!/^[1-9]\d*$/.test(rounds)) throw new Error(`--rounds must be a whole number from 1, not ${rounds}`);
  if (write && only !== undefined) throw new Error("--write measures what its page shows");
  const all = SECTIONS.map(({ name }) => name);
  const names = write ? PAGE_SECTIONS : (only?.split(",") ?? all);
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`no section "${unknown}"; there are ${all.join(", ")}`);
  const sections = SECTIONS.filter(({ name }) => names.includes(name));
  return { json, write, rounds: Number(rounds), sections };
}

async function measure(section: Section, asked: number): Promise<Report> {
  const { unit, baseline, fewest = 1, most = Number.POSITIVE_INFINITY } = section;
  const rounds = Math.min(Math.max(asked, fewest), most);
  await using programs = new Programs();
  return { unit, baseline, rounds, ...(await section.measure(rounds, programs)) };
}

async function run({ json, write, rounds, sections }: ReturnType<typeof choice>): Promise<void> {
  const where = machine();
  if (!json) process.stdout.write(`${machineLine(where)}\n`);
  const reports = new Map<Section, Report>();
  for (const section of sections) {
    process.stderr.write(`measuring ${section.name} ...\n`);
    const report = await measure(section, rounds);
    reports.set(section, report);
    if (!json) process.stdout.write(`\n${sectionText(section, report)}\n`);
  }
  if (write) writePage(machineLine(where), reports);
  const named = Object.fromEntries([...reports].map(([{ name }, report]) => [name, report]));
  if (json) process.stdout.write(`${JSON.stringify({ machine: where, sections: named }, null, 2)}\n`);
}

function choiceOrExit(): ReturnType<typeof choice> {
  try {
    return choice();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}\n`);
    process.exit(2);
  }
}

if (!serveTasks(TASKS)) await run(choiceOrExit());
