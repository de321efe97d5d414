import type { Part } from "../apart.ts";
import { garbageCollector } from "../rounds.ts";
import { steadyFlow } from "../steady-flow.ts";
import { assertInvariants, demand, openFloor } from "./floor.ts";
import { FlowCommands } from "./flow-commands.ts";

/** An exchange under a steady flow. */
export interface SteadyFloorChoice {
  readonly markets: number;
  /** Orders resting in each market. */
  readonly live: number;
  /** How many commands a batch has. */
  readonly commands: number;
  readonly batches: number;
}

/** Above so many live orders, judging every invariant would take longer than all that is measured. */
const MAX_JUDGED = 100_000;

/** Nanoseconds a command of the next batch takes. The books fill first, and are as full after every batch as before. */
export const steadyFloor: Part<SteadyFloorChoice> = ({ markets, live, commands, batches }) => {
  const exchange = openFloor({ markets, levels: 999, feeRateBps: 0 });
  const flow = steadyFlow({ live, operations: longestTurn((commands * batches) / markets) });
  const source = new FlowCommands(flow, exchange.state);
  for (const command of source.opening()) demand(exchange, command);
  const collectGarbage = garbageCollector();
  let left = batches;
  return () => {
    const batch = source.take(commands);
    collectGarbage();
    const start = performance.now();
    for (const command of batch) demand(exchange, command);
    const nanoseconds = ((performance.now() - start) * 1e6) / commands;
    left -= 1;
    if (left === 0 && markets * live <= MAX_JUDGED) assertInvariants(exchange.state);
    return [nanoseconds];
  };
};

/** How many operations the busiest of many markets may get when each gets `mean` on average, at random. */
const longestTurn = (mean: number): number => Math.ceil(mean + 10 * Math.sqrt(mean) + 10);
