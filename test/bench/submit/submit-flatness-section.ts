import { Apart } from "../apart.ts";
import { measurementOf } from "../measurement.ts";
import { median } from "../rounds.ts";
import type { Section } from "../section.ts";
import { takeTurns } from "../turns.ts";
import type { SteadyFloorChoice } from "./steady-floor.ts";

const COMMANDS = 50_000;
const WARM_UPS = 3;
const FEWEST = 1000;
/** Orders resting in each of several markets. */
const SPREAD = 40;

const LOADS: readonly Pick<SteadyFloorChoice, "markets" | "live">[] = [
  { markets: 1, live: FEWEST },
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
      const baseline = median(costs[0] ?? []);
      return {
        unit: "ns/command",
        baseline: wordsFor({ markets: 1, live: FEWEST }),
        rounds,
        measurements: costs.map((cost, index) =>
          measurementOf(wordsFor(LOADS[index] as (typeof LOADS)[number]), "clobsim", cost, baseline),
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

const wordsFor = ({ markets, live }: (typeof LOADS)[number]): string =>
  `${figure(markets)} ${markets === 1 ? "market" : "markets"}, ${figure(live)} live orders${markets === 1 ? "" : " each"}`;

const figure = (count: number): string => count.toLocaleString("en-US");
