import type { OperationAt, Route } from "../api/endpoints.ts";
import { authHeaders, type Signable } from "../api/signing.ts";
import type { Credentials, OrderBody, Replies } from "./api-messages.ts";
import {
  connectionLost,
  failure,
  NOT_DERIVED,
  parseReply,
  type RawReply,
  type Result,
  readReply,
  success,
} from "./result.ts";
import {
  changeHeaders,
  type EndSignal,
  type Header,
  type HeaderChanges,
  type OpenReply,
  type Transport,
} from "./transport.ts";

/** Credentials and the address of their wallet, which together sign requests. */
export interface SigningCredentials extends Credentials {
  readonly address: `0x${string}`;
}

/** Type of the reply at a route. */
export type ReplyAt<R extends Route> = Replies[OperationAt<R>];

/** Query parameters; undefined omits one. */
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Percent-encodes a text as UTF-8, even with a lone surrogate, for which `encodeURIComponent` alone throws. */
const encoded = (value: string): string => encodeURIComponent(Buffer.from(value).toString());

/** Encodes a path parameter. @throws TypeError if it is not a string, such as the id of an order that was not awaited. */
function inPath(value: unknown, route: Route): string {
  if (typeof value === "string") return encoded(value);
  throw new TypeError(
    `${route} expects a string in its path, found ${value === undefined ? "nothing" : String(value)}`,
  );
}

export function targetOf(path: string, query?: Query | null): string {
  const parameters: string[] = [];
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.push(`${encoded(name)}=${encoded(String(value))}`);
  }
  return parameters.length === 0 ? path : `${path}?${parameters.join("&")}`;
}

/** An order to place; `orderType` defaults to GTC. */
export interface NewOrder extends Omit<OrderBody, "expiration"> {
  /** Required with GTD, otherwise not allowed: a Date, ISO-8601 with a zone, or Unix seconds. Null means none. */
  readonly expiration?: Date | string | number | null;
}

/** Returns the body of an order; an invalid expiration becomes a text that the server refuses. */
export function orderBody<Order extends NewOrder>(order: Order) {
  // The server names the first missing field if there is no order.
  const { orderType = "GTC", expiration = null, ...fields } = { ...order };
  if (expiration === null) return { ...fields, orderType };
  const isValid = expiration instanceof Date && !Number.isNaN(expiration.getTime());
  return { ...fields, orderType, expiration: isValid ? expiration.toISOString() : String(expiration) };
}

/** A bigint has no JSON. NaN and infinities would be null, which the server's error would then name as the found value. */
const asJson = (_name: string, value: unknown): unknown =>
  typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value)) ? String(value) : value;

/**
 * Source of the time in signed requests: the local clock, GET /clob/time before each request, or a function that
 * replaces the local clock and returns Unix seconds.
 */
export type TimeSource = "local" | "server" | (() => number);

/** Result of `syncTime()`. */
export interface TimeSync {
  /** Unix seconds. */
  readonly serverTime: number;
  /** Seconds by which the server's clock is ahead of the local one. */
  readonly offset: number;
}

/** Any request, valid or not. */
export interface RawRequest {
  readonly method: string;
  /** Path and query, without the prefix of a pool, sent unchanged. */
  readonly path: string;
  /** A string is sent unchanged, anything else as JSON; undefined sends no body. */
  readonly body?: unknown;
  /** Whether to sign it with the client's credentials. */
  readonly signed?: boolean;
  /** Path to sign, by default `path` without `/clob` and query. */
  readonly signedPath?: string;
  /** Changes to the generated headers, applied after signing, or a function that returns the headers to send. */
  readonly headers?: HeaderChanges | ((made: readonly Header[]) => readonly Header[]);
}

interface Ask {
  readonly path?: readonly string[];
  readonly query?: Query | undefined;
  readonly body?: object | undefined;
  readonly signed?: boolean;
}

/** What the requests of a client carry. */
export interface SigningOptions {
  /** Credentials derived earlier. */
  readonly credentials?: SigningCredentials;
  /** Source of the time in signed requests; default `local`. */
  readonly time?: TimeSource;
  /** Value of the server's `--sim-token`, sent to `/sim` only. */
  readonly simToken?: string;
}

/** Sends all calls of a client: headers, signature, transport and parsing of replies. */
export class Connection {
  credentials: SigningCredentials | null;
  readonly #base: URL;
  /** Path prefix of the exchange: empty, or `/3` in a pool. */
  readonly #prefix: string;
  readonly #transport: Transport;
  readonly #simToken: string | undefined;
  readonly #time: TimeSource;
  /** Seconds added to the local clock. */
  #offset = 0;

  constructor(base: URL, transport: Transport, { time = "local", simToken, credentials }: SigningOptions) {
    this.#base = base;
    this.#prefix = base.pathname.replace(/\/+$/, "");
    this.#transport = transport;
    this.#simToken = simToken;
    this.#time = time;
    this.credentials = credentials ?? null;
  }

  /** Returns the Unix seconds of a signature; fails only with the time of the server. */
  async now(): Promise<Result<number>> {
    if (this.#time !== "server") return success(this.#localTime() + this.#offset);
    const asked = await this.ask("GET /clob/time");
    return asked.ok ? success(asked.value.time) : asked;
  }

  /** Measures and stores the offset of the local clock from the server's. */
  async syncTime(): Promise<Result<TimeSync>> {
    const asked = await this.ask("GET /clob/time");
    if (!asked.ok) return asked;
    const serverTime = asked.value.time;
    this.#offset = serverTime - this.#localTime();
    return success({ serverTime, offset: this.#offset });
  }

  #localTime(): number {
    return Math.floor(typeof this.#time === "function" ? this.#time() : Date.now() / 1000);
  }

  /** Sends a request and parses the reply. The body of a success is not checked against the contract. */
  async ask<R extends Route>(
    route: R,
    { path: parameters = [], query, body, signed = false }: Ask = {},
  ): Promise<Result<ReplyAt<R>>> {
    const [method = "", template = ""] = route.split(" ");
    let next = 0;
    const path = template.replace(/\{\w+\}/g, () => inPath(parameters[next++], route));
    const sent = await this.send({ method, path: targetOf(path, query), body, signed });
    return sent.ok ? advised(readReply<ReplyAt<R>>(sent.value)) : sent;
  }

  /** Opens an endless reply of the control plane. @throws TypeError if the transport has no `open`. */
  async open(path: string, signal?: EndSignal): Promise<Result<OpenReply>> {
    const { open } = this.#transport;
    if (open === undefined) throw new TypeError("the client's transport has no open(), which a stream needs");
    const headers = this.#plainHeaders("GET", path, null);
    try {
      const reply = await open({ method: "GET", path: this.#prefix + path, headers, body: null }, signal);
      if (reply.status === 200) return success(reply);
      const bytes: Uint8Array[] = [];
      for await (const piece of reply.body) bytes.push(piece);
      return readReply<never>(parseReply({ ...reply, text: Buffer.concat(bytes).toString() }));
    } catch (error) {
      return failure(connectionLost(this.#base.origin, error));
    }
  }

  /** Sends a request; any reply is a success. */
  async send({
    method,
    path,
    body,
    signed = false,
    signedPath,
    headers = {},
  }: RawRequest): Promise<Result<RawReply>> {
    const text = body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body, asJson);
    const target = { method, target: path, signedPath, body: text ?? "" };
    const auth = signed ? await this.#sign(target) : success([]);
    if (!auth.ok) return auth;
    const made = [...this.#plainHeaders(method, path, text), ...auth.value];
    try {
      const reply = await this.#transport({
        method,
        path: this.#prefix + path,
        headers: typeof headers === "function" ? headers(made) : changeHeaders(made, headers),
        body: text,
      });
      return success(parseReply(reply));
    } catch (error) {
      return failure(connectionLost(this.#base.origin, error));
    }
  }

  #plainHeaders(method: string, path: string, text: string | null): Header[] {
    const headers: Header[] = [["host", this.#base.host]];
    if (text !== null) headers.push(["content-type", "application/json"]);
    // Without a length, Node sends a POST without a body as chunked.
    if (text !== null || method === "POST")
      headers.push(["content-length", String(Buffer.byteLength(text ?? ""))]);
    if (this.#simToken !== undefined && path.startsWith("/sim"))
      headers.push(["x-sim-token", this.#simToken]);
    return headers;
  }

  async #sign(request: Signable): Promise<Result<Header[]>> {
    if (this.credentials === null) return failure(NOT_DERIVED);
    const now = await this.now();
    return now.ok ? success(authHeaders(this.credentials, request, now.value)) : now;
  }
}

/** Adds to the server's hint how to follow it with this client. */
function advised<Value>(result: Result<Value>): Result<Value> {
  if (result.ok || result.error.code !== "TIMESTAMP_OUT_OF_WINDOW") return result;
  const { hint } = result.error;
  const advice = 'call syncTime(), or give the client time: "server"';
  return failure({ ...result.error, hint: hint === null ? advice : `${hint}: ${advice}` });
}
