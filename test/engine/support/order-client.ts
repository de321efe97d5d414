import type { Credentials, PlacedOrder } from "../../server/replies.ts";
import { hmac } from "../../server/trader.ts";
import { signPersonal, wallet } from "../../server/wallet.ts";

/** What a client was told of an order of its own. */
interface Told {
  readonly id: string;
  isCanceled: boolean;
}

const JSON_BODY = { "content-type": "application/json" };

/** A wallet that places and cancels orders, each of another size, as fast as it is answered. */
export class OrderClient {
  readonly #tokenId: string;
  readonly #address: string;
  readonly #credentials: Credentials;
  readonly orders: Told[] = [];
  /** Those whose cancel was sent; of some no answer ever came. */
  readonly #asked = new Set<Told>();
  #sizes = 0;

  private constructor(tokenId: string, address: string, credentials: Credentials) {
    this.#tokenId = tokenId;
    this.#address = address;
    this.#credentials = credentials;
  }

  static async derived(url: string, number: number, tokenId: string): Promise<OrderClient> {
    const account = wallet(number);
    const body = JSON.stringify({ address: account.address, signature: await signPersonal(account) });
    const reply = await fetch(`${url}/clob/auth/derive-api-key`, {
      method: "POST",
      headers: JSON_BODY,
      body,
    });
    return new OrderClient(tokenId, account.address, (await reply.json()) as Credentials);
  }

  /** Goes on until nobody answers; `answered` is told of each answer, and says whether to go on. */
  async work(url: string, answered: () => boolean): Promise<void> {
    for (;;) {
      try {
        if (this.#sizes % 3 === 2) await this.#cancel(url);
        await this.#place(url);
      } catch (error) {
        // What fetch throws when nobody is there, or the answer breaks off.
        if (error instanceof TypeError) return;
        throw error;
      }
      if (!answered()) return;
    }
  }

  /** Whether an order may stand so after what this client was told of it. */
  mayBe(told: Told, status: string): boolean {
    if (told.isCanceled) return status === "CANCELED";
    return status === "LIVE" || (status === "CANCELED" && this.#asked.has(told));
  }

  async #place(url: string): Promise<void> {
    this.#sizes += 1;
    const order = { tokenId: this.#tokenId, side: "BUY", price: 0.01, size: (500 + this.#sizes) / 100 };
    const { id } = await this.#send<PlacedOrder>(url, "POST", order);
    this.orders.push({ id, isCanceled: false });
  }

  async #cancel(url: string): Promise<void> {
    const order = this.orders.findLast((told) => !this.#asked.has(told));
    if (order === undefined) return;
    this.#asked.add(order);
    await this.#send(url, "DELETE", { orderId: order.id });
    order.isCanceled = true;
  }

  async #send<Body>(url: string, method: string, body: object): Promise<Body> {
    const text = JSON.stringify(body);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = {
      ...JSON_BODY,
      poly_address: this.#address,
      poly_api_key: this.#credentials.apiKey,
      poly_passphrase: this.#credentials.passphrase,
      poly_timestamp: timestamp,
      poly_signature: hmac(this.#credentials.secret, `${timestamp}${method}/order${text}`),
    };
    const reply = await fetch(`${url}/clob/order`, { method, headers, body: text });
    const answer = await reply.text();
    if (reply.status !== 200) throw new Error(`${method} ${text}: ${reply.status} ${answer}`);
    return JSON.parse(answer) as Body;
  }
}
