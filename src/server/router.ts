import type { Router } from "express";
import { type AnyBody, type Endpoint, isRaw, type JsonObject, readQuery } from "../api/endpoint.ts";
import { type AnyEndpoint, ENDPOINTS, isPathOf, type Operation } from "../api/endpoints.ts";
import { ApiError } from "../api/errors.ts";
import { orderBody } from "../api/order-request.ts";
import {
  readJsonObject,
  refusesUnknownFields,
  unknownFieldsError,
  unknownFieldsText,
} from "../api/request-body.ts";
import type { Numbers } from "../api/view.ts";
import { quoted, shortened } from "../core/format.ts";
import { nearest } from "../nearest.ts";
import { authenticate, guardControl } from "./access.ts";
import { type AppliedFault, injectedError } from "./faults.ts";
import { chainHandlers } from "./handlers/chain.ts";
import { controlHandlers } from "./handlers/control.ts";
import { marketHandlers } from "./handlers/markets.ts";
import { tradingHandlers } from "./handlers/trading.ts";
import {
  type Incoming,
  JsonText,
  MAX_BODY,
  MAX_LARGE_BODY,
  NO_BODY,
  type Outgoing,
  pathOf,
} from "./messages.ts";
import { recordRefusedRequest } from "./refused-requests.ts";
import { hangUp, send, sendAnswer, sendError } from "./send.ts";
import { type AnyHandler, type Handlers, type Service, viewOf } from "./service.ts";

const HANDLERS: Handlers<Operation> = {
  ...tradingHandlers,
  ...marketHandlers,
  ...controlHandlers,
  ...chainHandlers,
};

type Routed = Incoming & { readonly params: Record<string, string> };
type Responder = (request: Routed, response: Outgoing) => void;

/** Handles requests for one endpoint: access, reading the body, faults, time, signature, query, parsing the body, answer. */
function responderOf(service: Service, endpoint: AnyEndpoint): Responder {
  const maximum = endpoint.access === "control" || isRaw(endpoint.body) ? MAX_LARGE_BODY : MAX_BODY;
  const { faults, persistence } = service;
  return (request, response) => {
    const fail = (error: unknown, body: Buffer = NO_BODY): void => {
      recordRefusedRequest(service, endpoint, request, body, error);
      sendError(service, response, withWarning(error, request.warning));
    };
    // Runs at once, up to its end if the handler answers at once.
    const answerWith = async (body: Buffer): Promise<void> => {
      try {
        if (body.length > 0 && request.isChunked) request.checkMediaType();
        const { broken } = persistence;
        let answer = answerOf(service, endpoint, request, body);
        if (answer instanceof Promise) {
          answer = await answer.finally(() => {
            // The state from which the answer was made may have been rolled back meanwhile.
            if (persistence.broken !== broken) throw persistence.broken;
          });
        }
        sendAnswer(service, response, answer);
      } catch (error) {
        fail(error, body);
      }
      service.clock.arm();
    };
    const arrived = (body: Buffer): void => {
      if (isRaw(endpoint.body)) request.rawBody = body;
      const fault = faults.apply(endpoint.operation);
      if (fault === null) void answerWith(body);
      else applyFault(service, fault, response, () => void answerWith(body));
    };
    try {
      if (endpoint.access === "control") guardControl(service.options, request);
      if (!request.isChunked) {
        if (request.announcedLength === 0) return arrived(NO_BODY);
        request.checkMediaType();
      }
    } catch (error) {
      return fail(error);
    }
    request.readBody(maximum, (error, body) => (error === null ? arrived(body) : fail(error)));
  };
}

/** Repeats a warning in the hint of an error in the request's form: the field that is missing may have another name. */
function withWarning(error: unknown, warning: string): unknown {
  const isOfForm = error instanceof ApiError && error.status === 400 && error.command === null;
  if (!isOfForm || warning === "") return error;
  const { code, message, help } = error;
  return new ApiError(code, message, {
    ...help,
    hint: help.hint === undefined ? warning : `${warning}; ${help.hint}`,
  });
}

/**
 * Answers a complete request: processes what is due on the clock, then checks signature, query and body, then calls the
 * handler. @throws ApiError if the request is refused.
 */
export function answerOf(
  service: Service,
  endpoint: AnyEndpoint,
  request: Routed,
  body: Buffer,
): object | Promise<object> {
  service.clock.advanceToNow();
  request.firstCommand = service.exchange.sequence + 1;
  if (endpoint.access === "signed") request.caller = authenticate(service, request, body);
  const policy = unknownFieldsPolicy(service, endpoint, request);
  const call = {
    query: readQuery(endpoint.query, request.url, policy.check, policy.warn),
    body: bodyOf(endpoint.body, body, service.numbers, policy),
    path: request.params,
    caller: request.caller,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
  };
  return (HANDLERS[endpoint.operation] as AnyHandler)(call, service, viewOf(service));
}

type UnknownFieldsPolicy = ReturnType<typeof unknownFieldsPolicy>;

/** Returns what is done about parts of a request that its endpoint does not take. */
function unknownFieldsPolicy(service: Service, endpoint: AnyEndpoint, request: Incoming) {
  const isRefused = refusesUnknownFields(endpoint, service.options.unknownFields);
  const warn = (sentence: string): void => {
    request.warning = request.warning === "" ? sentence : `${request.warning}; ${sentence}`;
  };
  const check = (names: readonly string[], known: readonly string[]): void => {
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length === 0) return;
    if (isRefused) throw unknownFieldsError(unknown, known, endpoint);
    warn(unknownFieldsText(unknown, known));
  };
  return { isRefused, warn, check };
}

function bodyOf(spec: AnyBody, bytes: Buffer, numbers: Numbers, policy: UnknownFieldsPolicy): unknown {
  if (spec === null) {
    if (bytes.length > 0) policy.check(fieldsIn(bytes, policy), []);
    return null;
  }
  if (isRaw(spec)) return bytes;
  const object: JsonObject = bytes.length === 0 && !spec.required ? {} : readJsonObject(bytes);
  policy.check(Object.keys(object), spec.fields);
  return spec.read(object, numbers);
}

/** Returns the fields of a body sent to an endpoint that takes none. */
function fieldsIn(bytes: Buffer, { isRefused, warn }: UnknownFieldsPolicy): string[] {
  try {
    return Object.keys(readJsonObject(bytes));
  } catch (error) {
    if (isRefused) throw error;
    warn("the body is ignored: it is not a JSON object, and none is expected");
    return [];
  }
}

/**
 * Applies a fault to a complete request that has not been parsed; `execute` continues with it. A fault that drops the
 * reply takes effect in `send.ts`. If the client disconnects during the latency, the request is still executed.
 */
function applyFault(service: Service, fault: AppliedFault, response: Outgoing, execute: () => void): void {
  response.req.fault = fault;
  const apply = (): void => {
    if (fault.status !== null) sendError(service, response, injectedError(fault, fault.status));
    else if (fault.drop === "connection") hangUp(service, response, "CONNECTION_DROPPED");
    else execute();
  };
  if (fault.latencyMs === 0) apply();
  else service.faults.delay(fault.latencyMs, apply);
}

/** Mounts the methods of each path, and OPTIONS with their list. Other methods get a 405, other paths a 404. */
export function mountEndpoints(router: Router, service: Service): void {
  const { prefix } = service.options;
  const paths = [...new Set(ENDPOINTS.map(({ path }) => path))];
  for (const path of paths) {
    const route = router.route(path.replace(/\{(\w+)\}/g, ":$1"));
    const endpoints = ENDPOINTS.filter((endpoint) => endpoint.path === path);
    for (const endpoint of endpoints) {
      const respond = responderOf(service, endpoint);
      route[endpoint.method.toLowerCase() as Lowercase<Endpoint["method"]>](respond as never);
    }
    const methods: string[] = endpoints.map(({ method }) => method);
    const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
    const others: Responder = (request, response) => {
      if (request.method === "OPTIONS") {
        send(service, response, { status: 204, headers: ["allow", allow], body: null });
        return;
      }
      const found = `${prefix}${pathOf(request.url)} takes ${allow}, found ${request.method}`;
      sendError(service, response, new ApiError("METHOD_NOT_ALLOWED", found, { headers: { allow } }));
    };
    route.all(others as never);
  }
  router.use(((request, response) =>
    sendError(service, response, routeNotFound(prefix, pathOf(request.url), paths))) as Responder as never);
}

/** `path` is below `prefix`; the message has the whole path, as the client sent it. */
function routeNotFound(prefix: string, path: string, known: readonly string[]): ApiError {
  const noRoute = `no route ${quoted(prefix + path, 200)}`;
  if (path === "/") {
    const hint = "a browser gets the inspector here; GET /openapi.json lists all routes";
    return new ApiError("ROUTE_NOT_FOUND", noRoute, { hint, headers: { vary: "accept" } });
  }
  const bare = path.replace(/\/+$/, "");
  const like =
    [bare, `/api${bare}`, `/clob${bare}`].find((each) => known.some((route) => isPathOf(route, each))) ??
    known.find((route) => route.startsWith(`${bare}/{`)) ??
    known.find((route) => route.lastIndexOf("/") > 0 && bare.startsWith(`${route}/`)) ??
    nearest(bare, known);
  const hint =
    like === undefined
      ? "GET /openapi.json lists all routes"
      : `did you mean ${shortened(like, 200)}? Paths are case-sensitive and have no trailing slash`;
  return new ApiError("ROUTE_NOT_FOUND", noRoute, { hint });
}

/** Part of a service that the handlers of trading, books, accounts, markets, bots and the chain use. */
export type CalledService = Pick<Service, "exchange" | "numbers" | "books" | "bots">;

/** A request before it is encoded for HTTP. */
export interface DirectCall {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  /** Address of the calling account, for signed endpoints. */
  readonly caller?: string;
}

/**
 * Calls the handler of an endpoint in this process, without HTTP, signature, injected faults and JSON. Only the body of an
 * order is parsed here; all other bodies, and queries, must be as their readers return them.
 * @throws ApiError if the request is refused.
 */
export function callHandler(
  service: CalledService,
  operation: Operation,
  { path = {}, query = {}, body = {}, caller = "" }: DirectCall = {},
): object | Promise<object> {
  const read = operation === "placeOrder" ? orderBody.read(body as JsonObject, service.numbers) : body;
  const call = { path, query, body: read, caller, headers: {}, rawHeaders: [] };
  const answer = (HANDLERS[operation] as AnyHandler)(call, service as Service, viewOf(service));
  return answer instanceof JsonText ? (JSON.parse(answer.text) as object) : answer;
}
