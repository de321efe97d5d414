import type { SessionLog } from "../../engine/journal.ts";
import { readWorldFile, type World } from "../../simulation/world.ts";
import type { Scenario } from "../language/scenario.ts";
import { LocalVenue } from "./local-venue.ts";
import type { openHttp, StartServer } from "./open-http.ts";
import type { Venue } from "./venue.ts";
import { VenueError } from "./views.ts";
import { Wallets } from "./wallets.ts";

/** Wraps a transport to observe requests and replies. */
export type TransportWatcher = Parameters<typeof openHttp>[4];

/** Opens exchanges for single scenarios, which share wallets and worlds. */
export class VenueOpener {
  readonly wallets = new Wallets();
  readonly #worlds = new Map<string, World>();

  /** Opens one in this process; `log` records its commands. @throws VenueError if the world cannot be read. */
  local(scenario: Scenario, log: SessionLog | null = null): LocalVenue {
    return new LocalVenue(scenario, this.#worldOf(scenario), this.wallets, log);
  }

  /** Opens one over HTTP. @throws VenueError if the world cannot be read. */
  async served(scenario: Scenario, start: StartServer, watch?: TransportWatcher): Promise<Venue> {
    // Loads client and signatures only for scenarios over HTTP.
    const { openHttp } = await import("./open-http.ts");
    return openHttp(scenario, this.#worldOf(scenario), this.wallets, start, watch);
  }

  /** Returns the world with the scenario's seed; null if it has none. */
  #worldOf({ world: path, seed }: Scenario): World | null {
    if (path === null) return null;
    try {
      const world = this.#worlds.get(path) ?? readWorldFile(path);
      this.#worlds.set(path, world);
      return { ...world, seed };
    } catch (error) {
      throw new VenueError(`world ${path}: ${(error as Error).message}`);
    }
  }
}
