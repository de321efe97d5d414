import type { Snapshot } from "../../../src/engine/exchange.ts";
import { contentHash } from "../../../src/engine/hashes.ts";
import { steadyFlow } from "../flow.ts";
import { garbageCollector, median } from "../rounds.ts";
import { measurementOf, type Section } from "../section.ts";
import { type ProcessTask, SeparateProcess } from "../separate-process.ts";
import { FlowCommands, mustSubmit, openFundedExchange } from "../submit/funded-exchange.ts";

interface SnapshotChoice {
  readonly live: number;
  /** Number of commands before the first snapshot and between two. */
  readonly before: number;
  readonly between: number;
  readonly snapshots: number;
}

/**
 * Milliseconds to take a snapshot, to restore one, to compute its hash, and for the commands after it compared with the
 * same number before it; then KiB per snapshot of a history.
 */
export const snapshotCosts: ProcessTask<SnapshotChoice> = ({ live, before, between, snapshots }) => {
  const exchange = openFundedExchange({ markets: 1, levels: 999, feeRateBps: 0 });
  const flow = steadyFlow({ live, operations: before + between * 10_000 });
  const source = new FlowCommands(flow, exchange.state);
  for (const command of source.opening()) mustSubmit(exchange, command);
  for (const command of source.take(before)) mustSubmit(exchange, command);
  const collectGarbage = garbageCollector();
  const timed = (work: () => void): number => {
    const start = performance.now();
    work();
    return performance.now() - start;
  };
  const go = (): number => {
    const commands = source.take(between);
    return timed(() => {
      for (const command of commands) mustSubmit(exchange, command);
    });
  };
  return () => {
    collectGarbage();
    const usual = go();
    const kept: Snapshot[] = [];
    const take = timed(() => kept.push(exchange.snapshot()));
    const after = go();
    const hash = timed(() => contentHash(exchange.state));
    const here = exchange.snapshot();
    const back = timed(() => exchange.restore(kept[0] as Snapshot));
    exchange.restore(here);
    return [take, back, usual, after, hash, memoryOf(snapshots)];
  };

  function memoryOf(count: number): number {
    const kept: Snapshot[] = [];
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    for (let snapshot = 0; snapshot < count; snapshot += 1) {
      kept.push(exchange.snapshot());
      go();
    }
    collectGarbage();
    const now = process.memoryUsage();
    return (now.heapUsed + now.external - heapUsed - external) / 1_024 / kept.length;
  }
};

const LIVE = 10_000;
const CHOICE: SnapshotChoice = { live: LIVE, before: 100_000, between: 1_000, snapshots: 50 };
const ROWS = [
  "take a snapshot",
  "go back to one",
  `${CHOICE.between} commands before a snapshot`,
  `${CHOICE.between} commands after a snapshot`,
  "hash of the state, which POST /sim/snapshots answers",
];

/** Cost of snapshots in memory. */
export const snapshotsSection: Section = {
  name: "snapshots",
  about: `snapshots in memory of an exchange with ${LIVE.toLocaleString("en-US")} live orders`,
  async measure(rounds) {
    const part = new SeparateProcess("snapshotCosts", CHOICE);
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
