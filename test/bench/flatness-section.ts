import { clobsimBook } from "./clobsim-book.ts";
import { replaySubject } from "./replay-subject.ts";
import { alternate, median } from "./rounds.ts";
import type { Section } from "./section.ts";
import { steadyFlow } from "./steady-flow.ts";

const LIVE = [1000, 10_000, 100_000, 1_000_000] as const;
const OPERATIONS = 500_000;

/** What an operation costs as more orders rest in the book, the mix of operations being the same. */
export const flatnessSection: Section = {
  name: "flatness",
  about: "the cost of an operation as more orders rest",
  measure(rounds) {
    const flows = LIVE.map((live) => steadyFlow({ live, operations: OPERATIONS }));
    const subjects = flows.map((flow) => replaySubject(clobsimBook, flow));
    const samples = alternate(subjects, { rounds, warmUps: 2, sampleMs: 0 });
    const costs = flows.map(({ tape, opening }, index) =>
      (samples[index] as number[]).map((milliseconds) => (milliseconds * 1e6) / (tape.length - opening)),
    );
    const baseline = median(costs[0] ?? []);
    return {
      unit: "ns/operation",
      baseline: `${LIVE[0].toLocaleString("en-US")} live orders`,
      rounds,
      measurements: costs.map((cost, index) => ({
        workload: `${(LIVE[index] as number).toLocaleString("en-US")} live orders`,
        subject: clobsimBook.name,
        median: median(cost),
        lowest: Math.min(...cost),
        highest: Math.max(...cost),
        ratio: median(cost) / baseline,
      })),
      notes: [
        "The same orders, fills and levels swept in every row; only cancellations pick among more resting orders.",
        "They pick at random, so once the orders outgrow the processor's caches a rise is the memory's, not the book's.",
      ],
    };
  },
};
