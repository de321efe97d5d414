import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { type AddressInfo, type Socket, Server as TcpServer } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { scheduler } from "node:timers/promises";
import { ApiError, errorBody } from "../api/errors.ts";
import type { ChainSockets } from "./chain-sockets.ts";
import { type Incoming, JSON_MEDIA, Outgoing } from "./messages.ts";
import type { Service } from "./service.ts";

/** Address on which a server listens; port 0 chooses a free port. */
type ListenAddress = Readonly<{ host: string; port: number }>;

/** How often connections are checked for requests that have timed out. */
const TIMEOUT_CHECK_MS = 500;

/** What an HTTP server serves: one exchange or a pool of exchanges. */
export interface Site {
  /** Class of its requests. */
  readonly Request: typeof Incoming;
  /** What all its exchanges share. */
  readonly service: Pick<Service, "options" | "outbox" | "log">;
  /** The exchanges opened so far; none is opened after the server has closed. */
  readonly members: readonly { readonly service: Service; readonly chainSockets: ChainSockets }[];
  /** Returns request ids, which count requests in the order in which they are processed. */
  readonly nextId: () => string;
  /** Returns the headers of every answer to a request, as flat pairs. */
  headersOf(requestId: string): string[];
  /** Answers a request; with `refusal` if it is given and the host is allowed. */
  answer(request: Incoming, response: Outgoing, refusal?: ApiError): void;
  /** Takes over a connection that requests an upgrade to WebSocket. */
  upgrade(request: Incoming, socket: Duplex, head: Buffer): void;
}

/** Serves a site over HTTP: to clients of this process, and to others after `listen`. */
export class HttpServer {
  readonly #server: Server;
  readonly #site: Site;
  readonly #connections = new Map<Duplex, Connection>();
  #keepsAlive = true;

  constructor(site: Site) {
    this.#site = site;
    this.#server = createHttpServer(site, this.#connections);
    this.#server.on("connection", (socket) => {
      site.service.outbox.countClient(socket);
      this.#connections.set(socket, new Connection(socket));
      socket.once("close", () => this.#connections.delete(socket));
      if (!this.#keepsAlive) socket.unref();
    });
  }

  /** Returns the port. @throws the system's error if the address cannot be used. */
  listen(address: ListenAddress): Promise<number> {
    return listen(this.#server, address);
  }

  /** Connects to the server without a network; it need not listen. Closing one end destroys the other. */
  connect(): Duplex {
    const [client, served] = duplexPair();
    for (const [end, other] of [[client, served] as const, [served, client] as const]) {
      // Methods of net.Socket that Node's HTTP code calls and a Duplex does not have.
      for (const method of ["ref", "unref", "setKeepAlive", "setNoDelay", "setTimeout"])
        Object.assign(end, { [method]: () => end });
      end.once("close", () => other.destroy());
    }
    this.#server.emit("connection", served);
    return client;
  }

  /** Whether the server and its connections keep the process alive; initially true. */
  set keepsAlive(keepsAlive: boolean) {
    this.#keepsAlive = keepsAlive;
    for (const handle of [this.#server, ...this.#connections.keys()] as Socket[]) {
      if (keepsAlive) handle.ref();
      else handle.unref();
    }
  }

  /** Answers pending requests, each connection closed after the last of them or its next one; after `graceMs`, all else ends. */
  close(graceMs = 2_000): Promise<void> {
    for (const { service, chainSockets } of this.#site.members) {
      service.clock.stop();
      service.stream.close();
      chainSockets.close();
    }
    for (const connection of this.#connections.values()) connection.endAfterAnswers();
    this.#server.prependListener("request", (_request, response) => {
      response.shouldKeepAlive = false;
    });
    return new Promise((resolve) => {
      const force = setTimeout(() => {
        for (const socket of this.#connections.keys()) socket.destroy();
        for (const { chainSockets } of this.#site.members) chainSockets.terminate();
      }, graceMs);
      this.#server.close(() => {
        clearTimeout(force);
        for (const { service } of this.#site.members) {
          service.slices.stop();
          service.clock.stop();
          service.faults.stop();
          service.log.close();
        }
        resolve();
      });
      this.#server.closeIdleConnections();
    });
  }
}

/** @throws the system's error if the address cannot be used. */
export async function requireFree(address: ListenAddress): Promise<void> {
  const probe = new TcpServer();
  await listen(probe, address);
  await new Promise((resolve) => probe.close(resolve));
}

async function listen(server: TcpServer, { host, port }: ListenAddress): Promise<number> {
  await once(server.listen({ host, port }), "listening");
  return (server.address() as AddressInfo).port;
}

function createHttpServer(site: Site, connections: ReadonlyMap<Duplex, Connection>): Server {
  const { requestTimeoutMs } = site.service.options;
  const server = createServer({
    IncomingMessage: site.Request,
    ServerResponse: Outgoing as unknown as typeof ServerResponse,
    maxHeaderSize: MAX_HEADER_SIZE,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeoutMs),
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
    noDelay: true,
  });
  // A client that has closed its sending side still gets every answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxHeadersCount = 0;
  const take = (request: IncomingMessage, response: ServerResponse, refusal?: ApiError): void => {
    (request as Incoming).arrivedAt = performance.now();
    const begin = (): void => site.answer(request as Incoming, response as Outgoing, refusal);
    connections.get(request.socket)?.take({ request, response, begin });
  };
  const refuse = (error: NodeJS.ErrnoException, socket: Duplex): void =>
    connections.get(socket)?.take({ begin: () => refuseOnSocket(site, error, socket) });
  server.on("request", (request, response) => take(request, response));
  server.on("checkContinue", (request: Incoming, response) => {
    // Without it, Node closes the connection after the answer.
    request.askForBody = () => response.writeContinue();
    take(request, response);
  });
  server.on("checkExpectation", (request, response) => {
    const message = "only the expectation 100-continue is supported";
    take(request, response, new ApiError("EXPECTATION_FAILED", message));
  });
  server.on("connect", (_request, socket) => refuse(new Error("CONNECT"), socket));
  server.on("upgrade", (request, socket, head) =>
    connections.get(socket)?.take({ begin: () => site.upgrade(request as Incoming, socket, head) }),
  );
  server.on("clientError", refuse);
  return server;
}

/** A request, or input after the last complete one that is not served as a request. */
interface Turn {
  readonly request?: IncomingMessage;
  readonly response?: ServerResponse;
  readonly begin: () => void;
}

/**
 * Serializes the requests of one connection: each begins after the answer to the one before is flushed to the socket.
 * While requests wait, the socket is paused, so that a connection holds at most one read (64 KiB) and one answer.
 */
class Connection {
  readonly #socket: Duplex;
  #current: Turn | null = null;
  #waiting: Turn[] = [];

  constructor(socket: Duplex) {
    this.#socket = socket;
    // Node resumes reading after each complete request.
    socket.on("resume", () => {
      if (this.#waiting.some(isRequest)) socket.pause();
    });
    socket.once("close", () => {
      this.#waiting = [];
    });
  }

  /** Ends the connection after its pending answers, unless the headers of the last are sent. */
  endAfterAnswers(): void {
    const response = (this.#waiting.findLast(isRequest) ?? this.#current)?.response;
    if (response !== undefined) response.shouldKeepAlive = false;
  }

  /** Begins a turn after the requests before are answered; never if the connection closes before that. */
  take(turn: Turn): void {
    if (this.#waiting.length === 0 && !isAnswering(this.#current)) {
      this.#begin(turn);
      return;
    }
    this.#waiting.push(turn);
    if (isRequest(turn)) this.#socket.pause();
    if (this.#waiting.length === 1) this.#awaitEnd();
  }

  #begin(turn: Turn): void {
    this.#current = turn;
    turn.begin();
  }

  /** Begins the next turn when the current one has ended. */
  #awaitEnd(): void {
    this.#current?.response?.once("close", async () => {
      await scheduler.yield();
      const first = this.#waiting.shift();
      // What follows an incomplete request is the reason why it will never be complete.
      const turn = first?.request?.complete === false ? (this.#waiting.shift() ?? first) : first;
      if (turn === undefined) return;
      this.#begin(turn);
      if (this.#waiting.length > 0) this.#awaitEnd();
      else if (isRequest(turn)) this.#socket.resume();
    });
  }
}

const isRequest = ({ request }: Turn): boolean => request !== undefined;

/** Whether the answer to a request is still pending. An incomplete request counts only once its answer has begun. */
const isAnswering = (turn: Turn | null): boolean =>
  turn?.response !== undefined &&
  !turn.response.writableFinished &&
  (turn.request?.complete === true || turn.response.headersSent);

const MAX_HEADER_SIZE = 16 * 1024;
/** Time until the connection of a refused client is destroyed. */
const HANG_UP_MS = 500;

/** Answers input that is not a request because it is too large, too slow or not HTTP, and closes the connection. */
function refuseOnSocket(site: Site, error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = site.nextId();
  const known = socketError(error, site.service.options.requestTimeoutMs);
  const { status, code } = known;
  const body = JSON.stringify(errorBody(known, requestId));
  const length = String(Buffer.byteLength(body));
  const pairs = [...site.headersOf(requestId), "content-type", JSON_MEDIA, "content-length", length];
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`];
  for (let at = 0; at < pairs.length; at += 2) lines.push(`${pairs[at]}: ${pairs[at + 1]}`);
  socket.end([...lines, "connection: close", "", body].join("\r\n"));
  setTimeout(() => socket.destroy(), HANG_UP_MS).unref();
  const input = { requestId, method: "-", url: "-", arrivedAt: performance.now() };
  site.service.log.request(input, status, code);
}

function socketError({ code }: NodeJS.ErrnoException, timeoutMs: number): ApiError {
  const tooLarge = `request line and headers are larger than ${MAX_HEADER_SIZE} bytes`;
  if (code === "HPE_HEADER_OVERFLOW") return new ApiError("HEADERS_TOO_LARGE", tooLarge);
  const tooSlow = `the request was not complete within ${timeoutMs} ms`;
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new ApiError("REQUEST_TIMEOUT", tooSlow);
  const { why = "", hint } = INVALID_PARTS[code ?? ""] ?? {};
  return new ApiError("INVALID_HTTP", `the input is not a valid HTTP/1.1 request${why}`, { hint });
}

/** What is wrong with input that is not HTTP, by the error code of Node's parser. */
const INVALID_PARTS: Readonly<Record<string, { readonly why: string; readonly hint: string }>> = {
  HPE_INVALID_METHOD: {
    why: ": it does not begin with a registered method",
    hint: "methods are in upper case; an exchange takes GET, HEAD, POST, DELETE and OPTIONS",
  },
  HPE_INVALID_URL: {
    why: ": its target is not a path in printable ASCII",
    hint: "percent-encode all other characters of the path and the query",
  },
};
