import { Apart } from "../apart.ts";
import { measurementOf } from "../measurement.ts";
import { median } from "../rounds.ts";
import type { Section } from "../section.ts";
import type { SnapshotChoice } from "./snapshot-costs.ts";

const LIVE = 10_000;
const CHOICE: SnapshotChoice = { live: LIVE, before: 100_000, between: 1_000, snapshots: 50 };
const ROWS = [
  "take a snapshot",
  "go back to one",
  `${CHOICE.between} commands before a snapshot`,
  `${CHOICE.between} commands after a snapshot`,
  "hash of the state, which POST /sim/snapshots answers",
];

/** What snapshots in memory cost. */
export const snapshotsSection: Section = {
  name: "snapshots",
  about: `snapshots in memory of an exchange with ${LIVE.toLocaleString("en-US")} live orders`,
  async measure(rounds) {
    const part = new Apart("snapshotCosts", CHOICE);
    try {
      const samples: number[][] = [];
      for (let round = -1; round < rounds; round += 1) {
        const figures = await part.ask();
        if (round >= 0) samples.push(figures);
      }
      const of = (index: number): number[] => samples.map((figures) => figures[index] as number);
      return {
        unit: "ms",
        baseline: null,
        rounds,
        measurements: ROWS.map((row, index) => measurementOf(row, "clobsim", of(index), null)),
        notes: [
          `After ${CHOICE.before.toLocaleString("en-US")} commands. A snapshot shares all that does not change later; what does is copied when it is first looked at.`,
          `Each of ${CHOICE.snapshots} snapshots, ${CHOICE.between} commands apart, takes ${median(of(ROWS.length)).toFixed(0)} KiB, the commands' own orders and trades included.`,
        ],
      };
    } finally {
      await part.stop();
    }
  },
};
