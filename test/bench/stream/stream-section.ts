import assert from "node:assert";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { bombard, bytesOf, crossingOrders } from "../http/client.ts";
import { buildProgram, type Served, serveClobsim } from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import { measurementOf, type Section } from "../section.ts";
import { SeparateProcess } from "../separate-process.ts";

const CONNECTIONS = 32;
const SAMPLE_MS = 2_000;
const SETTLING_MS = 500;

/** Cost of a reader of the live feed for trading clients. */
export const streamSection: Section = {
  name: "stream",
  about: "placing signed orders while one reader follows GET /sim/stream",
  async measure(rounds) {
    await buildProgram();
    const [alone, followed] = [
      await serveClobsim("--log-level", "silent"),
      await serveClobsim("--log-level", "silent"),
    ];
    const reader = new SeparateProcess("streamReader", { port: followed.port });
    try {
      await reader.ask();
      const costs: number[][] = [[], []];
      const subjects = await Promise.all(
        [alone, followed].map((served, index) => trading(served, costs[index] as number[])),
      );
      const samples = await takeTurns(subjects, { rounds, warmUps: 1 });
      await delay(SETTLING_MS);
      const [openings, latest, length = 0] = await reader.ask();
      const { sequence } = (await (await fetch(`http://127.0.0.1:${followed.port}/sim`)).json()) as {
        readonly sequence: number;
      };
      assert.deepEqual([openings, latest], [1, sequence], "the reader has fallen behind");
      const workloads = {
        "thousand orders a second": samples,
        "processor time of the server, μs an order": costs,
      };
      return {
        unit: "as each row says",
        baseline: "nobody reads, in the same run",
        rounds,
        measurements: Object.entries(workloads).flatMap(([workload, figures]) =>
          ["nobody reads", "one reader"].map((subject, index) =>
            measurementOf(workload, subject, figures[index] ?? [], median(figures[0] ?? [])),
          ),
        ),
        notes: [
          `${CONNECTIONS} connections, each with one order under way; the reader is a process of its own, and was sent ${Math.round(length / 1_000_000)} MB without falling behind.`,
        ],
      };
    } finally {
      await Promise.all([reader.stop(), alone.stop(), followed.stop()]);
    }
  },
};

/** Returns thousand orders per second; adds to `costs` the server's CPU time per order, in microseconds. */
async function trading({ pid, port }: Served, costs: number[]): Promise<() => Promise<number>> {
  const { buy, sell } = await crossingOrders(port);
  const requests = [buy, sell].map((each) => bytesOf(each, port));
  return async () => {
    const load = { port, requests, connections: CONNECTIONS, durationMs: SAMPLE_MS };
    const before = processorMs(pid);
    const { requestsPerSecond } = await bombard(load);
    const orders = (requestsPerSecond * SAMPLE_MS) / 1_000;
    costs.push(((processorMs(pid) - before) * 1_000) / orders);
    return requestsPerSecond / 1_000;
  };
}

const TICK_MS = 10;

/** Returns the CPU time of a process in milliseconds, user and system: fields 14 and 15 of proc(5). */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
