import type { Router } from "express";
import type { Endpoint } from "../api/endpoint.ts";
import { ENDPOINTS, type Operation } from "../api/endpoints/all.ts";
import { ApiError } from "../api/errors.ts";
import { nearest } from "../api/nearest.ts";
import type { Handlers } from "./handler.ts";
import { type AnyHandler, type Route, routeOf } from "./route.ts";
import { pathOf, sendEmpty, sendError } from "./send.ts";
import type { Service } from "./service.ts";

/** Gives every path its methods and, for all others, a 405; then everything else its 404. */
export function mountEndpoints(router: Router, service: Service, handlers: Handlers<Operation>): void {
  const routes = new Map<string, Map<Endpoint["method"], Route>>();
  for (const endpoint of ENDPOINTS) {
    const methods = routes.get(endpoint.path) ?? new Map<Endpoint["method"], Route>();
    methods.set(endpoint.method, routeOf(service, endpoint, handlers[endpoint.operation] as AnyHandler));
    routes.set(endpoint.path, methods);
  }
  for (const [path, methods] of routes) mountPath(router, service, path, methods);
  const notFound: Route = (request, response) =>
    sendError(service, request, response, routeNotFound(pathOf(request.url), [...routes.keys()]));
  router.use(notFound as never);
}

/** One path: its methods, the methods it does not have, and OPTIONS, which names those it has. */
function mountPath(
  router: Router,
  service: Service,
  path: string,
  methods: ReadonlyMap<Endpoint["method"], Route>,
): void {
  const route = router.route(path.replace(/\{(\w+)\}/g, ":$1"));
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

function routeNotFound(path: string, known: readonly string[]): ApiError {
  const bare = path.replace(/\/+$/, "");
  const like =
    known.find((route) => route === `/api${bare}` || route === `/clob${bare}`) ?? nearest(bare, known);
  return new ApiError("ROUTE_NOT_FOUND", `no route ${JSON.stringify(path.slice(0, 200))}`, {
    hint:
      like === undefined
        ? "GET /openapi.json lists all routes"
        : `did you mean ${like}? Paths are case-sensitive and have no trailing slash`,
  });
}
