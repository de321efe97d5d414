import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, errorBody } from "../api/errors.ts";
import { Connection, type Outbox } from "./connection.ts";
import { type Incoming, JSON_MEDIA, Outgoing } from "./messages.ts";
import type { RequestLog } from "./request-log.ts";

/** How often connections are checked for requests that have timed out. */
const TIMEOUT_CHECK_MS = 500;
const KEEP_ALIVE_MS = 65_000;

/** What an HTTP server serves: one exchange or a pool of exchanges. */
export interface Site {
  /** Class of its requests. */
  readonly Request: typeof Incoming;
  readonly requestTimeoutMs: number;
  readonly outbox: Outbox;
  readonly log: RequestLog;
  /** Returns request ids, which count requests in the order in which they are processed. */
  readonly nextId: () => string;
  /** Returns the headers of every answer to a request, as flat pairs. */
  headersOf(requestId: string): string[];
  /** Answers a request; with `refusal` if it is given and the host is allowed. */
  answer(request: Incoming, response: ServerResponse, refusal?: ApiError): void;
  /** Takes over a connection that requests an upgrade to WebSocket. */
  upgrade(request: Incoming, socket: Duplex, head: Buffer): void;
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
    connections.get(socket)?.end(() => refuseOnSocket(site, error, socket));
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

const MAX_HEADER_SIZE = 16 * 1024;
/** Time until the connection of a refused client is destroyed. */
const HANG_UP_MS = 500;

/** Answers input that is not a request because it is too large, too slow or not HTTP, and closes the connection. */
function refuseOnSocket(site: Site, error: NodeJS.ErrnoException, socket: Duplex): void {
  const requestId = site.nextId();
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const known = socketError(error, site.requestTimeoutMs);
  const body = JSON.stringify(errorBody(known, requestId));
  const length = String(Buffer.byteLength(body));
  const pairs = [...site.headersOf(requestId), "content-type", JSON_MEDIA, "content-length", length];
  const lines = [`HTTP/1.1 ${known.status} ${STATUS_CODES[known.status]}`];
  for (let at = 0; at < pairs.length; at += 2) lines.push(`${pairs[at]}: ${pairs[at + 1]}`);
  socket.end([...lines, "connection: close", "", body].join("\r\n"));
  setTimeout(() => socket.destroy(), HANG_UP_MS).unref();
  site.log.request({ requestId, method: "-", path: "-", status: known.status, ms: 0, code: known.code });
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
