import type { ReplyTo } from "../../api/endpoints.ts";
import type { Transport } from "../../client/transport.ts";
import { FULL_PRICE, SHARE_UNITS } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { emptyWorld } from "../../simulation/opening.ts";
import type { World } from "../../simulation/world.ts";
import type { MarketTerms } from "../language/parts.ts";
import type { Scenario } from "../language/scenario.ts";
import { HttpVenue } from "./http-venue.ts";
import { SCENARIO_EVENT } from "./opening.ts";
import { marketRef } from "./views.ts";
import type { Wallets } from "./wallets.ts";

/** A server started for one scenario. */
export interface ScenarioServer {
  /** Its origin. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server with a world, a frozen clock and no faucet, on a free port; `opened` receives its exchange. */
export type StartServer = (
  world: World,
  scenario: Scenario,
  opened?: (exchange: Exchange) => void,
) => Promise<ScenarioServer>;

/** Opens a scenario's exchange over HTTP with the same commands, in the same order, as `LocalVenue`. */
export async function openHttp(
  scenario: Scenario,
  world: World | null,
  wallets: Wallets,
  start: StartServer,
  watch?: (transport: Transport) => Transport,
): Promise<HttpVenue> {
  const server = await start(world ?? emptyWorld(scenario.seed), scenario);
  const venue = new ServedVenue(server, scenario, wallets, watch);
  try {
    await venue.openMarkets(scenario);
    return venue;
  } catch (error) {
    await venue.dispose();
    throw error;
  }
}

/** A venue that owns its server. */
class ServedVenue extends HttpVenue {
  readonly #server: ScenarioServer;

  constructor(
    server: ScenarioServer,
    { clock }: Scenario,
    wallets: Wallets,
    watch: ((transport: Transport) => Transport) | undefined,
  ) {
    super(server.url, clock, wallets, watch);
    this.#server = server;
  }

  /** Creates the scenario's markets, or finds those of its world. */
  async openMarkets({ markets, world }: Scenario): Promise<void> {
    if (world !== null) await this.#findMarkets();
    if (markets.length === 0) return;
    const { title, slug, description, category } = SCENARIO_EVENT;
    const event = await this.ask("createEvent", { body: { title, slug, description, category, tags: [] } });
    for (const terms of markets) {
      const market = await this.ask("createMarket", { body: { eventId: event.id, ...marketBody(terms) } });
      this.map.add(marketRef(terms.name, market));
    }
  }

  override async dispose(): Promise<void> {
    await super.dispose();
    await this.#server.close();
  }

  /** Sorts by id, which is the order of creation. */
  async #findMarkets(): Promise<void> {
    const found: ReplyTo<"listMarkets">["data"][number][] = [];
    for (;;) {
      const { data, hasMore } = await this.ask("listMarkets", {
        query: { limit: 100, offset: found.length },
      });
      found.push(...data);
      if (!hasMore) break;
    }
    for (const market of found.sort((a, b) => (a.id < b.id ? -1 : 1))) {
      this.map.add(marketRef(market.slug, market));
    }
  }
}

const marketBody = ({ name, tickSize, minOrderSize, ...terms }: MarketTerms) => ({
  question: name,
  slug: name,
  description: "",
  category: SCENARIO_EVENT.category,
  tags: [],
  tickSize: tickSize / FULL_PRICE,
  minOrderSize: minOrderSize / SHARE_UNITS,
  ...terms,
});
