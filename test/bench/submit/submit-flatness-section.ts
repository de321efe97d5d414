import { steadyFlow } from "../flow.ts";
import { garbageCollector, median, takeTurns } from "../rounds.ts";
import { measurementOf, type Section } from "../section.ts";
import { type ProcessTask, SeparateProcess } from "../separate-process.ts";
import { assertInvariants, FlowCommands, mustSubmit, openFundedExchange } from "./funded-exchange.ts";

/** An exchange under a steady flow. */
interface SteadyExchangeChoice {
  readonly markets: number;
  /** Orders resting in each market. */
  readonly live: number;
  /** Number of commands of a batch. */
  readonly commands: number;
  readonly batches: number;
}

/** With more live orders, checking the invariants would take longer than the measurement. */
const MAX_JUDGED = 100_000;

/** Nanoseconds per command of the next batch. The books are filled first, and each batch keeps their number of orders. */
export const steadyExchange: ProcessTask<SteadyExchangeChoice> = ({ markets, live, commands, batches }) => {
  const exchange = openFundedExchange({ markets, levels: 999, feeRateBps: 0 });
  const flow = steadyFlow({ live, operations: longestTurn((commands * batches) / markets) });
  const source = new FlowCommands(flow, exchange.state);
  for (const command of source.opening()) mustSubmit(exchange, command);
  const collectGarbage = garbageCollector();
  let left = batches;
  return () => {
    const batch = source.take(commands);
    collectGarbage();
    const start = performance.now();
    for (const command of batch) mustSubmit(exchange, command);
    const nanoseconds = ((performance.now() - start) * 1e6) / commands;
    left -= 1;
    if (left === 0 && markets * live <= MAX_JUDGED) assertInvariants(exchange.state);
    return [nanoseconds];
  };
};

/** Upper bound of the operations of one of many markets if each gets `mean` on average, at random. */
const longestTurn = (mean: number): number => Math.ceil(mean + 10 * Math.sqrt(mean) + 10);

const COMMANDS = 50_000;
const WARM_UPS = 3;
/** Numbers of markets and of resting orders in each. */
const SPREAD = 40;

type Load = Pick<SteadyExchangeChoice, "markets" | "live">;

const LOADS: readonly [Load, ...Load[]] = [
  { markets: 1, live: 1000 },
  { markets: 1, live: 10_000 },
  { markets: 1, live: 100_000 },
  { markets: 1, live: 1_000_000 },
  { markets: 1, live: SPREAD },
  { markets: 100, live: SPREAD },
  { markets: 5000, live: SPREAD },
];

/** Cost of a command with more resting orders and more markets. */
export const submitFlatnessSection: Section = {
  name: "submit-flatness",
  about: "the cost of a command as more orders rest and more markets are open",
  async measure(rounds) {
    const batches = WARM_UPS + rounds;
    const processes = LOADS.map(
      (load) => new SeparateProcess("steadyExchange", { ...load, commands: COMMANDS, batches }),
    );
    try {
      const batchesOf = processes.map((process) => async () => (await process.ask())[0] as number);
      const costs = await takeTurns(batchesOf, { rounds, warmUps: WARM_UPS });
      const smallest = (load: Load): number =>
        median(costs[LOADS.findIndex((other) => isSpread(other) === isSpread(load))] ?? []);
      return {
        unit: "ns/command",
        baseline: `${wordsFor(LOADS[0])}; for ${SPREAD} orders in each market, to one market`,
        rounds,
        measurements: LOADS.map((load, index) =>
          measurementOf(wordsFor(load), "clobsim", costs[index] ?? [], smallest(load)),
        ),
        notes: [
          "The same kinds of orders, fills and levels swept in every row; cancellations pick among all orders behind the front, commands among",
          "all markets, so that larger rows reach more memory that is in no cache. Each row has a process of its own.",
        ],
      };
    } finally {
      await Promise.all(processes.map((process) => process.stop()));
    }
  },
};

const isSpread = ({ live }: Load): boolean => live === SPREAD;

const wordsFor = ({ markets, live }: Load): string =>
  markets === 1
    ? `1 market, ${figure(live)} live orders`
    : `${figure(markets)} markets, ${figure(live)} live orders each`;

const figure = (count: number): string => count.toLocaleString("en-US");
