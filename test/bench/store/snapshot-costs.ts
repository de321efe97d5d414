import type { Snapshot } from "../../../src/engine/exchange.ts";
import { contentHash } from "../../../src/engine/state-hash.ts";
import type { Part } from "../apart.ts";
import { garbageCollector } from "../rounds.ts";
import { steadyFlow } from "../steady-flow.ts";
import { demand, openFloor } from "../submit/floor.ts";
import { FlowCommands } from "../submit/flow-commands.ts";

export interface SnapshotChoice {
  readonly live: number;
  /** Commands that were done before the first snapshot, and between any two. */
  readonly before: number;
  readonly between: number;
  readonly snapshots: number;
}

/**
 * Milliseconds to take a snapshot, to go back to one, to work out its hash, and the commands after it beside the same
 * number before it; then KiB that each of many snapshots of one history takes.
 */
export const snapshotCosts: Part<SnapshotChoice> = ({ live, before, between, snapshots }) => {
  const exchange = openFloor({ markets: 1, levels: 999, feeRateBps: 0 });
  const flow = steadyFlow({ live, operations: before + between * 10_000 });
  const source = new FlowCommands(flow, exchange.state);
  for (const command of source.opening()) demand(exchange, command);
  for (const command of source.take(before)) demand(exchange, command);
  const collectGarbage = garbageCollector();
  const timed = (work: () => void): number => {
    const start = performance.now();
    work();
    return performance.now() - start;
  };
  const go = (): number => {
    const commands = source.take(between);
    return timed(() => {
      for (const command of commands) demand(exchange, command);
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
