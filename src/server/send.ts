import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CHAIN_PATH, chainErrorBody } from "../api/chain-rpc.ts";
import { ApiError, errorBody } from "../api/errors.ts";
import type { Slices } from "../engine/clock.ts";
import { PersistenceError } from "../engine/journal.ts";
import { VERSION } from "../version.ts";
import { headersFor } from "./access.ts";
import {
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

/** A longer text, in characters, is written in pieces, because a single write would delay other requests. */
const MAX_AT_ONCE = 256 * 1024;

/** An answer before it is written. */
export interface Reply {
  readonly status: number;
  /** Flat header pairs, besides those of every answer. */
  readonly headers: readonly string[];
  /** null if there is none. */
  readonly body: string | StreamedAnswer["pieces"] | null;
  /** The error that it reports; undefined if there is none. */
  readonly error?: ApiError | undefined;
}

export interface TextReply extends Reply {
  readonly body: string;
}

/** Returns an answer in JSON, with the status and headers of the error that it reports. */
export const jsonReply = (body: string, headers: readonly string[], error?: ApiError): TextReply => ({
  status: error?.status ?? 200,
  headers: [...headers, "content-type", JSON_MEDIA, ...Object.entries(error?.help.headers ?? {}).flat()],
  body,
  error,
});

/** Answers with a body: a reply, its text, its pieces, or `NO_CONTENT`. */
export function sendAnswer(service: Service, response: Outgoing, answer: object): void {
  const headers = corsHeaders(response.req);
  if (answer === NO_CONTENT) send(service, response, { status: 204, headers, body: null });
  else if (answer instanceof StreamedAnswer) {
    if (answer.ended !== undefined) onDisconnect(response, answer.ended);
    headers.push("content-type", answer.media);
    send(service, response, { status: 200, headers, body: answer.pieces });
  } else {
    const text = answer instanceof JsonText ? answer.text : JSON.stringify(answer);
    send(service, response, jsonReply(text, headers));
  }
}

/** Calls `ended` when the client of a streamed answer has disconnected. */
function onDisconnect(response: Outgoing, ended: () => void): void {
  if (response.destroyed) ended();
  else response.once("close", ended);
  // Connections may be half open, so that without this a disconnected client is noticed only at the next write.
  response.req.socket.once("end", ended);
  response.shouldKeepAlive = false;
}

/** Answers with an error body. An error that is neither an `ApiError` nor a `PersistenceError` is logged as a defect. */
export function sendError(service: Service, response: Outgoing, error: unknown): void {
  const known = knownError(service, response.req, error);
  if (response.headersSent) response.destroy();
  else send(service, response, errorReply(service, response.req, known));
}

export function knownError(service: Service, request: RequestInfo, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (!(error instanceof PersistenceError)) return defect(service, request, error);
  return new ApiError("UNAVAILABLE", error.message, { hint: error.hint });
}

/** Answers a refused upgrade request on its socket, which Node has detached from the server, and ends the connection. */
export function refuseUpgrade(service: Service, request: Incoming, socket: Duplex, error: unknown): void {
  const response = new Outgoing(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.once("finish", () => socket.end());
  sendError(service, response, error);
}

/** Closes the connection instead of answering; `code` is for the log. */
export function hangUp(service: Service, response: Outgoing, code: string): void {
  response.destroy();
  log(service, response.req, 0, code);
}

/** Writes an answer after all journal entries so far are durable. Must be called as soon as the answer is made. */
export function send(service: Service, response: Outgoing, reply: Reply): void {
  const { persistence, exchange } = service;
  const { position } = persistence;
  const request = response.req;
  const headers = simHeaders(service, request.requestId);
  request.lastCommand = exchange.sequence;
  const deliver = (): void => {
    if (request.fault?.drop === "reply") hangUp(service, response, "REPLY_DROPPED");
    else write(service, response, reply, headers);
  };
  // Persistence failed, which rolls the commands back, or writing failed.
  const refuse = (failure: unknown): void => {
    const error = knownError(service, request, failure);
    if (response.headersSent) response.destroy();
    else
      write(service, response, errorReply(service, request, error), simHeaders(service, request.requestId));
  };
  service.outbox.post(() => {
    try {
      const flushed = persistence.flush(position);
      if (flushed === undefined) deliver();
      else flushed.then(deliver).catch(refuse);
    } catch (failure) {
      refuse(failure);
    }
  });
}

const errorReply = (service: Service, request: Incoming, error: ApiError): Reply =>
  jsonReply(errorText(service, error, request), corsHeaders(request), error);

export function errorText({ options }: Service, error: ApiError, request: RequestInfo): string {
  const { url, requestId, rawBody } = request;
  const body =
    pathOf(url) === CHAIN_PATH
      ? chainErrorBody(error, requestId, rawBody, options.prefix)
      : errorBody(error, requestId, options.prefix);
  return JSON.stringify(body);
}

/** Writes an answer; `sent` are the headers of the sequence and time at which it was made, to which the others are added. */
function write(
  service: Service,
  response: Outgoing,
  { status, headers, body, error }: Reply,
  sent: string[],
): void {
  const request = response.req;
  const { method, fault, warning } = request;
  sent.push(...headers);
  const length = typeof body === "string" ? Buffer.byteLength(body) : null;
  if (length !== null) sent.push("content-length", String(length));
  if (fault !== null) sent.push("x-sim-fault", fault.ids);
  if (warning !== "") sent.push("x-sim-warning", warning);
  response.writeHead(status, sent);
  const done = (): void => log(service, request, status, error?.code);
  if (method === "HEAD" || body === null) {
    response.end();
    done();
  } else if (typeof body === "string" && body.length <= MAX_AT_ONCE) {
    if (response.shouldKeepAlive || request.complete) response.endWith(body, length === body.length);
    else {
      // Node then closes the connection. What the client still sends would reset it before the client has read the answer.
      response.write(body);
      const late = setTimeout(() => response.end(), service.options.requestTimeoutMs);
      request.resume().once("close", () => response.end());
      response.once("close", () => clearTimeout(late));
    }
    done();
  } else {
    const pieces = typeof body === "string" ? slicesOf(body) : body;
    pipeline(inSlices(service.slices, pieces), response).then(done, (failure: NodeJS.ErrnoException) => {
      // The client has disconnected.
      if (failure.code === "ERR_STREAM_PREMATURE_CLOSE") return done();
      knownError(service, request, failure);
      hangUp(service, response, "INTERNAL_ERROR");
    });
  }
}

/** Returns the headers of every response: request id, journal sequence and virtual time. */
export function simHeaders({ exchange: { sequence, now } }: Service, requestId: string): string[] {
  return ["x-request-id", requestId, "x-sim-sequence", String(sequence), "x-sim-time", String(now)];
}

const EXPOSED_HEADERS = "x-request-id, x-sim-sequence, x-sim-time, x-sim-warning, x-sim-fault, retry-after";

/** Returns headers that let pages of loopback origins read the response; none for other clients than pages. */
const corsHeaders = ({ headers: { origin } }: Incoming): string[] =>
  origin === undefined ? [] : headersFor(origin, "access-control-expose-headers", EXPOSED_HEADERS);

function log(service: Service, request: Incoming, status: number, code: string | undefined): void {
  service.stream.answered(request, status, code);
  service.log.request(request, status, code, request.warning);
}

function defect(service: Service, request: RequestInfo, error: unknown): ApiError {
  const { exchange } = service;
  const facts = {
    requestId: request.requestId,
    version: VERSION,
    seed: exchange.state.config.seed,
    sequence: exchange.sequence,
    method: request.method,
    path: pathOf(request.url),
  };
  service.log.defect(error, facts);
  service.reportDefect(error, `${facts.method} ${facts.path} failed`);
  const { method, path, ...details } = facts;
  const hint = "please report it with the details below and the log line of this request";
  return internalError({ hint, details });
}

export const internalError = (help: ApiError["help"] = {}): ApiError =>
  new ApiError(
    "INTERNAL_ERROR",
    "an internal error, which is a bug in clobsim: see the log of the server",
    help,
  );

/** Yields the pieces of an answer in time slices. */
async function* inSlices(slices: Slices, pieces: StreamedAnswer["pieces"]) {
  let hasTime = await slices.next();
  for await (const piece of pieces) {
    yield piece;
    if (!hasTime()) hasTime = await slices.next();
  }
}
