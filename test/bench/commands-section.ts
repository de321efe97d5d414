import assert from "node:assert";
import { BLOCK_INTERVAL_MS } from "../../src/core/chain/chain.ts";
import type { SettlementMode } from "../../src/core/terms.ts";
import { millis } from "../../src/core/units.ts";
import type { Exchange } from "../../src/engine/exchange.ts";
import { commonFlow } from "./flow.ts";
import { assertInvariants, openSteady, prepareFlow, submitAll, TRADERS, tallyOf } from "./funded-exchange.ts";
import { inCheckout, type ProcessTask } from "./programs.ts";
import { lineOf, measured, type Section, timed } from "./rounds.ts";
import { whole } from "./table.ts";

const OPERATIONS = 200_000;

/** The whole exchange: commands are decided and their events applied. */
export const submitSection: Section = {
  name: "submit",
  about: "commands through the whole exchange",
  unit: "thousand commands/s",
  baseline: "no fee",
  async measure(rounds) {
    const flow = commonFlow({ levels: 99, operations: OPERATIONS });
    const line = (words: string, feeRateBps: number, bothOutcomes: boolean) => {
      const sample = timed({
        prepare: () => prepareFlow(flow, { feeRateBps, bothOutcomes }),
        check({ state }) {
          assert.deepEqual(tallyOf(state, flow.levels), flow.expected, "the flow has other trades");
          assertInvariants(state);
        },
      });
      return lineOf(`99 levels, ${words}`, "clobsim", () => OPERATIONS / sample());
    };
    const lines = [
      line("no fee", 0, false),
      line("taker fee 1 %", 100, false),
      line("every second order in terms of NO", 0, true),
    ];
    return {
      measurements: await measured(lines, { rounds, warmUps: 2 }),
      notes: [
        `The first ${whole(OPERATIONS)} operations of the book's flow as commands of ${TRADERS} accounts in one complementary market.`,
        "Every run is checked: the flow's trades in order, and every invariant of the exchange.",
      ],
    };
  },
};

/** An exchange under a steady flow: its markets, the orders resting in each, and batches of commands. */
type SteadyExchangeChoice = Readonly<Record<"markets" | "live" | "commands" | "batches", number>>;

/** With more live orders, checking the invariants would take longer than the measurement. */
const MAX_JUDGED = 100_000;

/** Nanoseconds per command of the next batch. The books are filled first, and each batch keeps their number of orders. */
export const steadyExchange: ProcessTask<SteadyExchangeChoice> = ({ markets, live, commands, batches }) => {
  const { exchange, source } = openSteady({
    ...{ markets, live },
    operations: longestTurn((commands * batches) / markets),
  });
  let left = batches;
  const sample = timed({
    prepare() {
      const batch = source.take(commands);
      return () => submitAll(exchange, batch);
    },
    check({ state }) {
      left -= 1;
      if (left === 0 && markets * live <= MAX_JUDGED) assertInvariants(state);
    },
  });
  return () => [(sample() * 1e6) / commands];
};

/** Upper bound of the operations of one of many markets if each gets `mean` on average, at random. */
const longestTurn = (mean: number): number => Math.ceil(mean + 10 * Math.sqrt(mean) + 10);

const COMMANDS = 50_000;
const WARM_UPS = 3;
/** Number of orders in each of several markets. */
const SPREAD = 40;
const LOADS: readonly Pick<SteadyExchangeChoice, "markets" | "live">[] = [
  ...[1_000, 10_000, 100_000, 1_000_000].map((live) => ({ markets: 1, live })),
  ...[1, 100, 5_000].map((markets) => ({ markets, live: SPREAD })),
];

/** Cost of a command with more resting orders and more markets. */
export const submitFlatnessSection: Section = {
  name: "submit-flatness",
  about: "the cost of a command as more orders rest and more markets are open",
  unit: "ns/command",
  baseline: `1 market, 1,000 live orders; for ${SPREAD} orders in each market, to one market`,
  async measure(rounds, programs) {
    const lines = LOADS.map(({ markets, live }) => {
      const choice = { markets, live, commands: COMMANDS, batches: WARM_UPS + rounds };
      const task = programs.task("steadyExchange", choice);
      const workload =
        markets === 1
          ? `1 market, ${whole(live)} live orders`
          : `${whole(markets)} markets, ${whole(live)} live orders each`;
      return lineOf(workload, "clobsim", async () => (await task.ask())[0] as number);
    });
    const isSpread = ({ workload }: { readonly workload: string }) => workload.includes(` ${SPREAD} live`);
    return {
      measurements: await measured(lines, { rounds, warmUps: WARM_UPS }, (line, all) =>
        all.findIndex((other) => isSpread(other) === isSpread(line)),
      ),
      notes: [
        "The same kinds of orders, fills and levels swept in every row; cancellations pick among all orders behind the front, commands among",
        "all markets, so that larger rows reach more memory that is in no cache. Each row has a process of its own.",
      ],
    };
  },
};

/** `every`: commands between two blocks; no blocks if it is 0. */
const SETTLEMENTS: readonly (readonly [workload: string, SettlementMode, every: number])[] = [
  ["manual, nothing is mined", "manual", 0],
  ["instant, a block a trading order", "instant", 0],
  ["auto, a block every 100 commands", "auto", 100],
  ["auto, a block every 10,000 commands", "auto", 10_000],
];
const UNSETTLED = "without settlement";

/** Cost of settlement in addition to the rest of a command. */
export const settlementSection: Section = {
  name: "settlement",
  about: "commands through the whole exchange, their fills settled on the chain or by nobody",
  unit: "ns/command",
  baseline: UNSETTLED,
  async measure(rounds) {
    const flow = commonFlow({ levels: 99, operations: OPERATIONS });
    const unsettled: { prepareFlow: typeof prepareFlow } = await import(
      inCheckout("dist-tools/bench-unsettled.js")
    );
    const line = (workload: string, sample: () => number) =>
      lineOf(workload, "clobsim", () => (sample() * 1e6) / OPERATIONS);
    const pause = (exchange: Exchange) => exchange.advanceTo(millis(exchange.now + BLOCK_INTERVAL_MS));
    const check = ({ state }: Exchange): void => assertInvariants(state);
    const lines = [
      line(UNSETTLED, timed({ prepare: () => unsettled.prepareFlow(flow) })),
      ...SETTLEMENTS.map(([workload, settlement, every]) =>
        line(workload, timed({ prepare: () => prepareFlow(flow, { settlement, every, pause }), check })),
      ),
    ];
    return {
      measurements: await measured(lines, { rounds, warmUps: 2 }),
      notes: [
        `The first ${whole(OPERATIONS)} operations of the book's flow; four of nine commands make a trade.`,
        "Without settlement: the same sources, with what settles trades left out of the bundle.",
        "Every settled run is judged: chain balances and what is pending are the ledger.",
      ],
    };
  },
};
