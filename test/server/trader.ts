import { createHmac } from "node:crypto";
import { expect } from "vitest";
import type { Api, Headers, Method, Reply, Request } from "../support/http.ts";
import type { CancelResult, Credentials, PlacedOrder, Refusal } from "./replies.ts";
import { signPersonal, wallet } from "./wallet.ts";

/** What a request is signed over, where it differs from what is sent. */
export interface Signed {
  readonly timestamp?: string;
  readonly method?: string;
  /** Relative to /clob. */
  readonly path?: string;
  readonly body?: string;
}

/** An order as a client writes it; what is left out is the default of `Trader.place`. */
export interface OrderFields {
  readonly tokenId?: unknown;
  readonly side?: unknown;
  readonly price?: unknown;
  readonly size?: unknown;
  readonly orderType?: unknown;
  readonly expiration?: unknown;
}

/** The value of poly_signature: hex HMAC-SHA256, under the text of the secret, of timestamp + METHOD + path + body. */
export const hmac = (secret: string, message: string | Buffer): string =>
  createHmac("sha256", secret).update(message).digest("hex");

/** A client with credentials, who signs what it sends. */
export class Trader {
  readonly api: Api;
  readonly address: string;
  readonly credentials: Credentials;

  constructor(api: Api, address: string, credentials: Credentials) {
    this.api = api;
    this.address = address;
    this.credentials = credentials;
  }

  /** The five headers for a request, signed over what is sent unless told otherwise. */
  headers(method: string, target: string, body: string | Buffer = "", signed: Signed = {}): Headers {
    const [route = ""] = target.split("?");
    const timestamp = signed.timestamp ?? String(this.api.now);
    const path = signed.path ?? route.slice("/clob".length);
    const text = Buffer.concat([
      Buffer.from(timestamp + (signed.method ?? method) + path),
      Buffer.from(signed.body ?? body),
    ]);
    return {
      poly_address: this.address,
      poly_api_key: this.credentials.apiKey,
      poly_passphrase: this.credentials.passphrase,
      poly_timestamp: timestamp,
      poly_signature: hmac(this.credentials.secret, text),
    };
  }

  /** A signed request; headers given here are sent instead of, or beside, the five. */
  signed(method: Method, path: string, body?: string | object, headers: Headers = {}): Request {
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const all = { ...this.headers(method, path, text), ...headers };
    return { method, path, headers: all, ...(text !== undefined && { body: text }) };
  }

  /** The body of a signed request that succeeds. */
  async ask<Body>(method: Method, path: string, body?: string | object): Promise<Body> {
    const reply = await this.api.send<Body>(this.signed(method, path, body));
    expect(reply.status, `${method} ${path} ${reply.text}`).toBe(200);
    return reply.body;
  }

  /** Places an order that is accepted. */
  place(fields: OrderFields): Promise<PlacedOrder> {
    return this.ask("POST", "/clob/order", fields);
  }

  /** Cancels an order of its own. */
  cancel(orderId: string): Promise<CancelResult> {
    return this.ask("DELETE", "/clob/order", { orderId });
  }

  /** Sends an order that is refused and leaves no trace. */
  refused(body: string | object, status: number, code: string): Promise<Reply<Refusal>> {
    return this.api.refused(this.signed("POST", "/clob/order", body), status, code);
  }
}

/** A trader with credentials of its own, funded by the faucet; its wallet is that of the `number`-th key. */
export async function deriveTrader(api: Api, number: number): Promise<Trader> {
  const account = wallet(number);
  const signature = await signPersonal(account);
  const credentials = await api.post<Credentials>("/clob/auth/derive-api-key", {
    address: account.address,
    signature,
  });
  return new Trader(api, account.address, credentials);
}
