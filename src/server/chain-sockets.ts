import { on } from "node:events";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { CHAIN_PATH, type NotificationSink } from "../api/chain-rpc.ts";
import { ApiError } from "../api/errors.ts";
import { guardHost, guardOrigin, isTrusted } from "./access.ts";
import { injectedError } from "./faults.ts";
import { type Incoming, MAX_LARGE_BODY, type RequestInfo } from "./messages.ts";
import { errorText, knownError, refuseUpgrade } from "./send.ts";
import type { ChainClient, Service } from "./service.ts";

/** Pending bytes, besides one answer, above which a client gets no notifications. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Time in which a client must read some of its pending bytes. */
const MAX_STALL_MS = 10_000;
/** Interval of pings; a client that has not answered by the next one is disconnected. */
const PING_MS = 20_000;
/** Time until a connection that is being closed is destroyed; the client must first read its pending bytes. */
const CLOSE_GRACE_MS = 10_000;

/** Close codes of RFC 6455. */
const GOING_AWAY = 1001;
const DEFECT = 1011;
const TRY_AGAIN_LATER = 1013;

/** The WebSocket connections of one server; all are clients of its chain. */
export class ChainSockets {
  readonly #service: Service;
  /** Returns the id of the next request. */
  readonly #nextId: () => string;
  readonly #open = new Set<ChainSocket>();
  #server: Promise<WebSocketServer> | null = null;
  #pings: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(service: Service, nextId: () => string) {
    this.#service = service;
    this.#nextId = nextId;
  }

  /** Upgrades a connection to WebSocket after the same checks as for `POST /chain`. */
  async accept(request: Incoming, socket: Duplex, head: Buffer): Promise<void> {
    const service = this.#service;
    request.requestId = this.#nextId();
    // Until the WebSocket exists, the socket has no other error listener, and an error would end the process.
    const ignore = (): void => {};
    socket.on("error", ignore);
    try {
      guardHost(service.options, request);
      guardOrigin(request.headers, "the chain");
      if (this.#isClosed) throw new ApiError("UNAVAILABLE", "the server is stopping");
    } catch (error) {
      refuseUpgrade(service, request, socket, error);
      return;
    }
    // `ws` is loaded with the first client, so that it does not delay the start.
    this.#server ??= import("ws").then(({ WebSocketServer }) => {
      const options = { noServer: true, clientTracking: false, perMessageDeflate: false };
      return new WebSocketServer({ ...options, maxPayload: MAX_LARGE_BODY });
    });
    const server = await this.#server;
    socket.off("error", ignore);
    server.handleUpgrade(request, socket, head, (webSocket) => this.#admit(request, webSocket));
  }

  /** Starts the closing handshake with every client; `terminate` destroys the connections that remain. */
  close(): void {
    this.#isClosed = true;
    if (this.#pings !== null) clearInterval(this.#pings);
    for (const client of this.#open) client.close(GOING_AWAY, "the server is stopping");
  }

  terminate(): void {
    for (const client of this.#open) client.terminate();
  }

  #admit(request: Incoming, webSocket: WebSocket): void {
    const client = new ChainSocket(this.#service, request, webSocket, this.#nextId);
    this.#open.add(client);
    void client.served.then(() => this.#open.delete(client));
    if (this.#isClosed) client.close(GOING_AWAY, "the server is stopping");
    this.#pings ??= setInterval(() => {
      for (const each of this.#open) each.ping();
    }, PING_MS).unref();
    logMessage(this.#service, request, 101);
  }
}

/**
 * One client. Its requests are answered in order and one at a time, each after the answer before is sent; notifications
 * are sent in between. So its memory is limited to one read, one answer and `MAX_WAITING_BYTES`, however slowly it reads.
 */
class ChainSocket implements NotificationSink {
  /** Resolves when the connection has ended and no more of its requests are executed. */
  readonly served: Promise<void>;
  readonly #service: Service;
  /** The message being answered; initially the upgrade request. */
  #request: RequestInfo;
  readonly #webSocket: WebSocket;
  readonly #nextId: () => string;
  readonly #isTrusted: boolean;
  #client: ChainClient | null = null;
  #isAnswering = false;
  /** Resolves when all delayed sends are written to the socket; null if there are none. */
  #pendingSends: Promise<void> | null = null;
  /** Bytes that wait until the journal is flushed. */
  #unflushed = 0;
  #stall: NodeJS.Timeout | null = null;
  /** Called when a stall ends. */
  #resume = (): void => {};
  #isAlive = true;
  /** Whether the server ends the connection: it executes no more requests. If the client does, those that it sent before are. */
  #isEnded = false;

  constructor(service: Service, request: Incoming, webSocket: WebSocket, nextId: () => string) {
    this.#service = service;
    this.#request = requestInfo(request.requestId, null);
    this.#webSocket = webSocket;
    this.#nextId = nextId;
    this.#isTrusted = isTrusted(service.options, request.headers);
    for (const event of ["message", "pong"]) {
      webSocket.on(event, () => {
        this.#isAlive = true;
      });
    }
    // "close" follows each error.
    webSocket.on("error", () => {});
    webSocket.on("close", () => this.#resume());
    this.served = this.#serve();
  }

  /** Whether notifications may be sent: never between a request and its answer. */
  get hasRoom(): boolean {
    return this.#isOpen && !this.#isAnswering && this.#waiting < MAX_WAITING_BYTES;
  }

  get #isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  get #waiting(): number {
    return this.#unflushed + this.#webSocket.bufferedAmount;
  }

  /** Sends a text after every journal entry that it may depend on is durable. */
  send(text: string): void {
    const { persistence } = this.#service;
    try {
      const flushed = persistence.flush(persistence.position);
      if (flushed === undefined && this.#pendingSends === null) this.#sendNow(text);
      else this.#sendLater(text, flushed);
    } catch (failure) {
      this.fail(failure);
    }
  }

  /** Closes the connection because of a failure that cannot be answered. */
  fail(failure: unknown): void {
    this.close(DEFECT, knownError(this.#service, this.#request, failure).message);
  }

  close(code: number, reason: string): void {
    this.#isEnded = true;
    this.#client?.close();
    // RFC 6455 limits a reason to 123 bytes.
    this.#webSocket.close(code, reason.slice(0, 120));
    setTimeout(() => this.terminate(), CLOSE_GRACE_MS).unref();
  }

  terminate(): void {
    this.#isEnded = true;
    this.#webSocket.terminate();
  }

  /** Pings the client. Terminates it if it has not answered the last ping although its socket was being read. */
  ping(): void {
    if (!this.#isAlive) {
      this.terminate();
      return;
    }
    this.#isAlive = this.#webSocket.isPaused;
    this.#webSocket.ping();
  }

  #sendLater(text: string, flushed: Promise<void> | undefined): void {
    const length = Buffer.byteLength(text);
    this.#unflushed += length;
    const before = this.#pendingSends;
    const sending = Promise.all([before, flushed]).then(
      () => {
        this.#unflushed -= length;
        if (this.#pendingSends === sending) this.#pendingSends = null;
        this.#sendNow(text);
      },
      (failure: unknown) => this.fail(failure),
    );
    this.#pendingSends = sending;
  }

  #sendNow(text: string): void {
    this.#webSocket.send(text, this.#sent);
    if (this.#waiting >= MAX_WAITING_BYTES) this.#awaitRoom();
  }

  /** Called after bytes were written to the socket. */
  readonly #sent = (): void => {
    if (this.#waiting >= MAX_WAITING_BYTES) this.#stall?.refresh();
    else if (this.#stall !== null) {
      clearTimeout(this.#stall);
      this.#stall = null;
      this.#resume();
      void this.#client?.sendPending();
    }
  };

  #awaitRoom(): void {
    this.#stall ??= setTimeout(() => {
      const reason = `${this.#waiting} bytes are pending, and none was read for ${MAX_STALL_MS / 1_000} s`;
      this.#service.log.request(this.#request, 0, "SLOW_READER");
      this.close(TRY_AGAIN_LATER, reason);
    }, MAX_STALL_MS).unref();
  }

  /** Executes requests until the connection ends, each once there is room; while one waits, no others are read. */
  async #serve(): Promise<void> {
    const messages = on(this.#webSocket, "message", { close: ["close"], highWaterMark: 1 });
    try {
      for await (const [message] of messages) {
        while (this.#stall !== null && this.#isOpen) {
          await new Promise<void>((resolve) => {
            this.#resume = resolve;
          });
        }
        if (this.#isEnded) break;
        await this.#process(message as Buffer).catch((failure: unknown) => this.fail(failure));
      }
    } catch {
      // The connection has failed.
    }
    if (this.#stall !== null) clearTimeout(this.#stall);
    this.#client?.close();
  }

  async #process(message: Buffer): Promise<void> {
    this.#isAnswering = true;
    await this.#answer(message);
    this.#isAnswering = false;
    // Now, because the next request may replace the blocks that this one mined.
    await this.#client?.sendPending();
  }

  async #answer(message: Buffer): Promise<void> {
    const service = this.#service;
    const request = requestInfo(this.#nextId(), message);
    this.#request = request;
    const fault = service.faults.apply("callChain");
    request.fault = fault;
    if (fault !== null && fault.latencyMs > 0) {
      await new Promise<void>((resolve) => service.faults.delay(fault.latencyMs, resolve));
    }
    if (fault?.drop === "connection") return this.terminate();
    let status = 200;
    let text: string;
    try {
      if (fault !== null && fault.status !== null) throw injectedError(fault, fault.status);
      text = await this.#replyTo(message);
    } catch (failure) {
      const error = knownError(service, request, failure);
      status = error.status;
      text = errorText(service, error, request);
    } finally {
      service.clock.arm();
    }
    if (fault?.drop === "reply") return this.terminate();
    if (text !== "") this.send(text);
    await this.#pendingSends;
    logMessage(service, request, status);
  }

  async #replyTo(message: Buffer): Promise<string> {
    const { clock, exchange, persistence, chain } = this.#service;
    const { broken } = persistence;
    this.#client ??= (await chain()).connect(this);
    clock.advanceToNow();
    this.#request.firstCommand = exchange.sequence + 1;
    const text = await this.#client.answer(message, this.#isTrusted);
    this.#request.lastCommand = exchange.sequence;
    // The state from which the answer was made may have been rolled back meanwhile.
    if (persistence.broken !== broken) throw persistence.broken;
    return text;
  }
}

/** Returns a new record, because references to the requests of 1,000 connections make each minor GC three times as long. */
const requestInfo = (requestId: string, rawBody: Buffer | null): RequestInfo => ({
  ...{ method: "WS", url: CHAIN_PATH, requestId },
  ...{ arrivedAt: performance.now(), caller: "", rawBody, fault: null, firstCommand: 1, lastCommand: 0 },
});

function logMessage(service: Service, request: RequestInfo, status: number): void {
  service.stream.answered(request, status, undefined);
  service.log.request(request, status, request.fault?.ids);
}
