import type { Express } from "express";
import type { BodySpec, Endpoint } from "../wire/endpoint.ts";
import { type AnyEndpoint, ENDPOINTS, type Operation } from "../wire/endpoints/all.ts";
import { ApiError } from "../wire/errors.ts";
import { type JsonObject, readJsonObject } from "../wire/json-body.ts";
import { nearest, unknownFieldsWarning } from "../wire/nearest.ts";
import { readQuery } from "../wire/query.ts";
import { authenticate, guardControl } from "./authentication.ts";
import type { Incoming, Outgoing } from "./exchange-message.ts";
import type { Answer, Call, Handlers } from "./handler.ts";
import { JsonText } from "./handler.ts";
import { checkMediaType, hasBody, NO_BODY, readBody } from "./raw-body.ts";
import { pathOf, sendAnswer, sendEmpty, sendError } from "./send.ts";
import type { Service } from "./service.ts";

type AnyHandler = (call: Call<unknown, unknown>, service: Service) => Answer | Promise<Answer>;
type Route = (request: Incoming & { params: Record<string, string> }, response: Outgoing) => void;

const KIB = 1024;
/** Bytes of a body on the imitated API, and on the control plane. */
const MAX_BODY = 64 * KIB;
const MAX_CONTROL_BODY = 1024 * KIB;

/** Gives every path its methods and, for all others, a 405; then everything else its 404. */
export function mountEndpoints(app: Express, service: Service, handlers: Handlers<Operation>): void {
  const routes = new Map<string, Map<Endpoint["method"], Route>>();
  for (const endpoint of ENDPOINTS) {
    const methods = routes.get(endpoint.path) ?? new Map<Endpoint["method"], Route>();
    methods.set(endpoint.method, routeOf(service, endpoint, handlers[endpoint.operation] as AnyHandler));
    routes.set(endpoint.path, methods);
  }
  routes.set("/openapi.json", new Map([["GET", openApiRoute(service)]]));
  for (const [path, methods] of routes) mountPath(app, service, path, methods);
  const notFound: Route = (request, response) =>
    sendError(service, request, response, routeNotFound(pathOf(request.url), [...routes.keys()]));
  app.use(notFound as never);
}

const openApiRoute =
  (service: Service): Route =>
  (request, response) => {
    service.openApi().then(
      (text) => sendAnswer(service, request, response, new JsonText(text)),
      (error: unknown) => sendError(service, request, response, error),
    );
  };

/** One path: its methods, the methods it does not have, and OPTIONS, which names those it has. */
function mountPath(
  app: Express,
  service: Service,
  path: string,
  methods: ReadonlyMap<Endpoint["method"], Route>,
): void {
  const route = app.route(path.replace(/\{(\w+)\}/g, ":$1"));
  for (const [method, handle] of methods) {
    if (method === "GET") route.get(handle as never);
    else if (method === "POST") route.post(handle as never);
    else route.delete(handle as never);
  }
  const allow = [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  const others: Route = (request, response) => {
    if (request.method === "OPTIONS") {
      sendEmpty(service, request, response, ["allow", allow]);
      return;
    }
    const found = `${pathOf(request.url)} takes ${allow}, found ${request.method}`;
    sendError(service, request, response, new ApiError("METHOD_NOT_ALLOWED", found, { headers: { allow } }));
  };
  route.all(others as never);
}

/** What one endpoint does with a request: body, time, caller, query, body's meaning, answer; in this order. */
function routeOf(service: Service, endpoint: AnyEndpoint, handle: AnyHandler): Route {
  const maximum = endpoint.access === "control" ? MAX_CONTROL_BODY : MAX_BODY;
  return (request, response) => {
    const answerWith = (body: Buffer): void => {
      try {
        const answer = answerOf(service, endpoint, handle, request, body);
        if (answer instanceof Promise) {
          answer
            .then((late) => sendAnswer(service, request, response, late))
            .catch((error: unknown) => sendError(service, request, response, error))
            .finally(() => service.clock.arm());
          return;
        }
        sendAnswer(service, request, response, answer);
      } catch (error) {
        sendError(service, request, response, error);
      }
      service.clock.arm();
    };
    if (!hasBody(request)) {
      answerWith(NO_BODY);
      return;
    }
    try {
      checkMediaType(request);
    } catch (error) {
      request.resume();
      sendError(service, request, response, error);
      return;
    }
    readBody(request, maximum, (error, body) => {
      if (error === null) answerWith(body);
      else sendError(service, request, response, error);
    });
  };
}

function answerOf(
  service: Service,
  endpoint: AnyEndpoint,
  handle: AnyHandler,
  request: Incoming & { params: Record<string, string> },
  body: Buffer,
): Answer | Promise<Answer> {
  if (endpoint.access === "control") guardControl(service.options, request);
  service.clock.settle();
  const caller = endpoint.access === "signed" ? authenticate(service, request, body) : "";
  const query = readQuery(endpoint.query, request.url);
  if (query.unknown.length > 0) warn(request, query.unknown, Object.keys(endpoint.query));
  const call = {
    query: query.values,
    body: bodyOf(endpoint.body, request, body),
    path: request.params,
    caller,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
  };
  return handle(call, service);
}

function bodyOf(spec: BodySpec<unknown> | null, request: Incoming, bytes: Buffer): unknown {
  if (spec === null) return null;
  const object: JsonObject = bytes.length === 0 && !spec.required ? {} : readJsonObject(bytes);
  const unknown = Object.keys(object).filter((name) => !spec.fields.includes(name));
  if (unknown.length > 0) warn(request, unknown, spec.fields);
  return spec.read(object);
}

function warn(request: Incoming, unknown: readonly string[], known: readonly string[]): void {
  const warning = unknownFieldsWarning(unknown, known);
  request.warning = request.warning === "" ? warning : `${request.warning}; ${warning}`;
}

function routeNotFound(path: string, known: readonly string[]): ApiError {
  const like = nearest(path.replace(/\/+$/, ""), known);
  return new ApiError("ROUTE_NOT_FOUND", `no route ${JSON.stringify(path.slice(0, 200))}`, {
    hint:
      like === undefined
        ? "GET /openapi.json lists all routes"
        : `did you mean ${like}? Paths are case-sensitive and have no trailing slash`,
  });
}
