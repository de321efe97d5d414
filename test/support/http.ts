import { fileURLToPath } from "node:url";
import request from "supertest";
import { afterAll, beforeAll, expect } from "vitest";
import { type ErrorCode, statusesOf } from "../../src/api/errors.ts";
import { type RunningServer, startServer } from "../../src/compose.ts";
import { type Config, DEFAULT_CONFIG } from "../../src/config.ts";
import { ApiDocument, type OpenApi } from "../server/document.ts";
import type { Market, Refusal, StateHash } from "../server/replies.ts";

/** A world of three markets. */
export const TINY_WORLD = fileURLToPath(new URL("../../fixtures/worlds/tiny.json", import.meta.url));

/** When a frozen server starts unless told otherwise, in Unix seconds: 2026-01-01T00:00:00Z. */
export const T0 = 1_767_225_600;

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
export type Headers = Readonly<Record<string, string>>;

/** Method and path: `GET /clob/time`. */
export type Route = `${Method} ${string}`;

/** A request as a client writes it; a body that is a text is sent as it stands, an object as JSON. */
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
  /** The body as it came. */
  readonly text: string;
}

/** A server of its own on a free port, and a client that checks every reply against the server's own document. */
export class Api {
  #server: RunningServer | undefined;
  #headers: Headers;
  #document: ApiDocument | undefined;
  #now = 0;

  constructor(server?: RunningServer, headers: Headers = {}) {
    this.#server = server;
    this.#headers = headers;
  }

  /** Starts a server with a frozen clock over the tiny world, or as told. */
  async start(config: Partial<Config>): Promise<this> {
    this.#server = await startServer({
      ...DEFAULT_CONFIG,
      port: 0,
      clock: { mode: "frozen" },
      world: TINY_WORLD,
      logLevel: "silent",
      ...config,
    });
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

  /** The server's time as of its last reply, in Unix seconds. */
  get now(): number {
    return this.#now;
  }

  /** What the server says of itself. */
  get document(): ApiDocument {
    if (this.#document === undefined) throw new Error("open() reads the document first");
    return this.#document;
  }

  /** Reads the document that every later reply is checked against. */
  async open(): Promise<this> {
    const { text, headers } = await this.#transmit({ method: "GET", path: "/openapi.json" });
    this.#document = new ApiDocument(JSON.parse(text) as OpenApi);
    this.#note(headers);
    return this;
  }

  /** Sends a request, or a body to a route. @throws Error when the reply is not as documented. */
  async send<Body = unknown>(request: Request | Route, content?: Request["body"]): Promise<Reply<Body>> {
    const sent = requestOf(request, content);
    const reply = await this.#transmit(sent);
    this.#note(reply.headers);
    const media = this.document.mediaOf(sent.method, sent.path, reply.status);
    const isJson = media === "application/json";
    const body = reply.text === "" || !isJson ? reply.text : (JSON.parse(reply.text) as unknown);
    this.document.check({ method: sent.method, path: sent.path, status: reply.status, body });
    if (reply.text !== "")
      expect(reply.headers["content-type"]).toBe(isJson ? "application/json; charset=utf-8" : media);
    return { ...reply, body: body as Body };
  }

  /** The body of a GET that succeeds. */
  async get<Body>(path: string, headers?: Headers): Promise<Body> {
    return this.#succeed<Body>({ method: "GET", path, ...(headers && { headers }) });
  }

  /** The body of a POST that succeeds. */
  async post<Body>(path: string, body?: object): Promise<Body> {
    return this.#succeed<Body>({ method: "POST", path, ...(body && { body }) });
  }

  /** Sends a request that is refused with a code, in the form of every error, and leaves no trace. */
  async refused(
    request: Request | Route,
    code: ErrorCode,
    content?: Request["body"],
  ): Promise<Reply<Refusal>> {
    const before = await this.stateHash();
    const reply = await this.send<Refusal>(request, content);
    const { status, body } = reply;
    expect({ code: body.code, error: body.error }).toEqual({ code, error: expect.stringMatching(/\S/) });
    expect(statusesOf(code)).toContain(status);
    expect(body).toMatchObject({ status, requestId: reply.headers["x-request-id"] });
    expect(await this.stateHash()).toBe(before);
    return reply;
  }

  /** The hash of the whole state. */
  async stateHash(): Promise<string> {
    return (await this.get<StateHash>("/sim/state/hash")).hash;
  }

  /** A new market, open and without any order. */
  async createMarket(facts: object = {}): Promise<Market> {
    return this.post<Market>("/sim/markets", { question: "Will it rain?", ...facts });
  }

  /** The YES token of a new market. */
  async newToken(facts: object = {}): Promise<string> {
    return yesOf(await this.createMarket(facts));
  }

  close(): Promise<void> {
    return this.server.close();
  }

  async #succeed<Body>(sent: Request): Promise<Body> {
    const reply = await this.send<Body>(sent);
    expect(reply.status, `${sent.method} ${sent.path} ${reply.text}`).toBe(200);
    return reply.body;
  }

  async #transmit({ method, path, headers, body }: Request): Promise<Omit<Reply<unknown>, "body">> {
    const verb = method.toLowerCase() as Lowercase<Method>;
    const sending = request(this.server.url)
      [verb](path)
      .set({ ...this.#headers, ...headers });
    // A text with a content type of its own is what the test is about; superagent must not think of another one.
    const isTyped = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "content-type");
    if (body !== undefined && !isTyped) sending.set("content-type", "application/json");
    const serialised = typeof body === "object" && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
    // Without a serializer of its own, superagent writes bytes as the JSON of an array.
    if (serialised !== undefined) sending.serialize((bytes: unknown) => bytes as string).send(serialised);
    const reply = await sending;
    return { status: reply.status, headers: reply.headers as Headers, text: reply.text ?? "" };
  }

  /** Every reply names itself, the journal's sequence and the virtual time. */
  #note(headers: Headers): void {
    expect(headers["x-request-id"]).toMatch(/\S/);
    expect(headers["x-sim-sequence"]).toMatch(/^\d+$/);
    expect(headers["x-sim-time"]).toMatch(/^\d+$/);
    this.#now = Math.floor(Number(headers["x-sim-time"]) / 1000);
  }
}

/** The id of a market's YES token. */
export const yesOf = (market: Market | undefined): string => market?.tokens[0]?.tokenId ?? "";

/** The id of its NO token. */
export const noOf = (market: Market | undefined): string => market?.tokens[1]?.tokenId ?? "";

/** A request of a route with a body, if there is one. */
export function requestOf(request: Request | Route, body?: Request["body"]): Request {
  if (typeof request !== "string") return request;
  const [, method, path = ""] = /^(\S+) (.*)$/s.exec(request) ?? [];
  return { method: method as Method, path, ...(body !== undefined && { body }) };
}

/** A server of its own; whoever starts it closes it. */
export const startApi = (config: Partial<Config> = {}): Promise<Api> => new Api().start(config);

/** A server for the tests of a file, or of the block that this is called in. */
export function useApi(config: Partial<Config> = {}): Api {
  const api = new Api();
  beforeAll(() => api.start(config));
  afterAll(() => api.close());
  return api;
}
