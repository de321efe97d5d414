import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Apart } from "../apart.ts";
import { serveClobsim } from "../http/served.ts";
import { measurementOf } from "../measurement.ts";
import type { Measurement, Section } from "../section.ts";
import type { MarketMemoryChoice } from "./market-memory.ts";

const MARKETS = 5000;
const LIVE = 40;
/** Memory hardly varies from process to process. */
const MOST_ROUNDS = 3;

/** What many markets take in memory. */
export const memorySection: Section = {
  name: "memory",
  about: `what ${figure(MARKETS)} markets take`,
  async measure(asked) {
    const rounds = Math.min(asked, MOST_ROUNDS);
    const inHeap = await perRound(rounds, marketsAlone);
    const [open, resting, resident] = [0, 1, 2].map((index) => inHeap.map((round) => round[index] as number));
    const few = await perRound(rounds, () => residentServer());
    const many = await perRound(rounds, () => residentServer("--markets", String(MARKETS)));
    const row = (workload: string, subject: string, figures: readonly number[] = []): Measurement =>
      measurementOf(workload, subject, figures, null);
    const resting40 = `${figure(MARKETS)} markets, ${LIVE} orders resting in each`;
    return {
      unit: "MiB",
      baseline: "nothing",
      rounds,
      measurements: [
        row(`${figure(MARKETS)} markets, nothing traded`, "heap and buffers", open),
        row(resting40, "heap and buffers", resting),
        row(resting40, "resident, grown by", resident),
        row("clobsim serve", "resident, all of it", few),
        row(`clobsim serve --markets ${MARKETS}`, "resident, all of it", many),
      ],
      notes: ["Each figure from a new process. A generated world has traded before it opens."],
    };
  },
};

async function perRound<Figures>(rounds: number, measure: () => Promise<Figures>): Promise<Figures[]> {
  const all: Figures[] = [];
  for (let round = 0; round < rounds; round++) all.push(await measure());
  return all;
}

async function marketsAlone(): Promise<number[]> {
  const choice: MarketMemoryChoice = { markets: MARKETS, live: LIVE };
  const part = new Apart("marketMemory", choice);
  try {
    return await part.ask();
  } finally {
    await part.stop();
  }
}

/** Resident memory of the program once it answers, in MiB. */
async function residentServer(...flags: readonly string[]): Promise<number> {
  const server = await serveClobsim(...flags);
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(server.pid)]);
    return Number(stdout) / 1024;
  } finally {
    await server.stop();
  }
}

function figure(count: number): string {
  return count.toLocaleString("en-US");
}
