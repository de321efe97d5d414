import { buildProgram, serveClobsim } from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import type { Section } from "../section.ts";
import { measurementOf } from "../section.ts";

const FEWEST_ROUNDS = 200;
const MARKETS = 5_000;
const PATHS = ["/clob/time", "/sim", "/sim/state/hash"] as const;
const CHANGE = { method: "POST", headers: { "content-type": "application/json" }, body: '{"advance":"1ms"}' };

/** Requests for the whole exchange, directly after a change. */
export const overviewSection: Section = {
  name: "overview",
  about: `the state of an exchange with ${MARKETS.toLocaleString("en-US")} markets, asked for after each command`,
  async measure(asked) {
    await buildProgram();
    const rounds = Math.max(asked, FEWEST_ROUNDS);
    const { port, stop } = await serveClobsim("--markets", String(MARKETS));
    try {
      const ask = async (path: string, request: RequestInit = {}): Promise<void> => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, request);
        if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
        await answer.arrayBuffer();
      };
      const samples = await takeTurns(
        PATHS.map((path) => async () => {
          await ask("/sim/clock", CHANGE);
          const start = performance.now();
          await ask(path);
          return performance.now() - start;
        }),
        { rounds, warmUps: 50 },
      );
      const baseline = median(samples[0] ?? []);
      return {
        unit: "ms",
        baseline: "GET /clob/time, which reads no state",
        rounds,
        measurements: PATHS.map((path, index) =>
          measurementOf("after a command", `GET ${path}`, samples[index] ?? [], baseline),
        ),
        notes: ["One client on one connection, with Node's fetch and its own time in it."],
      };
    } finally {
      await stop();
    }
  },
};
