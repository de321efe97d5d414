import assert from "node:assert";
import { setTimeout as delay } from "node:timers/promises";
import { Apart } from "../apart.ts";
import { bombard, bytesOf, crossingOrders } from "../http/client.ts";
import { buildProgram, type Served, serveClobsim } from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import { measurementOf, type Section } from "../section.ts";

const CONNECTIONS = 32;
const SAMPLE_MS = 2_000;
const SETTLING_MS = 500;

/** What a reader of the live feed costs those that trade. */
export const streamSection: Section = {
  name: "stream",
  about: "placing signed orders while one reader follows GET /sim/stream",
  async measure(rounds) {
    await buildProgram();
    const [alone, followed] = [
      await serveClobsim("--log-level", "silent"),
      await serveClobsim("--log-level", "silent"),
    ];
    const reader = new Apart("streamReader", { port: followed.port });
    try {
      await reader.ask();
      const subjects = await Promise.all([alone, followed].map(trading));
      const samples = await takeTurns(subjects, { rounds, warmUps: 1 });
      await delay(SETTLING_MS);
      const [openings, latest, length = 0] = await reader.ask();
      const { sequence } = (await (await fetch(`http://127.0.0.1:${followed.port}/sim`)).json()) as {
        readonly sequence: number;
      };
      assert.deepEqual([openings, latest], [1, sequence], "the reader has fallen behind");
      const baseline = median(samples[0] ?? []);
      return {
        unit: "thousand orders/s",
        baseline: "nobody reads, in the same run",
        rounds,
        measurements: ["nobody reads", "one reader"].map((subject, index) =>
          measurementOf("POST /clob/order, signed", subject, samples[index] ?? [], baseline),
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

/** Thousand orders a second. */
async function trading({ port }: Served): Promise<() => Promise<number>> {
  const { buy, sell } = await crossingOrders(port);
  const requests = [buy, sell].map((each) => bytesOf(each, port));
  return async () => {
    const load = { port, requests, connections: CONNECTIONS, durationMs: SAMPLE_MS };
    const { requestsPerSecond } = await bombard(load);
    return requestsPerSecond / 1_000;
  };
}
