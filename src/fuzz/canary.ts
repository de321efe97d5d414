import type { Command } from "../core/commands.ts";
import type { Decision } from "../core/refusals.ts";
import { Exchange } from "../engine/exchange.ts";
import { History } from "./history.ts";

/** Seeds to run before the fuzzer counts as defective. */
const SEEDS = 64;
const COMMANDS = 100;

/** An exchange with a defect: the unfilled rest of a FAK order stays in the book. */
class DefectiveExchange extends Exchange {
  override submit(command: Command): Decision {
    return super.submit(
      command.kind === "placeOrder" && command.orderType === "FAK"
        ? { ...command, orderType: "GTC" }
        : command,
    );
  }
}

/** Whether the fuzzer finds a planted defect. Every campaign checks this first. */
export async function findsCanary(): Promise<boolean> {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const history = await History.open(
      seed,
      (config, start, journal) => new DefectiveExchange(config, start, journal),
    );
    if ((await history.run(COMMANDS)) !== null) return true;
  }
  return false;
}
