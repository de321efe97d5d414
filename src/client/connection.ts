import { connectionLost, notDerived } from "./exchange-error.ts";
import { changeHeaders, type Header, type HeaderChanges } from "./headers.ts";
import { parseReply, type RawReply, readReply } from "./read-reply.ts";
import type { SigningCredentials, Time } from "./replies.ts";
import { failure, type Result, success } from "./result.ts";
import { authHeaders, type Signable } from "./sign-request.ts";
import { SigningClock, type TimeSource } from "./signing-clock.ts";
import { type Query, targetOf } from "./target.ts";
import type { Transport } from "./transport.ts";

/** A request that may be anything, right or wrong. */
export interface RawRequest {
  readonly method: string;
  /** Path and query from the origin on, sent as they stand. */
  readonly path: string;
  /** A text is sent as it stands, anything else as its JSON; undefined sends no body. */
  readonly body?: unknown;
  /** True signs it with the client's credentials. */
  readonly signed?: boolean;
  /** Is signed instead of the path, which has neither `/clob` nor its query then. */
  readonly signedPath?: string;
  /** These replace the headers that were made, after signing; a function makes others of them. */
  readonly headers?: HeaderChanges | ((made: readonly Header[]) => readonly Header[]);
}

/** A request of the API. */
export interface ApiRequest {
  readonly method?: "GET" | "POST" | "DELETE";
  /** Without the query. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: object;
  readonly signed?: boolean;
}

export interface ConnectionOptions {
  readonly transport: Transport;
  readonly time: TimeSource;
  readonly simToken: string | null;
  readonly credentials: SigningCredentials | null;
}

/** What all calls of a client go through: headers, signature, transport, and the reading of replies. */
export class Connection {
  readonly clock: SigningClock;
  credentials: SigningCredentials | null;
  readonly #origin: URL;
  readonly #transport: Transport;
  readonly #simToken: string | null;

  constructor(origin: URL, { transport, time, simToken, credentials }: ConnectionOptions) {
    this.#origin = origin;
    this.#transport = transport;
    this.#simToken = simToken;
    this.credentials = credentials;
    this.clock = new SigningClock(time, () => this.ask<Time>({ path: "/clob/time" }));
  }

  /** Sends a request and reads the reply; a success is believed to be a `Value`. */
  async ask<Value>({
    method = "GET",
    path,
    query,
    body,
    signed = false,
  }: ApiRequest): Promise<Result<Value>> {
    const sent = await this.send({ method, path: targetOf(path, query), body, signed });
    return sent.ok ? advised(readReply<Value>(sent.value)) : sent;
  }

  /** The same of a reply that is no JSON document when it is a success. */
  async askText({ path, query }: Pick<ApiRequest, "path" | "query">): Promise<Result<string>> {
    const sent = await this.send({ method: "GET", path: targetOf(path, query) });
    if (!sent.ok) return sent;
    return sent.value.status === 200 ? success(sent.value.text) : readReply<string>(sent.value);
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
    const text = body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body);
    const target = {
      method,
      target: path,
      body: text ?? "",
      ...(signedPath !== undefined && { signedPath }),
    };
    const auth = signed ? await this.#sign(target) : success([]);
    if (!auth.ok) return auth;
    const made = [...this.#plainHeaders(method, path, text), ...auth.value];
    try {
      const reply = await this.#transport({
        method,
        path,
        headers: typeof headers === "function" ? headers(made) : changeHeaders(made, headers),
        body: text,
      });
      return success(parseReply(reply));
    } catch (error) {
      return failure(connectionLost(this.#origin.origin, error));
    }
  }

  #plainHeaders(method: string, path: string, text: string | null): Header[] {
    const headers: Header[] = [["host", this.#origin.host]];
    if (text !== null) headers.push(["content-type", "application/json"]);
    // Without a length, Node frames the body that a POST does not have.
    if (text !== null || method === "POST")
      headers.push(["content-length", String(Buffer.byteLength(text ?? ""))]);
    if (this.#simToken !== null && path.startsWith("/sim")) headers.push(["x-sim-token", this.#simToken]);
    return headers;
  }

  async #sign(request: Signable): Promise<Result<Header[]>> {
    if (this.credentials === null) return failure(notDerived());
    const now = await this.clock.now();
    return now.ok ? success(authHeaders(this.credentials, request, now.value)) : now;
  }
}

/** Adds how this client does what the server's hint asks for. */
function advised<Value>(result: Result<Value>): Result<Value> {
  if (result.ok || result.error.code !== "TIMESTAMP_OUT_OF_WINDOW") return result;
  const { hint } = result.error;
  const advice = 'call syncTime(), or give the client time: "server"';
  return failure({ ...result.error, hint: hint === null ? advice : `${hint}: ${advice}` });
}
