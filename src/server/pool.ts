import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { CHAIN_PATH } from "../api/chain-rpc.ts";
import { ApiError, errorBody } from "../api/errors.ts";
import { quoted } from "../core/format.ts";
import { guardHost } from "./access.ts";
import type { Outbox } from "./connection.ts";
import { poolPage, wantsPage } from "./page.ts";
import type { RequestLog } from "./request-log.ts";
import { internalError } from "./send.ts";
import { type ExchangeSite, refuseOnSocket, requestIds, type Site } from "./server.ts";
import { Incoming, JSON_MEDIA, pathOf, type ServiceOptions } from "./service.ts";

interface PoolOptions {
  readonly size: number;
  readonly options: Pick<ServiceOptions, "version" | "allowHosts" | "beyondLoopback" | "requestTimeoutMs">;
  readonly outbox: Outbox;
  readonly log: RequestLog;
  /** Opens the exchange that is served below `/number`. */
  readonly open: (number: number) => ExchangeSite;
}

/** An answer of the pool itself; an error body contains the request id. */
interface PoolReply {
  readonly text: (requestId: string) => string;
  readonly headers: readonly string[];
}

const JSON_HEADERS = ["content-type", JSON_MEDIA];
const inJson = (answer: object): PoolReply => ({ text: () => JSON.stringify(answer), headers: JSON_HEADERS });

/** A request target split into the number of an exchange and the target within it. */
interface Target {
  readonly number: number;
  readonly rest: string;
}

const NUMBERED = /^\/(\d+)(?=[/?#]|$)/;

/** Parses `/3/clob/time?x` as `/clob/time?x` of exchange 3; null if the path does not begin with a number. */
function targetIn(url: string): Target | null {
  const [prefix, digits = ""] = NUMBERED.exec(url) ?? [];
  if (prefix === undefined) return null;
  const rest = url.slice(prefix.length);
  // 03 is refused, so that each exchange has one address.
  const number = String(Number(digits)) === digits ? Number(digits) : Number.NaN;
  return { number, rest: rest.startsWith("/") ? rest : `/${rest}` };
}

/**
 * Serves exchanges at `/1` to `/size` of one server. Each is opened by its first request. The pool removes the number from
 * the path and passes the request to the exchange. The pool itself answers `GET /`, `GET /healthz` and unknown paths.
 */
export class Pool implements Site {
  readonly Request: typeof Incoming;
  readonly requestTimeoutMs: number;
  readonly outbox: Outbox;
  readonly #pool: PoolOptions;
  readonly #members = new Map<number, ExchangeSite>();
  readonly #nextId = requestIds();

  constructor(pool: PoolOptions) {
    this.#pool = pool;
    this.Request = requestsTo(pool.size);
    this.requestTimeoutMs = pool.options.requestTimeoutMs;
    this.outbox = pool.outbox;
  }

  /** The opened exchanges, in the order of their first requests. */
  get members(): readonly ExchangeSite[] {
    return [...this.#members.values()];
  }

  answer(request: Incoming, response: ServerResponse, refusal?: ApiError): void {
    try {
      guardHost(this.#pool.options, request);
      const target = targetIn(request.url);
      if (target === null) {
        if (refusal !== undefined) throw refusal;
        this.#send(request, response, this.#replyTo(request));
        return;
      }
      const member = this.#member(target.number);
      request.url = target.rest;
      member.answer(request, response, refusal);
    } catch (error) {
      this.#fail(request, response, error);
    }
  }

  upgrade(request: Incoming, socket: Duplex, head: Buffer): void {
    const { number, rest } = targetIn(request.url) as Target;
    let member: ExchangeSite;
    try {
      member = this.#member(number);
    } catch (error) {
      this.#defect(request, error);
      socket.destroy();
      return;
    }
    request.url = rest;
    member.upgrade(request, socket, head);
  }

  refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    const requestId = this.#nextId();
    const { requestTimeoutMs } = this;
    const headers = this.#headers(requestId);
    refuseOnSocket({ error, requestId, headers, requestTimeoutMs, log: this.#pool.log }, socket);
  }

  #headers(requestId: string): string[] {
    return ["x-request-id", requestId, "x-sim-pool", String(this.#pool.size)];
  }

  /** Returns an exchange, opening it if needed. @throws ApiError `ROUTE_NOT_FOUND` if `number` is out of range. */
  #member(number: number): ExchangeSite {
    const { size, open } = this.#pool;
    if (!isWithin(number, size)) {
      throw new ApiError("ROUTE_NOT_FOUND", `no such exchange: the pool has ${rangeOf(size)}`, {
        hint: number > size ? "start with a larger --pool for more" : beginWith(size, ""),
      });
    }
    let member = this.#members.get(number);
    if (member === undefined) {
      member = open(number);
      this.#members.set(number, member);
    }
    return member;
  }

  /** Returns the pool's own reply. @throws ApiError if the path or method has none. */
  #replyTo(request: Incoming): PoolReply {
    const { method, headers } = request;
    const { size, options } = this.#pool;
    const path = pathOf(request.url);
    const areOpen = Array.from({ length: size }, (_, index) => this.#members.has(index + 1));
    if (path === "/" && wantsPage(request)) {
      const page = poolPage(areOpen);
      return { text: () => page.html, headers: page.headers };
    }
    if (path !== "/" && path !== "/healthz") {
      throw new ApiError("ROUTE_NOT_FOUND", `${quoted(path, 200)} is not a path of the pool`, {
        hint: beginWith(size, path === "*" ? "" : path.replace(NO_NUMBER, "").slice(0, 200)),
      });
    }
    if (method !== "GET" && method !== "HEAD") {
      const allow = "GET, HEAD";
      const found = `${path} of the pool takes ${allow}, found ${method}`;
      throw new ApiError("METHOD_NOT_ALLOWED", found, { headers: { allow } });
    }
    if (path === "/healthz") return inJson({ status: "ok" });
    const exchanges = areOpen.map((isOpen, index) => ({
      url: `http://${headers.host}/${index + 1}`,
      isOpen,
    }));
    return inJson({ name: "clobsim", version: options.version, pool: size, exchanges });
  }

  #fail(request: Incoming, response: ServerResponse, error: unknown): void {
    const known = error instanceof ApiError ? error : this.#defect(request, error);
    const headers = [...JSON_HEADERS, ...Object.entries(known.help.headers ?? {}).flat()];
    const text = (requestId: string): string => JSON.stringify(errorBody(known, requestId));
    this.#send(request, response, { text, headers }, known);
  }

  #defect({ method, url }: Incoming, error: unknown): ApiError {
    this.#pool.log.defect(error, { method, path: pathOf(url) });
    return internalError();
  }

  #send(
    { method, url, arrivedAt }: Incoming,
    response: ServerResponse,
    { text, headers }: PoolReply,
    error?: ApiError,
  ): void {
    const requestId = this.#nextId();
    const status = error?.status ?? 200;
    const written = text(requestId);
    const length = ["content-length", String(Buffer.byteLength(written))];
    response.writeHead(status, [...this.#headers(requestId), ...headers, ...length]);
    response.end(method === "HEAD" ? undefined : written);
    const ms = performance.now() - arrivedAt;
    this.#pool.log.request({ requestId, method, path: pathOf(url), status, ms, code: error?.code });
  }
}

const isWithin = (number: number, size: number): boolean => number >= 1 && number <= size;

/** What stands in the place of an exchange's number: an invalid one such as `-1`, or one after superfluous slashes. */
const NO_NUMBER = /^\/*(?=\/)(?:\/[+-]?[\d.]*(?=\/|$))?/;

const beginWith = (size: number, rest: string): string =>
  `begin the path with the number of an exchange, ${rangeOf(size)}, such as /1${rest}`;

const rangeOf = (size: number): string => (size === 1 ? "/1" : `/1 to /${size}`);

/** Returns the request class of a pool: requests to the chain of each of its exchanges may become WebSockets. */
function requestsTo(size: number): typeof Incoming {
  return class extends Incoming {
    protected override get isToChain(): boolean {
      const target = targetIn(this.url);
      return target !== null && isWithin(target.number, size) && pathOf(target.rest) === CHAIN_PATH;
    }
  };
}
