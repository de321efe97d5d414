import { createHmac } from "node:crypto";
import type { PrivateKeyAccount } from "viem/accounts";
import { beforeAll, expect } from "vitest";
import type { ErrorCode } from "../../src/api/errors.ts";
import {
  type Api,
  type Headers,
  type Method,
  type Reply,
  type Request,
  type Route,
  requestOf,
} from "../support/http.ts";
import type { CancelResult, Credentials, PlacedOrder, Refusal } from "./replies.ts";
import { signPersonal, wallet } from "./wallet.ts";

/** Parts of the signed message that differ from the request sent. */
export interface Signed {
  readonly timestamp?: string;
  readonly method?: string;
  /** Relative to /clob. */
  readonly path?: string;
  readonly body?: string;
}

/** An order as a client sends it, valid or not. */
export type OrderFields = {
  readonly [Field in "tokenId" | "side" | "price" | "size" | "orderType" | "expiration"]?: unknown;
};

/** A client with credentials that signs its requests. */
export class Trader {
  readonly api: Api;
  readonly address: string;
  #credentials: Credentials | undefined;

  constructor(api: Api, address: string, credentials?: Credentials) {
    this.api = api;
    this.address = address;
    this.#credentials = credentials;
  }

  get credentials(): Credentials {
    if (this.#credentials === undefined) throw new Error("the credentials are not derived yet");
    return this.#credentials;
  }

  async derive(account: PrivateKeyAccount): Promise<this> {
    const body = { address: this.address, signature: await signPersonal(account) };
    this.#credentials = await this.api.post<Credentials>("/clob/auth/derive-api-key", body);
    return this;
  }

  /** The five authentication headers of a request. */
  headers(method: string, target: string, body: string | Buffer = "", signed: Signed = {}): Headers {
    const [route = ""] = target.split("?");
    const timestamp = signed.timestamp ?? String(this.api.now);
    const path = signed.path ?? route.slice("/clob".length);
    const signature = createHmac("sha256", this.credentials.secret)
      .update(timestamp + (signed.method ?? method) + path)
      .update(signed.body ?? body);
    return {
      poly_address: this.address,
      poly_api_key: this.credentials.apiKey,
      poly_passphrase: this.credentials.passphrase,
      poly_timestamp: timestamp,
      poly_signature: signature.digest("hex"),
    };
  }

  /** A signed request; `headers` replace or extend the five of authentication. */
  signed(method: Method, path: string, body?: string | object, headers: Headers = {}): Request {
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const all = { ...this.headers(method, path, text), ...headers };
    return { method, path, headers: all, ...(text !== undefined && { body: text }) };
  }

  send<Body = unknown>(route: Route, content?: string | object): Promise<Reply<Body>> {
    const { method, path, body } = requestOf(route, content);
    return this.api.send<Body>(this.signed(method, path, body));
  }

  /** Sends a signed request that must succeed, and returns the body of the reply. */
  async ask<Body>(method: Method, path: string, body?: string | object): Promise<Body> {
    const reply = await this.api.send<Body>(this.signed(method, path, body));
    expect(reply.status, `${method} ${path} ${reply.text}`).toBe(200);
    return reply.body;
  }

  /** Places an order that must be accepted. */
  place(fields: OrderFields): Promise<PlacedOrder> {
    return this.ask("POST", "/clob/order", fields);
  }

  cancel(orderId: string): Promise<CancelResult> {
    return this.ask("DELETE", "/clob/order", { orderId });
  }

  /** Sends a signed request that must be refused and must not change the state. */
  refused(route: Route, code: ErrorCode, content?: string | object): Promise<Reply<Refusal>> {
    const { method, path, body } = requestOf(route, content);
    return this.api.refused(this.signed(method, path, body), code);
  }

  /** Sends an order that must be refused and must not change the state. */
  orderRefused(order: string | object, code: ErrorCode): Promise<Reply<Refusal>> {
    return this.refused("POST /clob/order", code, order);
  }
}

/** Derives credentials for the wallet with private key `number`; the faucet funds it. */
export function deriveTrader(api: Api, number: number): Promise<Trader> {
  const account = wallet(number);
  return new Trader(api, account.address).derive(account);
}

/** The same for the tests of a file, derived before they run. */
export function useTrader(api: Api, number: number): Trader {
  const account = wallet(number);
  const trader = new Trader(api, account.address);
  beforeAll(() => trader.derive(account));
  return trader;
}
