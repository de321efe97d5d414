import { clobsimBook } from "./clobsim-book.ts";
import { measurementOf } from "./measurement.ts";
import { replaySubject } from "./replay-subject.ts";
import { alternate, median } from "./rounds.ts";
import type { Section } from "./section.ts";
import { steadyFlow } from "./steady-flow.ts";

const FEWEST = 1000;
const LIVE = [FEWEST, 10_000, 100_000, 1_000_000] as const;
const OPERATIONS = 500_000;

/** What an operation costs as more orders rest in the book, the mix of operations being the same. */
export const flatnessSection: Section = {
  name: "flatness",
  about: "the cost of an operation as more orders rest",
  measure(rounds) {
    const loads = lineUp();
    const subjects = loads.map(({ flow }) => replaySubject(clobsimBook, flow));
    const samples = alternate(subjects, { rounds, warmUps: 2, sampleMs: 0 });
    const costs = loads.map(({ flow: { tape, opening } }, index) =>
      (samples[index] as number[]).map((milliseconds) => (milliseconds * 1e6) / (tape.length - opening)),
    );
    const baseline = median(costs[0] ?? []);
    return {
      unit: "ns/operation",
      baseline: `${figure(FEWEST)} live orders`,
      rounds,
      measurements: loads.map(({ workload }, index) =>
        measurementOf(workload, clobsimBook.name, costs[index] ?? [], baseline),
      ),
      notes: [
        "The same kinds of orders, fills and levels swept in every row. Canceling among 1,000 of the orders shows the book's own cost;",
        "canceling among all of them adds what the machine takes to reach orders that are in no cache.",
      ],
    };
  },
};

function lineUp() {
  const among = (live: number, canceledAmong: number, words: string) => ({
    workload: `${figure(live)} live orders${words}`,
    flow: steadyFlow({ live, operations: OPERATIONS, canceledAmong }),
  });
  const more = LIVE.filter((live) => live > FEWEST);
  return [
    among(FEWEST, FEWEST, ""),
    ...more.map((live) => among(live, FEWEST, `, canceled among ${figure(FEWEST)}`)),
    ...more.map((live) => among(live, live, ", canceled among all")),
  ];
}

function figure(count: number): string {
  return count.toLocaleString("en-US");
}
