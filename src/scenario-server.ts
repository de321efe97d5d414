import { DEFAULT_CONFIG } from "./config.ts";
import { money, size } from "./core/units.ts";
import type { StartServer } from "./scenario/venue/http-venue.ts";

/**
 * Starts the real server for one scenario: on a free port, with a frozen clock, silent, without a faucet. Express is loaded
 * only then.
 */
export const startScenarioServer: StartServer = async (world, { seed, clock, settlement, balances }) => {
  const { serveWorld } = await import("./compose.ts");
  const { server, service } = await serveWorld(
    {
      ...DEFAULT_CONFIG,
      port: 0,
      seed,
      clock: { mode: "frozen" },
      start: clock,
      logLevel: "silent",
      settlement,
      balances,
      faucet: { collateral: money(0), everyMarket: size(0) },
    },
    world,
  );
  return { url: server.url, service, close: server.close };
};
