import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadScenario, readScenario } from "../../src/scenario/language/read-scenario.ts";
import type { Scenario } from "../../src/scenario/language/steps.ts";
import { runScenario } from "../../src/scenario/run/run-scenario.ts";
import { LocalVenue } from "../../src/scenario/venue/local-venue.ts";
import { Wallets } from "../../src/scenario/venue/venue.ts";
import { CLOBSIM, inCheckout, millisecondsToEnd } from "./programs.ts";
import { alone, elapsed, lineOf, measured, type Section } from "./rounds.ts";
import { whole } from "./table.ts";

/** Text of a typical scenario: two accounts, two orders and expectations. */
export const smallScenario = (
  number: number,
): string => `scenario: partial fill ${number} leaves the remainder live
accounts:
  alice: { USDC: 1000 }
  bob:   { YES: 500 }
steps:
  - alice: BUY 100 YES @ 0.55 as bid
  - bob: SELL 40 YES @ 0.50
    fills: [SELL 40 YES @ 0.55 from alice]
    status: MATCHED 40/40
  - expect:
      book:     { YES: { bids: [0.55 x 60], asks: [] } }
      orders:   { bid: LIVE 40/100 }
      trades:   [bob SELL 40 YES @ 0.55 from alice]
      balances: { alice: { USDC: 978, YES: 40 }, bob: { USDC: 22, YES: 460 } }
`;

/** Runs a scenario in this process. Returns its venue. @throws Error if it is invalid or fails */
async function runOnce(scenario: Scenario | null, wallets = new Wallets()): Promise<LocalVenue> {
  if (scenario === null) throw new Error("the scenario of the benchmark is invalid");
  const venue = new LocalVenue(scenario, null, wallets);
  const { result } = await runScenario(scenario, { open: () => venue });
  if (result.failure !== null) throw new Error(result.failure.message);
  return venue;
}

/** Number of orders of a long flow, in addition to funding and cancels. */
export const FLOW_ORDERS = 1_000_000;

/** Writes a generated flow to a file. Returns it, and a function that replays it and returns the number of trades. */
export async function longFlow(folder: string) {
  const flow = join(folder, "flow.csv");
  await millisecondsToEnd([CLOBSIM, "flow", "--orders", String(FLOW_ORDERS), "--out", flow]);
  const file = join(folder, "replay.yaml");
  writeFileSync(file, "scenario: a long flow\nsteps:\n  - replay: flow.csv\n");
  const { scenario } = loadScenario(file);
  return { flow, replay: async () => (await runOnce(scenario)).state.trades.size };
}

const PROCESS = "to the end of the process";

/** Duration of one scenario, of the whole suite with its start, and of a long order flow. */
export const scenarioSection: Section = {
  name: "scenario",
  about: "scenarios in this process, and as the program runs them",
  unit: "ms, or orders a second",
  baseline: "node -e 0",
  fewest: 5,
  async measure(rounds, programs) {
    const folder = programs.folder();
    const wallets = new Wallets();
    const small = async (times: number): Promise<number> => {
      const run = async (): Promise<void> => {
        for (let count = 0; count < times; count += 1)
          await runOnce(readScenario(join(folder, "small.yaml"), smallScenario(1)).scenario, wallets);
      };
      return (await elapsed(run)) / times;
    };
    await small(2_000);
    const one = join(folder, "one.yaml");
    writeFileSync(one, "scenario: nothing happens\nsteps:\n  - advance: 1s\n");
    const suite = inCheckout("scenarios");
    const program = (subject: string, ...args: readonly string[]) =>
      lineOf(PROCESS, subject, () => millisecondsToEnd(args));
    const programLines = [
      program("node -e 0", "-e", "0"),
      program("clobsim run, one scenario", CLOBSIM, "run", one),
      program("clobsim run scenarios --via process", CLOBSIM, "run", suite, "--via", "process"),
      program("clobsim run scenarios, some over HTTP", CLOBSIM, "run", suite),
    ];
    const { replay } = await longFlow(folder);
    const replayed = lineOf(
      `replay of ${whole(FLOW_ORDERS)} orders, a second`,
      "clobsim",
      async () => (FLOW_ORDERS * 1000) / (await elapsed(replay)),
    );
    const inProcess = lineOf("one small scenario, after start", "clobsim", () => small(500));
    return {
      measurements: [
        ...(await measured([inProcess], { rounds, warmUps: 0 }, alone)),
        ...(await measured(programLines, { rounds, warmUps: 1 })),
        ...(await measured([replayed], { rounds, warmUps: 0 }, alone)),
      ],
      notes: [
        "A small scenario: read from its text, opened, its steps taken, every invariant judged after each, its end compared.",
        "The replay reads CSV, sends each order through ledger and book, judges each fill, and every invariant now and then and at the end.",
      ],
    };
  },
};

const COMMANDS = 300;
/** Number of seeds per round, by kind of run. */
const SEEDS = { process: 10_000, http: 60 };
const MS_PER_MINUTE = 60_000;

/** Seeds per minute of a campaign, including its start. Each round runs other seeds, the same in every run. */
export const fuzzSection: Section = {
  name: "fuzz",
  about: `seeds of ${COMMANDS} commands a minute, on all processors`,
  unit: "seeds a minute",
  baseline: null,
  fewest: 3,
  async measure(rounds, programs) {
    const folder = programs.folder();
    const campaigns = Object.entries(SEEDS).map(([via, count]) => {
      let first = 0;
      const sample = async (): Promise<number> => {
        const seeds = `${first}..${first + count}`;
        first += count;
        const flags = ["--seeds", seeds, "--commands", String(COMMANDS), "--via", via, "--out", folder];
        return (count * MS_PER_MINUTE) / (await millisecondsToEnd([CLOBSIM, "fuzz", ...flags]));
      };
      return lineOf(`clobsim fuzz --via ${via}`, "clobsim", sample);
    });
    return {
      measurements: await measured(campaigns, { rounds, warmUps: 0 }, alone),
      notes: [
        "In this process: a reference exchange answers each command too, and what the command can have broken is judged.",
        "Over HTTP: several clients, and the proof that what they saw is one history.",
      ],
    };
  },
};
