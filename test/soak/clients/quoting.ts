import type { ExchangeClient } from "../../../src/client/client.ts";
import type { Market } from "../../../src/client/messages.ts";
import { type Client, cancel, pick, place, type Surroundings } from "./trader.ts";

/** Orders that a quoting client keeps open; above it, the oldest is canceled. */
const OPEN_ORDERS = 8;
/** The fair price moves a cent every so many steps, up and down between 20 and 80. */
const STEPS_A_CENT = 6;

/** Quotes both outcomes of one market round a price that moves. */
export class QuotingClient implements Client {
  readonly #at: Surroundings;
  readonly #market: Market;
  /** Oldest first. */
  #open: string[] = [];
  #steps: number;

  constructor(surroundings: Surroundings) {
    this.#at = surroundings;
    this.#market = pick(surroundings.random, surroundings.markets);
    this.#steps = surroundings.random(120 * STEPS_A_CENT);
  }

  begin(): void {
    this.#open = [];
  }

  async step(exchange: ExchangeClient): Promise<void> {
    this.#steps += 1;
    const { random, record } = this.#at;
    const chance = random(200);
    if (chance === 0) await exchange.place({ ...this.#order(), price: 0.555 });
    else if (chance < 3) {
      this.#open = [];
      await cancel(exchange, record, "all");
    } else if (chance < 8) await exchange.openOrders({ market: this.#market.id });
    else if (this.#open.length > OPEN_ORDERS) await cancel(exchange, record, this.#open.shift() as string);
    else {
      const placed = await place(exchange, record, this.#order());
      if (placed.ok && placed.value.status === "LIVE") this.#open.push(placed.value.id);
    }
  }

  #order() {
    const { random, serverTime } = this.#at;
    const { outcome, tokenId } = pick(random, this.#market.tokens);
    const side = random(2) === 0 ? ("BUY" as const) : ("SELL" as const);
    const fair = outcome === "YES" ? this.#fairCents() : 100 - this.#fairCents();
    const distance = 1 + random(5);
    const price = (side === "BUY" ? fair - distance : fair + distance) / 100;
    const order = { tokenId, side, price, size: 5 + random(46) };
    if (random(5) > 0) return { ...order, orderType: "GTC" as const };
    const expiration = Math.floor(serverTime()) + 20 + random(60);
    return { ...order, orderType: "GTD" as const, expiration };
  }

  /** Up and down between 20 and 80. */
  #fairCents(): number {
    const phase = Math.floor(this.#steps / STEPS_A_CENT) % 120;
    return 20 + (phase < 60 ? phase : 120 - phase);
  }
}
