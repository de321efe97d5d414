import type { Part } from "../apart.ts";
import { garbageCollector } from "../rounds.ts";
import { steadyFlow } from "../steady-flow.ts";
import { demand, openFloor } from "../submit/floor.ts";
import { FlowCommands } from "../submit/flow-commands.ts";

export interface MarketMemoryChoice {
  readonly markets: number;
  /** Orders that come to rest in each. */
  readonly live: number;
}

/** MiB that markets take: heap and buffers when they are open, heap and buffers when orders rest, resident memory then. */
export const marketMemory: Part<MarketMemoryChoice> = ({ markets, live }) => {
  const collectGarbage = garbageCollector();
  const used = (): { readonly held: number; readonly resident: number } => {
    collectGarbage();
    const { heapUsed, external, rss } = process.memoryUsage();
    return { held: heapUsed + external, resident: rss };
  };
  const flow = steadyFlow({ live, operations: 0 });
  openFloor({ markets: 1, levels: flow.levels, feeRateBps: 0 });
  return () => {
    const before = used();
    const exchange = openFloor({ markets, levels: flow.levels, feeRateBps: 0 });
    const open = used();
    for (const command of new FlowCommands(flow, exchange.state).opening()) demand(exchange, command);
    const resting = used();
    const mebibytes = (from: number, to: number): number => (to - from) / 2 ** 20;
    if (exchange.state.orders.size !== markets * live) throw new Error("an order of the opening is missing");
    return [
      mebibytes(before.held, open.held),
      mebibytes(before.held, resting.held),
      mebibytes(before.resident, resting.resident),
    ];
  };
};
