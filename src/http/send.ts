import { NotKeptError } from "../runtime/journal.ts";
import { ApiError, errorBody } from "../wire/errors.ts";
import { allowedOrigin } from "./cross-origin.ts";
import type { Incoming, Outgoing } from "./exchange-message.ts";
import { type Answer, JSON_MEDIA, JsonText, SILENCE } from "./handler.ts";
import type { Service } from "./service.ts";

/** What the log says instead of a status where nothing was answered. */
const NO_STATUS = 0;

/** The part of a target before the query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** Answers 200 with a JSON body, or 204 without one. */
export function sendAnswer(service: Service, request: Incoming, response: Outgoing, answer: Answer): void {
  if (answer === SILENCE) {
    const { origin } = request.headers;
    sendEmpty(service, request, response, origin === undefined ? [] : corsHeaders(origin));
    return;
  }
  const isText = answer instanceof JsonText;
  const text = isText ? answer.text : JSON.stringify(answer);
  send(service, request, response, readyOf(service, request, 200, text, isText ? answer.media : JSON_MEDIA));
}

/** Answers with an error body; anything but an `ApiError` is a defect, and is logged with all that helps to find it. */
export function sendError(service: Service, request: Incoming, response: Outgoing, error: unknown): void {
  const told = known(service, request, error);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const text = JSON.stringify(errorBody(told, request.requestId));
  send(service, request, response, readyOf(service, request, told.status, text, JSON_MEDIA, told));
}

/** An error as its caller is told of it. */
function known(service: Service, request: Incoming, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (!(error instanceof NotKeptError)) return defect(service, request, error);
  return new ApiError("UNAVAILABLE", error.message, {
    hint: `nothing more is accepted, what was answered is safe, and reading goes on: ${error.reason === "disk" ? "make room on the disk and start again" : "start again"}`,
    status: 503,
  });
}

/** Answers a preflight or an OPTIONS with headers alone. */
export function sendEmpty(
  service: Service,
  request: Incoming,
  response: Outgoing,
  headers: readonly string[],
): void {
  if (request.fault?.drop === "reply") {
    hangUp(service, request, response, "REPLY_DROPPED");
    return;
  }
  const raw = [...simHeaders(service, request.requestId), ...headers];
  const write = (): void => {
    response.writeHead(204, raw);
    response.end();
    log(service, request, 204, undefined);
  };
  post(service, request, response, write);
}

/** Hangs up on a request that has not been executed. */
export function dropConnection(service: Service, request: Incoming, response: Outgoing): void {
  hangUp(service, request, response, "CONNECTION_DROPPED");
}

function hangUp(service: Service, request: Incoming, response: Outgoing, code: string): void {
  response.destroy();
  log(service, request, NO_STATUS, code);
}

const send = (service: Service, request: Incoming, response: Outgoing, ready: Ready): void =>
  post(service, request, response, () => sendNow(service, request, response, ready));

/** Writes what has been made, once all that it may show is kept. */
function post(service: Service, request: Incoming, response: Outgoing, write: () => void): void {
  const refuse = (failure: unknown): void => sendInstead(service, request, response, failure);
  service.outbox.post(() => {
    try {
      const kept = service.keeper.keep();
      if (kept === undefined) write();
      else kept.then(write).catch(refuse);
    } catch (failure) {
      refuse(failure);
    }
  });
}

/** Answers for what cannot be kept, which is undone, so that nobody is told that it had happened; or be written. */
function sendInstead(service: Service, request: Incoming, response: Outgoing, failure: unknown): void {
  const error = known(service, request, failure);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const text = JSON.stringify(errorBody(error, request.requestId));
  sendNow(service, request, response, readyOf(service, request, error.status, text, JSON_MEDIA, error));
}

/** An answer that is ready to leave. */
interface Ready {
  readonly status: number;
  readonly text: string;
  readonly media: string;
  readonly error: ApiError | undefined;
  /** What the exchange was at when it was made. */
  readonly headers: string[];
}

const readyOf = (
  service: Service,
  { requestId }: Incoming,
  status: number,
  text: string,
  media: string,
  error?: ApiError,
): Ready => ({ status, text, media, error, headers: simHeaders(service, requestId) });

function sendNow(
  service: Service,
  request: Incoming,
  response: Outgoing,
  { status, text, media, error, headers }: Ready,
): void {
  if (request.fault?.drop === "reply") {
    hangUp(service, request, response, "REPLY_DROPPED");
    return;
  }
  headers.push("content-type", media);
  const length = Buffer.byteLength(text);
  headers.push("content-length", String(length));
  if (request.fault !== null) headers.push("x-sim-fault", request.fault.id);
  if (request.warning !== "") headers.push("x-sim-warning", request.warning);
  if (request.headers.origin !== undefined) headers.push(...corsHeaders(request.headers.origin));
  if (error?.help.headers !== undefined) headers.push(...Object.entries(error.help.headers).flat());
  response.writeHead(status, headers);
  // Text without a character above ASCII is the same bytes in latin1, which Node writes faster.
  response.end(text, length === text.length ? "latin1" : "utf8");
  log(service, request, status, error?.code);
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
  service.log.request({
    requestId: request.requestId,
    method: request.method,
    path: pathOf(request.url),
    status,
    ms: performance.now() - request.arrivedAt,
    code,
  });
}

function defect(service: Service, request: Incoming, error: unknown): ApiError {
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
