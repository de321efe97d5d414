import { Apart } from "../apart.ts";
import { measurementOf } from "../measurement.ts";
import { median } from "../rounds.ts";
import type { Section } from "../section.ts";
import { takeTurns } from "../turns.ts";
import type { SteadyFloorChoice } from "./steady-floor.ts";

const COMMANDS = 50_000;
const WARM_UPS = 3;
/** Orders resting in each of several markets. */
const SPREAD = 40;

type Load = Pick<SteadyFloorChoice, "markets" | "live">;

const LOADS: readonly [Load, ...Load[]] = [
  { markets: 1, live: 1000 },
  { markets: 1, live: 10_000 },
  { markets: 1, live: 100_000 },
  { markets: 1, live: 1_000_000 },
  { markets: 1, live: SPREAD },
  { markets: 100, live: SPREAD },
  { markets: 5000, live: SPREAD },
];

/** What a command costs the whole exchange as more orders rest and more markets are open. */
export const submitFlatnessSection: Section = {
  name: "submit-flatness",
  about: "the cost of a command as more orders rest and more markets are open",
  async measure(rounds) {
    const batches = WARM_UPS + rounds;
    const floors = LOADS.map((load) => new Apart("steadyFloor", { ...load, commands: COMMANDS, batches }));
    try {
      const batchesOf = floors.map((floor) => async () => (await floor.ask())[0] as number);
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
      await Promise.all(floors.map((floor) => floor.stop()));
    }
  },
};

const isSpread = ({ live }: Load): boolean => live === SPREAD;

const wordsFor = ({ markets, live }: Load): string =>
  markets === 1
    ? `1 market, ${figure(live)} live orders`
    : `${figure(markets)} markets, ${figure(live)} live orders each`;

const figure = (count: number): string => count.toLocaleString("en-US");
