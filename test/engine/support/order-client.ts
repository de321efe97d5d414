import { ExchangeClient } from "../../../src/client/client.ts";
import type { SigningCredentials } from "../../../src/client/connection.ts";
import { ExchangeFailure, orThrow } from "../../../src/client/result.ts";
import { wallet } from "../../server/wallet.ts";

/** An order with what the responses said of it. */
interface KnownOrder {
  readonly id: string;
  isCanceled: boolean;
}

/** A wallet that places and cancels orders of different sizes, each request right after the response to the last. */
export class OrderClient {
  readonly orders: KnownOrder[] = [];
  readonly #tokenId: string;
  readonly #credentials: SigningCredentials;
  /** Orders whose cancel was sent, with or without a response. */
  readonly #cancelSent = new Set<KnownOrder>();
  #sizes = 0;

  private constructor(tokenId: string, credentials: SigningCredentials) {
    this.#tokenId = tokenId;
    this.#credentials = credentials;
  }

  static async derived(url: string, number: number, tokenId: string): Promise<OrderClient> {
    const client = new ExchangeClient(url, { account: wallet(number) });
    const credentials = orThrow(await client.derive());
    client.close();
    return new OrderClient(tokenId, credentials);
  }

  /** Sends requests until the server is gone, or until `answered`, called after each order, returns false. */
  async work(url: string, answered: () => boolean): Promise<void> {
    const client = new ExchangeClient(url, { credentials: this.#credentials });
    try {
      do {
        if (this.#sizes % 3 === 2) await this.#cancel(client);
        await this.#place(client);
      } while (answered());
    } catch (thrown) {
      if (!(thrown instanceof ExchangeFailure) || thrown.error.code !== "CONNECTION_LOST") throw thrown;
    } finally {
      client.close();
    }
  }

  /** Whether a status is possible for an order after the responses of this client. */
  mayBe(order: KnownOrder, status: string): boolean {
    if (order.isCanceled) return status === "CANCELED";
    return status === "LIVE" || (status === "CANCELED" && this.#cancelSent.has(order));
  }

  async #place(client: ExchangeClient): Promise<void> {
    this.#sizes += 1;
    const terms = { tokenId: this.#tokenId, side: "BUY", price: 0.01 } as const;
    const { id } = orThrow(await client.place({ ...terms, size: (500 + this.#sizes) / 100 }));
    this.orders.push({ id, isCanceled: false });
  }

  async #cancel(client: ExchangeClient): Promise<void> {
    const order = this.orders.findLast((each) => !this.#cancelSent.has(each));
    if (order === undefined) return;
    this.#cancelSent.add(order);
    orThrow(await client.cancel(order.id));
    order.isCanceled = true;
  }
}
