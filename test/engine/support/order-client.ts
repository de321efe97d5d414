import type { Credentials, PlacedOrder } from "../../server/replies.ts";
import { hmac } from "../../server/trader.ts";
import { signPersonal, wallet } from "../../server/wallet.ts";

/** An order with what the responses said of it. */
interface KnownOrder {
  readonly id: string;
  isCanceled: boolean;
}

const JSON_BODY = { "content-type": "application/json" };

/** A wallet that places and cancels orders of different sizes, each request right after the response to the last. */
export class OrderClient {
  readonly #tokenId: string;
  readonly #address: string;
  readonly #credentials: Credentials;
  readonly orders: KnownOrder[] = [];
  /** Orders whose cancel was sent, with or without a response. */
  readonly #cancelSent = new Set<KnownOrder>();
  #sizes = 0;

  private constructor(tokenId: string, address: string, credentials: Credentials) {
    this.#tokenId = tokenId;
    this.#address = address;
    this.#credentials = credentials;
  }

  static async derived(url: string, number: number, tokenId: string): Promise<OrderClient> {
    const account = wallet(number);
    const body = JSON.stringify({ address: account.address, signature: await signPersonal(account) });
    const request = { method: "POST", headers: JSON_BODY, body };
    const reply = await fetch(`${url}/clob/auth/derive-api-key`, request);
    return new OrderClient(tokenId, account.address, (await reply.json()) as Credentials);
  }

  /** Sends requests until the server is gone, or until `answered`, called after each response, returns false. */
  async work(url: string, answered: () => boolean): Promise<void> {
    for (;;) {
      try {
        if (this.#sizes % 3 === 2) await this.#cancel(url);
        await this.#place(url);
      } catch (error) {
        // `fetch` throws this if the server is gone or the response is cut.
        if (error instanceof TypeError) return;
        throw error;
      }
      if (!answered()) return;
    }
  }

  /** Whether a status is possible for an order after the responses of this client. */
  mayBe(order: KnownOrder, status: string): boolean {
    if (order.isCanceled) return status === "CANCELED";
    return status === "LIVE" || (status === "CANCELED" && this.#cancelSent.has(order));
  }

  async #place(url: string): Promise<void> {
    this.#sizes += 1;
    const order = { tokenId: this.#tokenId, side: "BUY", price: 0.01, size: (500 + this.#sizes) / 100 };
    const { id } = await this.#send<PlacedOrder>(url, "POST", order);
    this.orders.push({ id, isCanceled: false });
  }

  async #cancel(url: string): Promise<void> {
    const order = this.orders.findLast((each) => !this.#cancelSent.has(each));
    if (order === undefined) return;
    this.#cancelSent.add(order);
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
