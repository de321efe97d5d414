import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { CHAIN_PATH, chainErrorBody } from "../api/chain-rpc.ts";
import { ApiError, errorBody } from "../api/errors.ts";
import { PersistenceError } from "../engine/journal.ts";
import type { Slices } from "../engine/slices.ts";
import { allowedOrigin } from "./access.ts";
import {
  type Answer,
  type Asked,
  type Incoming,
  JSON_MEDIA,
  JsonText,
  Outgoing,
  Pieces,
  pathOf,
  type Service,
  SILENCE,
} from "./service.ts";

/** What the log says instead of a status where nothing was answered. */
const NO_STATUS = 0;
/** A text of more characters is written piece by piece: in one go it would hold up everybody else. */
const MAX_AT_ONCE = 256 * 1024;

export function sendAnswer(service: Service, request: Incoming, response: Outgoing, answer: Answer): void {
  if (answer === SILENCE) {
    const { origin } = request.headers;
    sendEmpty(service, request, response, origin === undefined ? [] : corsHeaders(origin));
  } else if (answer instanceof Pieces) {
    if (answer.ended !== undefined) whenOver(request, response, answer.ended);
    send(service, request, response, contentOf(200, answer.pieces, answer.media));
  } else if (answer instanceof JsonText) {
    send(service, request, response, contentOf(200, answer.text, answer.media));
  } else {
    send(service, request, response, contentOf(200, JSON.stringify(answer), JSON_MEDIA));
  }
}

/** Calls `ended` when an answer that need not end can reach nobody any more. */
function whenOver(request: Incoming, response: Outgoing, ended: () => void): void {
  if (response.destroyed) ended();
  else response.once("close", ended);
  // Who hangs up is not noticed otherwise before something is written: half a connection is as good as one.
  request.socket.once("end", ended);
  response.shouldKeepAlive = false;
}

/** Answers with an error body; anything but an `ApiError` is a defect, and is logged with all that helps to find it. */
export function sendError(service: Service, request: Incoming, response: Outgoing, error: unknown): void {
  const known = knownError(service, request, error);
  if (response.headersSent) response.destroy();
  else send(service, request, response, errorContent(known, request));
}

export function knownError(service: Service, request: Asked, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (!(error instanceof PersistenceError)) return defect(service, request, error);
  return new ApiError("UNAVAILABLE", error.message, {
    hint: `nothing more is accepted, what was answered is safe, and reading goes on: ${error.reason === "disk" ? "make room on the disk and start again" : "start again"}`,
    status: 503,
  });
}

export function sendEmpty(
  service: Service,
  request: Incoming,
  response: Outgoing,
  headers: readonly string[],
): void {
  const raw = [...simHeaders(service, request.requestId), ...headers];
  if (request.warning !== "") raw.push("x-sim-warning", request.warning);
  post(service, request, response, () => {
    response.writeHead(204, raw);
    response.end();
    log(service, request, 204, undefined);
  });
}

/** An answer that is no JSON of the exchange. */
export interface Bytes {
  readonly status: number;
  /** Flat header pairs. */
  readonly headers: readonly string[];
  /** Null: no body belongs to this answer. */
  readonly bytes: Uint8Array | null;
}

/** Answers with bytes; pages of other origins may not read them. */
export function sendBytes(
  service: Service,
  request: Incoming,
  response: Outgoing,
  { status, headers, bytes }: Bytes,
): void {
  const length = bytes === null ? [] : ["content-length", String(bytes.length)];
  const raw = [...simHeaders(service, request.requestId), ...headers, ...length];
  post(service, request, response, () => {
    response.writeHead(status, raw);
    response.end(request.method === "HEAD" ? undefined : (bytes ?? undefined));
    log(service, request, status, undefined);
  });
}

/** Answers a request that wished for another protocol, whose connection nobody reads any more, and ends that. */
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

/** Writes an answer that was made just now, once all that it may show is kept. */
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
      const kept = service.persistence.flush(position);
      if (kept === undefined) leave();
      else kept.then(leave).catch(refuse);
    } catch (failure) {
      refuse(failure);
    }
  });
}

/** Answers for what cannot be kept, which is undone, so that nobody is told that it had happened; or be written. */
function sendInstead(service: Service, request: Incoming, response: Outgoing, failure: unknown): void {
  const error = knownError(service, request, failure);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const headers = simHeaders(service, request.requestId);
  sendNow(service, request, response, errorContent(error, request), headers);
}

interface Content {
  readonly status: number;
  readonly body: string | Pieces["pieces"];
  readonly media: string;
  readonly error: ApiError | undefined;
}

const contentOf = (status: number, body: Content["body"], media: string, error?: ApiError): Content => ({
  status,
  body,
  media,
  error,
});

function errorContent(error: ApiError, { url, requestId, rawBody }: Asked): Content {
  const isChain = pathOf(url) === CHAIN_PATH;
  const body = isChain ? chainErrorBody(error, requestId, rawBody) : errorBody(error, requestId);
  return contentOf(error.status, JSON.stringify(body), JSON_MEDIA, error);
}

export const errorText = (error: ApiError, request: Asked): string =>
  errorContent(error, request).body as string;

/** `headers` say where the exchange stood when the answer was made. */
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
  if (request.fault !== null) headers.push("x-sim-fault", request.fault.id);
  if (request.warning !== "") headers.push("x-sim-warning", request.warning);
  if (request.headers.origin !== undefined) headers.push(...corsHeaders(request.headers.origin));
  if (error?.help.headers !== undefined) headers.push(...Object.entries(error.help.headers).flat());
  response.writeHead(status, headers);
  const done = (): void => log(service, request, status, error?.code);
  if (request.method === "HEAD") {
    response.end();
    done();
  } else if (typeof body === "string" && body.length <= MAX_AT_ONCE) {
    // Text without a character above ASCII is the same bytes in latin1, which Node writes faster.
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

/** Request id, journal sequence and virtual time: every response carries them. */
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

/** Lets pages of loopback origins read the response; others are not named, so that browsers keep it from them. */
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

function defect(service: Service, request: Asked, error: unknown): ApiError {
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
  const { method, path, ...shown } = facts;
  return new ApiError("INTERNAL_ERROR", "a defect in clobsim; the server's log has the details", {
    hint: "please report it with the details below and the log line of this request",
    details: shown,
  });
}

const PIECE_LENGTH = 64 * 1024;

/**
 * Writes the pieces of an answer as the client takes them, while others have their turn, and ends it. Stops without a word
 * when the client goes away.
 */
async function writePieces(slices: Slices, response: Outgoing, pieces: Pieces["pieces"]): Promise<void> {
  let hasTime = await slices.next();
  for await (const piece of pieces) {
    if (response.destroyed) return;
    const hasRoom = response.write(piece);
    if (hasRoom && hasTime()) continue;
    if (!hasRoom) await roomIn(response);
    hasTime = await slices.next();
  }
  response.end();
}

function roomIn(response: Outgoing): Promise<void> {
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

/** Lines of text, each followed by a line feed or something else, put together into pieces worth a write. */
export function* inPieces(lines: Iterable<string>, end = "\n"): Generator<string> {
  let piece = "";
  for (const line of lines) {
    piece += line + end;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

export function* slicesOf(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += PIECE_LENGTH) yield bytes.subarray(at, at + PIECE_LENGTH);
}
