import { deepStrictEqual, match, ok } from "node:assert/strict";
import { Agent } from "node:http";
import { fileURLToPath } from "node:url";
import request from "supertest";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type ErrorCode, statusesOf } from "../../src/api/errors.ts";
import { type RunningServer, startServer } from "../../src/compose.ts";
import { type Config, DEFAULT_CONFIG } from "../../src/config.ts";
import { ApiDocument } from "../server/document.ts";
import type { Account, Book, ClockChange, Market, Refusal, StateHash } from "../server/replies.ts";

/** Uses connections again. */
const KEPT_OPEN = new Agent({ keepAlive: true });

/** A world of three markets. */
export const TINY_WORLD = fileURLToPath(new URL("../../fixtures/worlds/tiny.json", import.meta.url));

/** Default start of a frozen server, in Unix seconds: 2026-01-01T00:00:00Z. */
export const T0 = 1_767_225_600;

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
export type Headers = Readonly<Record<string, string>>;

/** Method and path: `GET /clob/time`. */
export type Route = `${Method} ${string}`;

/** A request. A text body is sent unchanged, an object as JSON. */
export interface Request {
  readonly method: Method;
  readonly path: string;
  readonly headers?: Headers;
  readonly body?: string | Buffer | object;
}

export interface Reply<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  /** The unparsed body. */
  readonly text: string;
}

/** A server on a free port, with a client that checks every reply against the server's OpenAPI document. */
export class Api {
  #server: RunningServer | undefined;
  #headers: Headers;
  #document: ApiDocument | undefined;
  #now = 0;

  constructor(server?: RunningServer, headers: Headers = {}) {
    this.#server = server;
    this.#headers = headers;
  }

  /** Starts a server; by default with a frozen clock and the tiny world. */
  async start(config: Partial<Config>): Promise<this> {
    this.#server = await serve(config);
    const { simToken = null } = config;
    this.#headers = simToken === null ? {} : { "x-sim-token": simToken };
    return this.open();
  }

  get server(): RunningServer {
    if (this.#server === undefined) throw new Error("the server is not started yet");
    return this.#server;
  }

  get port(): number {
    return this.server.port;
  }

  /** The server's time in its last reply, in Unix seconds. */
  get now(): number {
    return this.#now;
  }

  get document(): ApiDocument {
    if (this.#document === undefined) throw new Error("the document is not read yet");
    return this.#document;
  }

  /** Fetches the OpenAPI document for the checks of later replies. */
  async open(): Promise<this> {
    const { text, headers } = await this.#transmit({ method: "GET", path: "/openapi.json" });
    this.#document = ApiDocument.of(text);
    this.#checkHeaders(headers);
    return this;
  }

  /** Sends a request, or a body to a route. @throws Error if the reply is not as documented. */
  async send<Body = unknown>(request: Request | Route, content?: Request["body"]): Promise<Reply<Body>> {
    const sent = requestOf(request, content);
    const reply = await this.#transmit(sent);
    this.#checkHeaders(reply.headers);
    const media = this.document.mediaTypeOf(sent.method, sent.path, reply.status);
    const isJson = media === "application/json";
    const body = reply.text === "" || !isJson ? reply.text : (JSON.parse(reply.text) as unknown);
    this.document.check({ method: sent.method, path: sent.path, status: reply.status, body });
    if (reply.text !== "")
      deepStrictEqual(reply.headers["content-type"], isJson ? "application/json; charset=utf-8" : media);
    return { ...reply, body: body as Body };
  }

  /** Sends a GET that must succeed, and returns the body. */
  async get<Body>(path: string, headers?: Headers): Promise<Body> {
    return this.#succeed<Body>({ method: "GET", path, ...(headers && { headers }) });
  }

  /** Sends a POST that must succeed, and returns the body. */
  async post<Body>(path: string, body?: object): Promise<Body> {
    return this.#succeed<Body>({ method: "POST", path, ...(body && { body }) });
  }

  /** Sends a request. A refusal must have the common form of errors, and must not change the state. */
  async ask<Body>(request: Request | Route, content?: Request["body"]): Promise<Reply<Body | Refusal>> {
    const before = await this.stateHash();
    const reply = await this.send<Body | Refusal>(request, content);
    if (reply.status < 400) return reply;
    const { code, error } = reply.body as Refusal;
    match(error, /\S/);
    ok(statusesOf(code as ErrorCode).includes(reply.status), `${code} with ${reply.status}`);
    const { status, requestId } = reply.body as Refusal;
    deepStrictEqual([status, requestId], [reply.status, reply.headers["x-request-id"]]);
    deepStrictEqual(await this.stateHash(), before, "a refusal changed the state");
    return reply;
  }

  /** Sends a request that must be refused with a code. */
  async refused(request: Request | Route, code: ErrorCode, body?: Request["body"]): Promise<Reply<Refusal>> {
    const reply = (await this.ask(request, body)) as Reply<Refusal>;
    deepStrictEqual(reply.body.code, code, reply.text);
    return reply;
  }

  async stateHash(): Promise<string> {
    return (await this.get<StateHash>("/sim/state/hash")).hash;
  }

  /** Creates a market without orders. */
  async createMarket(facts: object = {}): Promise<Market> {
    return this.post<Market>("/sim/markets", { question: "Will it rain?", ...facts });
  }

  /** Creates a market, and returns its YES token. */
  async newToken(facts: object = {}): Promise<string> {
    return yesOf(await this.createMarket(facts));
  }

  /** Advances the clock by a duration, and returns the new time. */
  async advance(duration: string): Promise<string> {
    return (await this.post<ClockChange>("/sim/clock", { advance: duration })).time;
  }

  book(tokenId: string): Promise<Book> {
    return this.get(`/clob/book?token_id=${tokenId}`);
  }

  account(address: string): Promise<Account> {
    return this.get(`/sim/accounts/${address}`);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  async #succeed<Body>(sent: Request): Promise<Body> {
    const reply = await this.send<Body>(sent);
    deepStrictEqual(reply.status, 200, `${sent.method} ${sent.path} ${reply.text}`);
    return reply.body;
  }

  async #transmit({ method, path, headers, body }: Request): Promise<Omit<Reply<unknown>, "body">> {
    const verb = method.toLowerCase() as Lowercase<Method>;
    const pending = request(this.server.url)
      [verb](path)
      .agent(KEPT_OPEN)
      .set({ ...this.#headers, ...headers });
    // If the test sets the content type, superagent must not set another one.
    const isTyped = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "content-type");
    if (body !== undefined && !isTyped) pending.set("content-type", "application/json");
    const serialised = typeof body === "object" && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
    // Without this serializer, superagent writes bytes as a JSON array.
    if (serialised !== undefined) pending.serialize((bytes: unknown) => bytes as string).send(serialised);
    const reply = await pending;
    return { status: reply.status, headers: reply.headers as Headers, text: reply.text ?? "" };
  }

  /** Checks the headers of every reply: request id, sequence and virtual time. */
  #checkHeaders(headers: Headers): void {
    const { "x-request-id": id, "x-sim-sequence": sequence, "x-sim-time": time } = headers;
    if (!/^\S+ \d+ \d+$/.test(`${id} ${sequence} ${time}`))
      throw new Error(`expected a request id, a sequence and a time, found ${id}, ${sequence}, ${time}`);
    this.#now = Math.floor(Number(time) / 1000);
  }
}

/** Returns the id of a market's YES token. */
export const yesOf = (market: Market | undefined): string => market?.tokens[0]?.tokenId ?? "";

/** Returns the id of a market's NO token. */
export const noOf = (market: Market | undefined): string => market?.tokens[1]?.tokenId ?? "";

export const tokensOf = (market: Market): [yes: string, no: string] => [yesOf(market), noOf(market)];

/** Builds a request from a route and an optional body. */
export function requestOf(request: Request | Route, body?: Request["body"]): Request {
  if (typeof request !== "string") return request;
  const [, method, path = ""] = /^(\S+) (.*)$/s.exec(request) ?? [];
  return { method: method as Method, path, ...(body !== undefined && { body }) };
}

/** Starts a server; by default with a frozen clock and the tiny world. */
export const serve = (config: Partial<Config>): Promise<RunningServer> => {
  const usual = { port: 0, clock: { mode: "frozen" }, world: TINY_WORLD, logLevel: "silent" } as const;
  return startServer({ ...DEFAULT_CONFIG, ...usual, ...config });
};

/** The same for the tests of a file. */
export async function useServer(config: Partial<Config> = {}): Promise<RunningServer> {
  const server = await serve(config);
  afterAll(() => server.close());
  return server;
}

/** The same for one test. */
export async function serverOfTest(config: Partial<Config> = {}): Promise<RunningServer> {
  const server = await serve(config);
  onTestFinished(() => server.close());
  return server;
}

/** Sends a GET, or a POST with a body, and returns the JSON of the reply. */
export const fetchJson = async <Body>(url: string, path: string, body?: object): Promise<Body> => {
  const headers = { "content-type": "application/json" };
  const sent = body && { method: "POST", headers, body: JSON.stringify(body) };
  return (await (await fetch(url + path, sent)).json()) as Body;
};

/** A client of one exchange of a pool, which checks replies against the exchange's document. */
export const exchangeAt = (pool: RunningServer, number: number): Promise<Api> =>
  new Api({ ...pool, url: `${pool.url}/${number}` }).open();

/** Starts a server with a client, for one test. */
export async function apiOfTest(config: Partial<Config> = {}): Promise<Api> {
  const api = await startApi(config);
  onTestFinished(() => api.close());
  return api;
}

/** Starts a server with a client, which the caller closes. */
export const startApi = (config: Partial<Config> = {}): Promise<Api> => new Api().start(config);

/** Starts a server for the tests of a file or of the enclosing block. */
export function useApi(config: Partial<Config> = {}): Api {
  const api = new Api();
  beforeAll(() => api.start(config));
  afterAll(() => api.close());
  return api;
}
