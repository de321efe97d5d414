import { BLOCK_INTERVAL_MS } from "../../../src/core/chain/chain.ts";
import type { SettlementMode } from "../../../src/core/terms.ts";
import { millis } from "../../../src/core/units.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import type { Flow } from "../flow.ts";
import { demand, openFloor } from "../submit/floor.ts";
import { FlowCommands } from "../submit/flow-commands.ts";

/** How the fills of a run are settled. */
export interface SettledChoice {
  readonly settlement: SettlementMode;
  /** After so many commands time passes until the next block; 0: never. */
  readonly commandsABlock: number;
}

/** A flow of commands on a floor, ready to be submitted; the run answers the exchange that obeyed. */
export function prepareSettled(flow: Flow, { settlement, commandsABlock }: SettledChoice): () => Exchange {
  const exchange = openFloor({ markets: 1, levels: flow.levels, feeRateBps: 0, settlement });
  const commands = new FlowCommands(flow, exchange.state).take(flow.tape.length);
  return () => {
    let left = commandsABlock;
    for (const command of commands) {
      demand(exchange, command);
      left -= 1;
      if (left !== 0) continue;
      exchange.advanceTo(millis(exchange.now + BLOCK_INTERVAL_MS));
      left = commandsABlock;
    }
    return exchange;
  };
}
