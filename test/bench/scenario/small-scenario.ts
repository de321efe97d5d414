import { join } from "node:path";
import { readScenario } from "../../../src/scenario/language/read-scenario.ts";
import { runScenario } from "../../../src/scenario/run/run-scenario.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { Wallets } from "../../../src/scenario/venue/wallets.ts";

const TEXT = `scenario: a partial fill leaves the remainder live
accounts:
  alice: { USDC: 1000 }
  bob:   { YES: 500 }
steps:
  - alice: BUY 100 YES @ 0.55 as bid
  - bob: SELL 40 YES @ 0.50
    fills: [SELL 40 YES @ 0.55 from alice]
    status: MATCHED 40/40
  - expect:
      book:     { YES: { bids: [0.55 x 60], asks: [] } }
      orders:   { bid: LIVE 40/100 }
      trades:   [bob SELL 40 YES @ 0.55 from alice]
      balances: { alice: { USDC: 978, YES: 40 }, bob: { USDC: 22, YES: 460 } }
`;

/** Milliseconds that one small scenario takes, from its text to its result, as the mean of so many. */
export function smallScenario(folder: string): (times: number) => Promise<number> {
  const wallets = new Wallets();
  const file = join(folder, "small.yaml");
  return async (times) => {
    const start = performance.now();
    for (let run = 0; run < times; run += 1) {
      const { scenario } = readScenario(file, TEXT);
      if (scenario === null) throw new Error("the scenario of the benchmark is wrong");
      const open = (): LocalVenue => new LocalVenue(scenario, null, wallets);
      const { result } = await runScenario(scenario, { way: "process", open });
      if (result.failure !== null) throw new Error(result.failure.message);
    }
    return (performance.now() - start) / times;
  };
}
