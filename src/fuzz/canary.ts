import type { Command } from "../core/commands.ts";
import type { Decision } from "../core/refusals.ts";
import { Exchange } from "../engine/exchange.ts";
import { History } from "./history.ts";

/** Histories that are tried before the fuzzer is held to be blind. */
const TRIES = 64;
const COMMANDS = 100;

/** An exchange with a defect: what a FAK order leaves unfilled rests. */
class DefectiveExchange extends Exchange {
  override submit(command: Command): Decision {
    return super.submit(
      command.kind === "placeOrder" && command.orderType === "FAK"
        ? { ...command, orderType: "GTC" }
        : command,
    );
  }
}

/** Whether a defect that is planted for it is found; every campaign begins with that. */
export async function findsCanary(): Promise<boolean> {
  for (let seed = 0; seed < TRIES; seed += 1) {
    const history = await History.open(
      seed,
      (config, start, journal) => new DefectiveExchange(config, start, journal),
    );
    if ((await history.run(COMMANDS)) !== null) return true;
  }
  return false;
}
