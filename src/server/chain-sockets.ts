import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { CHAIN_PATH } from "../api/chain-rpc.ts";
import { ApiError } from "../api/errors.ts";
import { guardHost, guardOrigin, isTrusted } from "./access.ts";
import { injectedError } from "./faults.ts";
import { MAX_LARGE_BODY } from "./request-body.ts";
import { errorText, knownError, refuseUpgrade } from "./send.ts";
import type { Asked, ChainClient, ChainSink, Incoming, Service } from "./service.ts";

/** Bytes that wait for a client before it is told no more, beside one answer. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** How long a client for which something waits may take none of it. */
const MAX_STALL_MS = 10_000;
/** How often clients are asked whether they are still there; one that has not answered by the next time is not. */
const PING_MS = 20_000;
/** How long a client may take to hang up, once it was told to: it has first to read what waits for it. */
const CLOSE_GRACE_MS = 10_000;

/** Why a connection is closed, as RFC 6455 numbers it. */
const GOING_AWAY = 1001;
const DEFECT = 1011;
const TRY_AGAIN_LATER = 1013;

/** The WebSocket connections of one server, which all are clients of its chain. */
export class ChainSockets {
  readonly #service: Service;
  readonly #open = new Set<ChainSocket>();
  #server: Promise<WebSocketServer> | null = null;
  #pings: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Takes a connection over that wishes to become a WebSocket, under the guards of `POST /chain`. */
  async accept(request: Incoming, socket: Duplex, head: Buffer, nextId: () => string): Promise<void> {
    const service = this.#service;
    request.requestId = nextId();
    // Nobody else listens to it any more, and it may break before anybody does.
    const ignore = (): void => {};
    socket.on("error", ignore);
    try {
      guardHost(service.options, request);
      guardOrigin(request.headers, "the chain");
      if (this.#isClosed) throw new ApiError("UNAVAILABLE", "the server stops", { status: 503 });
    } catch (error) {
      refuseUpgrade(service, request, socket, error);
      return;
    }
    this.#server ??= loadServer();
    const server = await this.#server;
    socket.off("error", ignore);
    server.handleUpgrade(request, socket, head, (webSocket) => this.#admit(request, webSocket, nextId));
  }

  /** Says goodbye to every client; `terminate` cuts off those that do not go. */
  close(): void {
    this.#isClosed = true;
    if (this.#pings !== null) clearInterval(this.#pings);
    for (const client of this.#open) client.close(GOING_AWAY, "the server stops");
  }

  terminate(): void {
    for (const client of this.#open) client.terminate();
  }

  #admit(request: Incoming, webSocket: WebSocket, nextId: () => string): void {
    const client = new ChainSocket(this.#service, request, webSocket, nextId);
    this.#open.add(client);
    webSocket.on("close", () => this.#open.delete(client));
    if (this.#isClosed) client.close(GOING_AWAY, "the server stops");
    this.#pings ??= setInterval(() => {
      for (const each of this.#open) each.ping();
    }, PING_MS).unref();
    logMessage(this.#service, request, 101);
  }
}

/** Loaded with the first client: no start has to wait for it. */
async function loadServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import("ws");
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_LARGE_BODY,
  });
}

/**
 * One client: its requests are answered in the order in which they came and one at a time, each when the answer before
 * it has left, and it is told of what it has subscribed to in between. So it holds in memory what one read brings, one
 * answer and what `MAX_WAITING_BYTES` says, whatever it reads.
 */
class ChainSocket implements ChainSink {
  readonly #service: Service;
  /** The message that is answered, at first the request for the connection. */
  #asked: Asked;
  readonly #webSocket: WebSocket;
  readonly #nextId: () => string;
  readonly #isTrusted: boolean;
  readonly #messages: Buffer[] = [];
  #client: ChainClient | null = null;
  #isAnswering = false;
  /** Done when all that was sent before has left for the socket. */
  #leaving: Promise<void> | null = null;
  /** Bytes that wait to be kept first. */
  #unkept = 0;
  #stall: NodeJS.Timeout | null = null;
  #isAlive = true;

  constructor(service: Service, request: Incoming, webSocket: WebSocket, nextId: () => string) {
    this.#service = service;
    this.#asked = askedOf(request.requestId, null);
    this.#webSocket = webSocket;
    this.#nextId = nextId;
    this.#isTrusted = isTrusted(service.options, request.headers);
    webSocket.on("message", (data, isBinary) => this.#take(isBinary ? NO_TEXT : (data as Buffer)));
    webSocket.on("pong", () => {
      this.#isAlive = true;
    });
    // The close that follows says all that there is to say.
    webSocket.on("error", () => {});
    webSocket.on("close", () => this.#end());
  }

  /** Whether it may be told more: never between a request and its answer. */
  get hasRoom(): boolean {
    return this.#isOpen && !this.#isAnswering && this.#waiting < MAX_WAITING_BYTES;
  }

  get #isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  get #waiting(): number {
    return this.#unkept + this.#webSocket.bufferedAmount;
  }

  /** Sends a text, or its bytes, once all that it may show is kept. */
  send(text: string | Buffer): void {
    const { persistence } = this.#service;
    try {
      const kept = persistence.flush(persistence.position);
      if (kept === undefined && this.#leaving === null) this.#sendNow(text);
      else this.#sendLater(text, kept);
    } catch (failure) {
      this.fail(failure);
    }
  }

  /** Closes the connection: what it waits for cannot be told. */
  fail(failure: unknown): void {
    this.close(DEFECT, knownError(this.#service, this.#asked, failure).message);
  }

  close(code: number, reason: string): void {
    this.#client?.close();
    this.#messages.length = 0;
    // A reason has room for 123 bytes.
    this.#webSocket.close(code, reason.slice(0, 120));
    setTimeout(() => this.terminate(), CLOSE_GRACE_MS).unref();
  }

  terminate(): void {
    this.#webSocket.terminate();
  }

  /** Asks whether it is there; cuts it off where it has not answered the last time although it was listened to. */
  ping(): void {
    if (!this.#isAlive) {
      this.terminate();
      return;
    }
    this.#isAlive = this.#webSocket.isPaused;
    this.#webSocket.ping();
  }

  #sendLater(text: string | Buffer, kept: Promise<void> | undefined): void {
    const length = Buffer.byteLength(text);
    this.#unkept += length;
    const before = this.#leaving;
    const leaving = Promise.all([before, kept]).then(
      () => {
        this.#unkept -= length;
        if (this.#leaving === leaving) this.#leaving = null;
        this.#sendNow(text);
      },
      (failure: unknown) => this.fail(failure),
    );
    this.#leaving = leaving;
  }

  #sendNow(text: string | Buffer): void {
    this.#webSocket.send(text, AS_TEXT, this.#sent);
    if (this.#waiting >= MAX_WAITING_BYTES) this.#awaitRoom();
  }

  /** Something has left for the client. */
  readonly #sent = (): void => {
    if (this.#stall === null) return;
    if (this.#waiting >= MAX_WAITING_BYTES) {
      this.#stall.refresh();
      return;
    }
    clearTimeout(this.#stall);
    this.#stall = null;
    this.#continueJournal();
  };

  #awaitRoom(): void {
    this.#stall ??= setTimeout(() => {
      const waiting = `${this.#waiting} bytes wait, of which none was taken for ${MAX_STALL_MS / 1_000} s`;
      this.#service.log.request({ ...outcomeOf(this.#asked, 0), code: "SLOW_READER" });
      this.close(TRY_AGAIN_LATER, waiting);
    }, MAX_STALL_MS).unref();
  }

  #take(message: Buffer): void {
    this.#isAlive = true;
    if (!this.#isOpen) return;
    this.#messages.push(message);
    this.#continueJournal();
  }

  /** Answers the next request, or tells what is new, when the one before has left. */
  #continueJournal(): void {
    if (this.#isAnswering || this.#stall !== null) {
      if (this.#messages.length > 0) this.#webSocket.pause();
      return;
    }
    const message = this.#messages.shift();
    if (message === undefined) {
      if (this.#webSocket.isPaused) this.#webSocket.resume();
      this.#client?.tell();
      return;
    }
    this.#isAnswering = true;
    this.#answer(message).then(
      () => {
        this.#isAnswering = false;
        if (this.#isOpen) this.#continueJournal();
        else this.#end();
      },
      (failure: unknown) => this.fail(failure),
    );
  }

  async #answer(message: Buffer): Promise<void> {
    const service = this.#service;
    const request = askedOf(this.#nextId(), message);
    this.#asked = request;
    const fault = service.faults.areNone ? null : service.faults.apply("callChain");
    request.fault = fault;
    if (fault !== null && fault.latencyMs > 0) {
      await new Promise<void>((resolve) => service.faults.delay(fault.latencyMs, resolve));
    }
    if (fault?.drop === "connection") return this.terminate();
    let status = 200;
    let text: string;
    try {
      if (fault !== null && fault.status !== null) throw injectedError(fault, fault.status);
      text = await this.#textFor(message);
    } catch (failure) {
      const error = knownError(service, request, failure);
      status = error.status;
      text = errorText(error, request);
    } finally {
      service.clock.arm();
    }
    if (fault?.drop === "reply") return this.terminate();
    if (text !== "") this.send(text);
    await this.#leaving;
    logMessage(service, request, status);
  }

  async #textFor(message: Buffer): Promise<string> {
    const { clock, exchange, persistence, chain } = this.#service;
    const { broken } = persistence;
    this.#client ??= await chain.connect(this);
    clock.settle();
    this.#asked.firstCommand = exchange.sequence + 1;
    const text = await this.#client.answer(message, this.#isTrusted);
    this.#asked.lastCommand = exchange.sequence;
    // What it shows may have been undone while it was being made.
    if (persistence.broken !== broken) throw persistence.broken;
    return text;
  }

  #end(): void {
    if (this.#stall !== null) clearTimeout(this.#stall);
    this.#client?.close();
    this.#messages.length = 0;
  }
}

const NO_TEXT = Buffer.from([0]);
const AS_TEXT = { binary: false };

/** A record of its own: keeping the requests of 1,000 connections makes each collection of young garbage three times as long. */
const askedOf = (requestId: string, rawBody: Buffer | null): Asked => ({
  ...{ method: "WS", url: CHAIN_PATH, requestId },
  ...{ arrivedAt: performance.now(), caller: "", rawBody, fault: null, firstCommand: 1, lastCommand: 0 },
});

const outcomeOf = ({ requestId, arrivedAt, fault }: Asked, status: number) => ({
  requestId,
  method: "WS",
  path: CHAIN_PATH,
  status,
  ms: performance.now() - arrivedAt,
  code: fault?.id,
});

function logMessage(service: Service, request: Asked, status: number): void {
  service.stream.answered(request, status, undefined);
  service.log.request(outcomeOf(request, status));
}
