import { serveWorld } from "./compose.ts";
import { DEFAULT_CONFIG } from "./config.ts";
import { money, size } from "./core/units.ts";
import type { StartServer } from "./scenario/venue/open-http.ts";

/** Starts the real server for one scenario: on a free port, its clock frozen, silent, without a faucet. */
export const startScenarioServer: StartServer = (world, { seed, clock }, opened) =>
  serveWorld(
    {
      ...DEFAULT_CONFIG,
      port: 0,
      seed,
      clock: { mode: "frozen" },
      start: clock,
      logLevel: "silent",
      faucet: { collateral: money(0), everyMarket: size(0) },
    },
    world,
    opened,
  );
