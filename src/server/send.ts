import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { CHAIN_PATH, chainErrorBody } from "../api/chain-rpc.ts";
import { ApiError, errorBody } from "../api/errors.ts";
import type { Slices } from "../engine/clock.ts";
import { PersistenceError } from "../engine/journal.ts";
import { allowedOrigin } from "./access.ts";
import {
  type Answer,
  type Incoming,
  JSON_MEDIA,
  JsonText,
  NO_CONTENT,
  Outgoing,
  pathOf,
  type RequestInfo,
  StreamedAnswer,
  slicesOf,
} from "./messages.ts";
import type { Service } from "./service.ts";

/** Status in the log if no answer was sent. */
const NO_STATUS = 0;
/** A longer text, in characters, is written in pieces, because a single write would delay other requests. */
const MAX_AT_ONCE = 256 * 1024;

export function sendAnswer(service: Service, request: Incoming, response: Outgoing, answer: Answer): void {
  if (answer === NO_CONTENT) {
    const { origin } = request.headers;
    sendEmpty(service, request, response, origin === undefined ? [] : corsHeaders(origin));
  } else if (answer instanceof StreamedAnswer) {
    if (answer.ended !== undefined) onDisconnect(request, response, answer.ended);
    send(service, request, response, contentOf(200, answer.pieces, answer.media));
  } else {
    const text = answer instanceof JsonText ? answer.text : JSON.stringify(answer);
    send(service, request, response, contentOf(200, text, JSON_MEDIA));
  }
}

/** Calls `ended` when the client of a streamed answer has disconnected. */
function onDisconnect(request: Incoming, response: Outgoing, ended: () => void): void {
  if (response.destroyed) ended();
  else response.once("close", ended);
  // Connections may be half open, so that without this a disconnected client is noticed only at the next write.
  request.socket.once("end", ended);
  response.shouldKeepAlive = false;
}

/** Answers with an error body. An error that is neither an `ApiError` nor a `PersistenceError` is logged as a defect. */
export function sendError(service: Service, request: Incoming, response: Outgoing, error: unknown): void {
  const known = knownError(service, request, error);
  if (response.headersSent) response.destroy();
  else send(service, request, response, errorContent(service, known, request));
}

export function knownError(service: Service, request: RequestInfo, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (!(error instanceof PersistenceError)) return defect(service, request, error);
  return new ApiError("UNAVAILABLE", error.message, {
    hint: `commands are refused, answered ones are persisted, and reads continue: ${error.reason === "disk" ? "free space on the disk and restart" : "restart"}`,
    status: 503,
  });
}

export function sendEmpty(
  service: Service,
  request: Incoming,
  response: Outgoing,
  headers: readonly string[],
): void {
  sendBytes(service, request, response, { status: 204, headers, bytes: null });
}

/** An answer that is not JSON of the exchange. */
export interface Bytes {
  readonly status: number;
  /** Flat header pairs. */
  readonly headers: readonly string[];
  /** null if the answer has no body. */
  readonly bytes: Uint8Array | null;
}

/** Answers with bytes, without CORS headers: pages of other origins may not read them. */
export function sendBytes(
  service: Service,
  request: Incoming,
  response: Outgoing,
  { status, headers, bytes }: Bytes,
): void {
  const raw = [...simHeaders(service, request.requestId), ...headers];
  if (bytes !== null) raw.push("content-length", String(bytes.length));
  if (request.warning !== "") raw.push("x-sim-warning", request.warning);
  post(service, request, response, () => {
    response.writeHead(status, raw);
    response.end(request.method === "HEAD" ? undefined : (bytes ?? undefined));
    log(service, request, status, undefined);
  });
}

/** Answers a refused upgrade request on its socket, which Node has detached from the server, and ends the connection. */
export function refuseUpgrade(service: Service, request: Incoming, socket: Duplex, error: unknown): void {
  const response = new Outgoing(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.once("finish", () => socket.end());
  sendError(service, request, response, error);
}

export function dropConnection(service: Service, request: Incoming, response: Outgoing): void {
  hangUp(service, request, response, "CONNECTION_DROPPED");
}

function hangUp(service: Service, request: Incoming, response: Outgoing, code: string): void {
  response.destroy();
  log(service, request, NO_STATUS, code);
}

function send(service: Service, request: Incoming, response: Outgoing, content: Content): void {
  const headers = simHeaders(service, request.requestId);
  post(service, request, response, () => sendNow(service, request, response, content, headers));
}

/** Writes an answer after all journal entries so far are durable. Must be called as soon as the answer is made. */
function post(service: Service, request: Incoming, response: Outgoing, write: () => void): void {
  const { position } = service.persistence;
  request.lastCommand = service.exchange.sequence;
  const leave = (): void => {
    if (request.fault?.drop === "reply") hangUp(service, request, response, "REPLY_DROPPED");
    else write();
  };
  const refuse = (failure: unknown): void => sendInstead(service, request, response, failure);
  service.outbox.post(() => {
    try {
      const flushed = service.persistence.flush(position);
      if (flushed === undefined) leave();
      else flushed.then(leave).catch(refuse);
    } catch (failure) {
      refuse(failure);
    }
  });
}

/** Answers with an error after persistence failed, which rolls the commands back, or after writing failed. */
function sendInstead(service: Service, request: Incoming, response: Outgoing, failure: unknown): void {
  const error = knownError(service, request, failure);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const headers = simHeaders(service, request.requestId);
  sendNow(service, request, response, errorContent(service, error, request), headers);
}

interface Content {
  readonly status: number;
  readonly body: string | StreamedAnswer["pieces"];
  readonly media: string;
  readonly error: ApiError | undefined;
}

const contentOf = (status: number, body: Content["body"], media: string, error?: ApiError): Content => ({
  status,
  body,
  media,
  error,
});

const errorContent = (service: Service, error: ApiError, request: RequestInfo): Content =>
  contentOf(error.status, errorText(service, error, request), JSON_MEDIA, error);

export function errorText({ options }: Service, error: ApiError, request: RequestInfo): string {
  const { url, requestId, rawBody } = request;
  const body =
    pathOf(url) === CHAIN_PATH
      ? chainErrorBody(error, requestId, rawBody, options.prefix)
      : errorBody(error, requestId, options.prefix);
  return JSON.stringify(body);
}

/** Writes an answer; `headers` carry the sequence and time at which it was made. */
function sendNow(
  service: Service,
  request: Incoming,
  response: Outgoing,
  { status, body, media, error }: Content,
  headers: string[],
): void {
  headers.push("content-type", media);
  const length = typeof body === "string" ? Buffer.byteLength(body) : null;
  if (length !== null) headers.push("content-length", String(length));
  if (request.fault !== null) headers.push("x-sim-fault", request.fault.ids);
  if (request.warning !== "") headers.push("x-sim-warning", request.warning);
  if (request.headers.origin !== undefined) headers.push(...corsHeaders(request.headers.origin));
  if (error?.help.headers !== undefined) headers.push(...Object.entries(error.help.headers).flat());
  response.writeHead(status, headers);
  const done = (): void => log(service, request, status, error?.code);
  if (request.method === "HEAD") {
    response.end();
    done();
  } else if (typeof body === "string" && body.length <= MAX_AT_ONCE) {
    // ASCII text is the same bytes in latin1, which Node writes faster.
    response.end(body, length === body.length ? "latin1" : "utf8");
    done();
  } else {
    const pieces = typeof body === "string" ? slicesOf(body) : body;
    writePieces(service.slices, response, pieces).then(done, (failure: unknown) => {
      knownError(service, request, failure);
      hangUp(service, request, response, "INTERNAL_ERROR");
    });
  }
}

/** Returns the headers of every response: request id, journal sequence and virtual time. */
export function simHeaders({ exchange }: Service, requestId: string): string[] {
  return [
    "x-request-id",
    requestId,
    "x-sim-sequence",
    String(exchange.sequence),
    "x-sim-time",
    String(exchange.now),
  ];
}

/** Returns headers that let pages of loopback origins, and no others, read the response. */
function corsHeaders(origin: string): string[] {
  const vary = ["vary", "origin"];
  if (!allowedOrigin(origin)) return vary;
  return [
    ...vary,
    "access-control-allow-origin",
    origin,
    "access-control-expose-headers",
    "x-request-id, x-sim-sequence, x-sim-time, x-sim-warning, x-sim-fault, retry-after",
  ];
}

function log(service: Service, request: Incoming, status: number, code: string | undefined): void {
  service.stream.answered(request, status, code);
  service.log.request({
    requestId: request.requestId,
    method: request.method,
    path: pathOf(request.url),
    status,
    ms: performance.now() - request.arrivedAt,
    code,
    warning: request.warning === "" ? undefined : request.warning,
  });
}

function defect(service: Service, request: RequestInfo, error: unknown): ApiError {
  const { exchange, options } = service;
  const facts = {
    requestId: request.requestId,
    version: options.version,
    seed: exchange.state.config.seed,
    sequence: exchange.sequence,
    method: request.method,
    path: pathOf(request.url),
  };
  service.log.defect(error, facts);
  service.reportDefect(error, `${facts.method} ${facts.path} failed`);
  const { method, path, ...details } = facts;
  return internalError({
    hint: "please report it with the details below and the log line of this request",
    details,
  });
}

export const internalError = (help: ApiError["help"] = {}): ApiError =>
  new ApiError(
    "INTERNAL_ERROR",
    "an internal error, which is a bug in clobsim: see the log of the server",
    help,
  );

/**
 * Writes the pieces of an answer as fast as the client reads them, in time slices, and ends it. Returns early if the
 * client disconnects.
 */
async function writePieces(
  slices: Slices,
  response: Outgoing,
  pieces: StreamedAnswer["pieces"],
): Promise<void> {
  let hasTime = await slices.next();
  for await (const piece of pieces) {
    if (response.destroyed) return;
    const hasRoom = response.write(piece);
    if (hasRoom && hasTime()) continue;
    if (!hasRoom) await drained(response);
    hasTime = await slices.next();
  }
  response.end();
}

function drained(response: Outgoing): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off("drain", go);
      response.off("close", go);
      resolve();
    };
    response.on("drain", go);
    response.on("close", go);
  });
}
