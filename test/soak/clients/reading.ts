import type { ExchangeClient } from "../../../src/client/client.ts";
import { type Client, pick, type Random, type Surroundings } from "./trader.ts";

/** Reads whatever a page or a bot would show of the markets and of its own orders. */
export class ReadingClient implements Client {
  readonly #at: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#at = surroundings;
  }

  begin(): void {}

  async step(exchange: ExchangeClient): Promise<void> {
    const { random, markets } = this.#at;
    const market = pick(random, markets);
    const { tokenId } = pick(random, market.tokens);
    await pick<(random: Random) => Promise<unknown>>(random, [
      () => exchange.book(tokenId),
      () => exchange.book(tokenId),
      () => exchange.quotes(tokenId),
      () => exchange.market(market.slug),
      () => exchange.marketTrades(market.id, { limit: 50, all: true }),
      () => exchange.history(market.id, { tokenId, fidelity: 100 }),
      () => exchange.openOrders({ limit: 100 }),
      () => exchange.trades({ limit: 100 }),
      () => exchange.markets({ sort: pick(random, SORTS), limit: 20, offset: random(3) * 20 }),
      () => exchange.events({ limit: 20 }),
      () => exchange.search(pick(random, ["soak", "will", "market"])),
      () => exchange.serverTime(),
    ])(random);
  }
}

const SORTS = ["volume", "liquidity", "createdAt", "endDate"] as const;
