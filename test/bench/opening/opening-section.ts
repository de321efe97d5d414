import { createServer } from "node:http";
import { TestExchanges } from "../../../src/fixtures/test-exchange.ts";
import { openExchange, startExchange } from "../../../src/index.ts";
import { median, takeTurns } from "../rounds.ts";
import type { Section } from "../section.ts";
import { measurementOf } from "../section.ts";

const FEWEST_ROUNDS = 25;
const WORLDS = ["tiny", "the default world"] as const;

/** Time to open an exchange for a test, after the first one of the process has read the world. */
export const openingSection: Section = {
  name: "opening",
  about: "an exchange for a test: opened, served, restored",
  async measure(asked) {
    const rounds = Math.max(asked, FEWEST_ROUNDS);
    const measurements = [];
    for (const world of WORLDS) {
      const options = { clock: "frozen", ...(world === "tiny" ? { world } : {}) } as const;
      const lent = await new TestExchanges(options).acquire();
      const subjects = {
        "bare node:http, listening": listening,
        startExchange: async () => (await startExchange(options)).close,
        openExchange: async () => (await openExchange(options)).close,
        "restored, with ten accounts' keys": async () => {
          lent.begin();
          return async () => {};
        },
      };
      const timed = Object.values(subjects).map((open) => async () => {
        const from = performance.now();
        const close = await open();
        const ms = performance.now() - from;
        await close();
        return ms;
      });
      const samples = await takeTurns(timed, { rounds, warmUps: 5 });
      const baseline = median(samples[0] ?? []);
      for (const [index, name] of Object.keys(subjects).entries())
        measurements.push(measurementOf(world, name, samples[index] ?? [], baseline));
    }
    const baseline = "a bare server of node:http that begins to listen";
    return {
      unit: "ms",
      baseline,
      rounds,
      measurements,
      notes: ["In one process, after the first of each."],
    };
  },
};

function listening(): Promise<() => Promise<void>> {
  const server = createServer();
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(close)));
}
