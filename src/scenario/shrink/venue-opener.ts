import { FILE_LIMITS, readText } from "../../regular-file.ts";
import type { World } from "../../simulation/world.ts";
import { readWorld } from "../../simulation/world-file.ts";
import type { Scenario } from "../language/scenario.ts";
import { LocalVenue } from "../venue/local-venue.ts";
import type { StartServer } from "../venue/open-http.ts";
import type { Venue } from "../venue/venue.ts";
import { Wallets } from "../venue/wallets.ts";

/** Opens exchanges for the scenarios of one file: in this process, or over HTTP where there is what starts a server. */
export function venueOpener(startServer: StartServer | null): (scenario: Scenario) => Promise<Venue> {
  const wallets = new Wallets();
  const worlds = new Map<string, Promise<World>>();
  const worldOf = async ({ world: path, seed }: Scenario): Promise<World | null> => {
    if (path === null) return null;
    const world = worlds.get(path) ?? readWorldFile(path);
    worlds.set(path, world);
    return { ...(await world), seed };
  };
  return async (scenario) => {
    const world = await worldOf(scenario);
    if (startServer === null) return new LocalVenue(scenario, world, wallets);
    const { openHttp } = await import("../venue/open-http.ts");
    return openHttp(scenario, world, wallets, startServer);
  };
}

async function readWorldFile(path: string): Promise<World> {
  return readWorld(readText(path, FILE_LIMITS.world));
}
