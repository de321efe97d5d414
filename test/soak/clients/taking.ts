import type { ExchangeClient } from "../../../src/client/client.ts";
import { type Client, cancel, pick, place, type Surroundings } from "./trader.ts";

/** Reads a book and takes from its best price, by orders of all types. */
export class TakingClient implements Client {
  readonly #at: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#at = surroundings;
  }

  begin(): void {}

  async step(exchange: ExchangeClient): Promise<void> {
    const { random, markets, record } = this.#at;
    if (random(50) === 0) return cancel(exchange, record, "all");
    const { tokenId } = pick(random, pick(random, markets).tokens);
    const book = await exchange.book(tokenId);
    const side = random(2) === 0 ? ("BUY" as const) : ("SELL" as const);
    const orderType = pick(random, ["FAK", "FAK", "FOK", "GTC"] as const);
    const size = 1 + random(20);
    if (!book.ok) return;
    const [best] = side === "BUY" ? book.value.asks : book.value.bids;
    if (best === undefined) return;
    await place(exchange, record, { tokenId, side, price: Number(best.price), size, orderType });
  }
}
