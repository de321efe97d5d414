import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Duplex } from "node:stream";
import express, { type Router } from "express";
import { ApiError, errorBody } from "../api/errors.ts";
import { guardHost, preflightHeaders } from "./access.ts";
import { ChainSockets } from "./chain-sockets.ts";
import { Connection, type Outbox } from "./connection.ts";
import { HANDLERS } from "./handlers/all.ts";
import { wantsPage } from "./page.ts";
import type { RequestLog } from "./request-log.ts";
import { mountEndpoints } from "./router.ts";
import { sendEmpty, sendError, simHeaders } from "./send.ts";
import { Incoming, JSON_MEDIA, Outgoing, pathOf, type Service } from "./service.ts";

/** How often connections are checked for requests that have timed out. */
const TIMEOUT_CHECK_MS = 500;
const KEEP_ALIVE_MS = 65_000;

/** What an HTTP server serves: one exchange or a pool of exchanges. */
export interface Site {
  /** Class of its requests. */
  readonly Request: typeof Incoming;
  readonly requestTimeoutMs: number;
  readonly outbox: Outbox;
  /** Answers a request; with `refusal` if it is given and the host is allowed. */
  answer(request: Incoming, response: ServerResponse, refusal?: ApiError): void;
  /** Takes over a connection that requests an upgrade to WebSocket. */
  upgrade(request: Incoming, socket: Duplex, head: Buffer): void;
  /** Answers input that could not be parsed as a request. */
  refuse(error: NodeJS.ErrnoException, socket: Duplex): void;
}

/** One exchange at the root of its server. */
export class ExchangeSite implements Site {
  readonly Request = Incoming;
  readonly service: Service;
  readonly requestTimeoutMs: number;
  readonly outbox: Outbox;
  readonly chainSockets: ChainSockets;
  readonly answer: Site["answer"];
  readonly #nextId = requestIds();

  constructor(service: Service) {
    this.service = service;
    this.requestTimeoutMs = service.options.requestTimeoutMs;
    this.outbox = service.outbox;
    this.chainSockets = new ChainSockets(service);
    this.answer = admit(service, createRouter(service), this.#nextId);
  }

  upgrade(request: Incoming, socket: Duplex, head: Buffer): void {
    void this.chainSockets.accept(request, socket, head, this.#nextId);
  }

  refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    const requestId = this.#nextId();
    const { service, requestTimeoutMs } = this;
    const headers = simHeaders(service, requestId);
    refuseOnSocket({ error, requestId, headers, requestTimeoutMs, log: service.log }, socket);
  }
}

export function createHttpServer(site: Site): Server {
  const { requestTimeoutMs, outbox } = site;
  const server = createServer({
    IncomingMessage: site.Request,
    ServerResponse: Outgoing as unknown as typeof ServerResponse,
    maxHeaderSize: MAX_HEADER_SIZE,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeoutMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    requireHostHeader: false,
    noDelay: true,
  });
  // A client that has closed its sending side still gets every answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxHeadersCount = 0;
  const connections = new WeakMap<Duplex, Connection>();
  server.on("connection", (socket) => {
    connections.set(socket, new Connection(socket));
    outbox.admit(socket);
  });
  const take = (request: IncomingMessage, response: ServerResponse, refusal?: ApiError): void => {
    (request as Incoming).arrivedAt = performance.now();
    const begin = (): void => site.answer(request as Incoming, response, refusal);
    connections.get(request.socket)?.take({ request, response, begin });
  };
  const refuse = (error: NodeJS.ErrnoException, socket: Duplex): void =>
    connections.get(socket)?.end(() => site.refuse(error, socket));
  server.on("request", (request, response) => take(request, response));
  server.on("checkExpectation", (request, response) =>
    take(
      request,
      response,
      new ApiError("EXPECTATION_FAILED", "only the expectation 100-continue is supported"),
    ),
  );
  server.on("connect", (_request, socket) => refuse(new Error("CONNECT"), socket));
  server.on("upgrade", (request, socket, head) =>
    connections.get(socket)?.end(() => site.upgrade(request as Incoming, socket, head)),
  );
  server.on("clientError", refuse);
  return server;
}

/** Returns a generator of request ids, which count requests in the order in which they are processed. */
export function requestIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `req-${count}`;
  };
}

/**
 * Creates the routes on a bare Express router, because an Express application adds work to each request that costs more
 * than the routing. Paths are case-sensitive and have no trailing slash.
 */
function createRouter(service: Service): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get("/", (request, response, next) => {
    if (!wantsPage(request)) next();
    else void service.page.answer(service, request as never, response as never);
  });
  mountEndpoints(router, service, HANDLERS);
  return router;
}

/** Returns the entry point of all requests: it assigns the id, checks the host, answers preflights, then routes. */
function admit(service: Service, router: Router, nextId: () => string): Site["answer"] {
  return (request, response, refusal) => {
    request.requestId = nextId();
    try {
      guardHost(service.options, request);
      if (refusal !== undefined) throw refusal;
      if (request.url.includes("#")) {
        throw new ApiError("ROUTE_NOT_FOUND", "a request target has no fragment", {
          hint: "remove the # and everything after it",
        });
      }
      const { origin } = request.headers;
      if (
        request.method === "OPTIONS" &&
        origin !== undefined &&
        "access-control-request-method" in request.headers
      ) {
        sendEmpty(service, request, response, preflightHeaders(origin));
        return;
      }
    } catch (error) {
      sendError(service, request, response, error);
      return;
    }
    router(request as never, response as never, (error: unknown) => {
      sendError(service, request, response, isUndecodable(error) ? undecodable(request) : error);
    });
  };
}

const isUndecodable = (error: unknown): boolean => error instanceof URIError;

const undecodable = (request: Incoming): ApiError =>
  new ApiError(
    "INVALID_PARAMETER",
    `the path ${JSON.stringify(pathOf(request.url).slice(0, 200))} is not valid percent-encoding`,
  );

const MAX_HEADER_SIZE = 16 * 1024;
/** Time until the connection of a refused client is destroyed. */
const HANG_UP_MS = 500;

/** Input that could not be parsed as a request, and what its answer carries besides the error. */
interface Unreadable {
  readonly error: NodeJS.ErrnoException;
  readonly requestId: string;
  /** Flat header pairs. */
  readonly headers: readonly string[];
  readonly requestTimeoutMs: number;
  readonly log: RequestLog;
}

/** Answers input that is not a request because it is too large, too slow or not HTTP, and closes the connection. */
export function refuseOnSocket(
  { error, requestId, headers, requestTimeoutMs, log }: Unreadable,
  socket: Duplex,
): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const known = socketError(error, requestTimeoutMs);
  const body = JSON.stringify(errorBody(known, requestId));
  const length = String(Buffer.byteLength(body));
  const pairs = [...headers, "content-type", JSON_MEDIA, "content-length", length, "connection", "close"];
  const lines = [`HTTP/1.1 ${known.status} ${STATUS_CODES[known.status]}`];
  for (let at = 0; at < pairs.length; at += 2) lines.push(`${pairs[at]}: ${pairs[at + 1]}`);
  socket.end([...lines, "", body].join("\r\n"));
  setTimeout(() => socket.destroy(), HANG_UP_MS).unref();
  log.request({ requestId, method: "-", path: "-", status: known.status, ms: 0, code: known.code });
}

function socketError(error: NodeJS.ErrnoException, timeoutMs: number): ApiError {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return new ApiError(
        "HEADERS_TOO_LARGE",
        `request line and headers are larger than ${MAX_HEADER_SIZE} bytes`,
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new ApiError("REQUEST_TIMEOUT", `the request was not complete within ${timeoutMs} ms`);
    case "HPE_INVALID_METHOD":
      return new ApiError(
        "INVALID_HTTP",
        "the input is not a valid HTTP/1.1 request: it does not begin with a registered method",
        { hint: "methods are in upper case; an exchange takes GET, HEAD, POST, DELETE and OPTIONS" },
      );
    default:
      return new ApiError("INVALID_HTTP", "the input is not a valid HTTP/1.1 request");
  }
}
