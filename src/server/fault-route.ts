import type { Endpoint } from "../api/endpoint.ts";
import { type AnyEndpoint, ENDPOINTS, type Operation } from "../api/endpoints/all.ts";
import { takesFaults } from "../api/endpoints/faults.ts";
import { ApiError } from "../api/errors.ts";
import { nearest } from "../api/nearest.ts";

/** The endpoints that a route names, and the route as they are described. */
export interface FaultRoute {
  readonly route: string;
  readonly operations: ReadonlySet<Operation>;
}

const EVERYWHERE = "*";
const ROUTE = /^(?:([A-Za-z]+) +)?(\/\S*)$/;

/**
 * Reads a route such as `POST /clob/order`: method and path of an endpoint as it is described. Without a method it
 * names all methods of the path, `/clob` may be left out, parameters may have any name, and `*` is everything.
 * @throws ApiError `INVALID_PARAMETER` when it names no endpoint that takes faults.
 */
export function readFaultRoute(text: string): FaultRoute {
  const targets = ENDPOINTS.filter(takesFaults);
  if (text === EVERYWHERE) return { route: text, operations: operationsOf(targets) };
  const [, method, path = ""] = ROUTE.exec(text) ?? [];
  const named = targets.filter((endpoint) => isNamed(endpoint, method, path));
  const [first] = named;
  if (first === undefined) throw unknownRoute(text, method, path);
  return { route: written(method, first.path), operations: operationsOf(named) };
}

const operationsOf = (endpoints: readonly AnyEndpoint[]): Set<Operation> =>
  new Set(endpoints.map(({ operation }) => operation));

/** A path without the names of its parameters. */
const shapeOf = (path: string): string => path.replace(/\{\w*\}/g, "{}");

const isNamed = (
  endpoint: Pick<Endpoint, "method" | "path">,
  method: string | undefined,
  path: string,
): boolean =>
  (method === undefined || method === endpoint.method) && shapesOf(endpoint.path).includes(shapeOf(path));

/** The ways in which the path of an endpoint may be written. */
const shapesOf = (path: string): string[] => [shapeOf(path), shapeOf(path).replace(/^\/clob\//, "/")];

const written = (method: string | undefined, path: string): string =>
  method === undefined ? path : `${method} ${path}`;

function unknownRoute(text: string, method: string | undefined, path: string): ApiError {
  const found = JSON.stringify(text);
  const details = { fields: ["route"] };
  if (ENDPOINTS.some((endpoint) => !takesFaults(endpoint) && isNamed(endpoint, method, path))) {
    return new ApiError("INVALID_PARAMETER", `route: faults never befall ${found}`, {
      hint: "faults befall /api, /clob and /chain, never the control plane, /healthz or /openapi.json",
      details,
    });
  }
  const meant = namesOf(method);
  const like = meant.get(nearest(text, meant.keys()) ?? "");
  return new ApiError(
    "INVALID_PARAMETER",
    `route: expected a method and path such as POST /clob/order, or *, found ${found}`,
    { hint: like === undefined ? "GET /openapi.json lists all routes" : `did you mean ${like}?`, details },
  );
}

/** What a person may call an endpoint, its prefix left out too, and how a route names it; with a method if one is given. */
function namesOf(method: string | undefined): Map<string, string> {
  const names = new Map<string, string>();
  for (const endpoint of ENDPOINTS.filter(takesFaults)) {
    const name = (path: string): string => written(method && endpoint.method, path);
    const route = name(endpoint.path);
    names.set(route, route);
    names.set(name(endpoint.path.replace(/^\/(?:api|clob)\//, "/")), route);
  }
  return names;
}
