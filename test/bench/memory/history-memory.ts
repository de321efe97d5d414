import type { Part } from "../apart.ts";
import { garbageCollector } from "../rounds.ts";
import { steadyFlow } from "../steady-flow.ts";
import { demand, openFloor } from "../submit/floor.ts";
import { FlowCommands } from "../submit/flow-commands.ts";

export interface HistoryMemoryChoice {
  /** Orders that rest throughout. */
  readonly live: number;
  readonly commands: number;
}

/**
 * Bytes that each command of a steady book leaves in memory, in the first and in the second half of a history: the orders
 * and trades that are never forgotten. Then how many trades each has made.
 */
export const historyMemory: Part<HistoryMemoryChoice> = ({ live, commands }) => {
  const collectGarbage = garbageCollector();
  const used = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  return () => {
    const exchange = openFloor({ markets: 1, levels: 999, feeRateBps: 0 });
    const source = new FlowCommands(steadyFlow({ live, operations: commands }), exchange.state);
    for (const command of source.opening()) demand(exchange, command);
    const run = (count: number): void => {
      for (let left = count; left > 0; left -= STEP) {
        for (const command of source.take(Math.min(STEP, left))) demand(exchange, command);
      }
    };
    const before = used();
    run(commands / 2);
    const middle = used();
    run(commands / 2);
    const after = used();
    return [
      (middle - before) / (commands / 2),
      (after - middle) / (commands / 2),
      exchange.state.trades.size / commands,
    ];
  };
};

/** So many commands are made at a time. */
const STEP = 10_000;
