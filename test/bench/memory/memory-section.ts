import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Apart } from "../apart.ts";
import { buildProgram } from "../checkout.ts";
import { serveClobsim } from "../http/served.ts";
import { measurementOf } from "../measurement.ts";
import type { Measurement, Section } from "../section.ts";
import type { HistoryMemoryChoice } from "./history-memory.ts";
import type { MarketMemoryChoice } from "./market-memory.ts";

const MARKETS = 5000;
const LIVE = 40;
/** Of a steady book. */
const COMMANDS = 1_000_000;
const HEAP = "heap and buffers";

/** What many markets take in memory. */
export const memorySection: Section = {
  name: "memory",
  about: `what ${figure(MARKETS)} markets take`,
  async measure() {
    await buildProgram();
    const row = (workload: string, subject: string, figure: number): Measurement =>
      measurementOf(workload, subject, [figure], null);
    const measurements: Measurement[] = [];
    for (const levels of [99, 999] as const) {
      const [open, resting] = (await marketsAlone(levels)) as [number, number];
      const markets = `${figure(MARKETS)} markets of ${levels} levels`;
      measurements.push(row(`${markets}, nothing traded`, HEAP, open));
      measurements.push(row(`${markets}, ${LIVE} orders resting in each`, HEAP, resting));
    }
    for (const flags of [[], ["--markets", String(MARKETS)]]) {
      const name = ["clobsim serve", ...flags].join(" ");
      measurements.push(row(name, "resident, all of it", await residentServer(...flags)));
    }
    const [early = 0, late = 0, trades = 0] = await historyAlone();
    return {
      unit: "MiB",
      baseline: null,
      rounds: 1,
      measurements,
      notes: [
        "Each figure from a new process; it varies by less than one per cent. A generated world has traded before it opens.",
        `A history grows by ${early.toFixed(0)} bytes a command in the first half of ${figure(COMMANDS)} commands of a steady book, by ${late.toFixed(0)} in the second: ${(late / trades).toFixed(0)} for each trade, with the orders and cancels that come with it.`,
      ],
    };
  },
};

async function historyAlone(): Promise<number[]> {
  const choice: HistoryMemoryChoice = { live: 1_000, commands: COMMANDS };
  const part = new Apart("historyMemory", choice);
  try {
    return await part.ask();
  } finally {
    await part.stop();
  }
}

async function marketsAlone(levels: number): Promise<number[]> {
  const choice: MarketMemoryChoice = { markets: MARKETS, levels, live: LIVE };
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
