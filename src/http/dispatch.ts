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

/** Gives every endpoint its route, then every path its 405, then everything else its 404. */
export function mountEndpoints(app: Express, service: Service, handlers: Handlers<Operation>): void {
  const methodsOf = new Map<string, string[]>();
  for (const endpoint of ENDPOINTS) {
    const path = expressPath(endpoint.path);
    methodsOf.set(path, [...(methodsOf.get(path) ?? []), endpoint.method]);
    const route = routeOf(service, endpoint, handlers[endpoint.operation] as AnyHandler);
    mount(app, endpoint.method, path, route);
  }
  methodsOf.set("/openapi.json", ["GET"]);
  mount(app, "GET", "/openapi.json", (request, response) => {
    service.openApi().then(
      (text) => sendAnswer(service, request, response, new JsonText(text)),
      (error: unknown) => sendError(service, request, response, error),
    );
  });
  for (const [path, methods] of methodsOf) mountOthers(app, service, path, methods);
  const known = [...methodsOf.keys()];
  app.use(((request: Incoming, response: Outgoing): void =>
    sendError(service, request, response, routeNotFound(pathOf(request.url), known))) as never);
}

const expressPath = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

function mount(app: Express, method: Endpoint["method"], path: string, route: Route): void {
  const handler = route as unknown as Parameters<Express["get"]>[1];
  if (method === "GET") app.get(path, handler as never);
  else if (method === "POST") app.post(path, handler as never);
  else app.delete(path, handler as never);
}

/** Answers the methods that a path does not have. */
function mountOthers(app: Express, service: Service, path: string, methods: readonly string[]): void {
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  const route: Route = (request, response) => {
    if (request.method === "OPTIONS") {
      sendEmpty(service, request, response, ["allow", allow]);
      return;
    }
    const error = new ApiError(
      "METHOD_NOT_ALLOWED",
      `${pathOf(request.url)} takes ${allow}, found ${request.method}`,
      {
        headers: { allow },
      },
    );
    sendError(service, request, response, error);
  };
  app.all(path, route as never);
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
  if (body.length > 0) checkMediaType(request);
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
  const templates = known.map((route) => route.replace(/:(\w+)/g, "{$1}"));
  const like = nearest(path.replace(/\/+$/, ""), templates);
  return new ApiError("ROUTE_NOT_FOUND", `no route ${JSON.stringify(path.slice(0, 200))}`, {
    hint:
      like === undefined
        ? "GET /openapi.json lists all routes"
        : `did you mean ${like}? Paths are case-sensitive and have no trailing slash`,
  });
}
