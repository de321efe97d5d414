import type { Endpoint } from "../api/endpoint.ts";
import { type AnyEndpoint, ENDPOINTS, type Operation, type ReplyTo } from "../api/endpoints.ts";
import { ApiError, type ErrorCode } from "../api/errors.ts";
import { takesFaults } from "../api/faults.ts";
import { nearest } from "../api/nearest.ts";
import { type Stream, stream } from "../core/random.ts";

type FaultReply = ReplyTo<"addFault">;

/** What goes wrong, where, and how often, as the API shows it. */
export interface FaultPlan extends Omit<FaultReply, "id" | "matched" | "fired" | "remaining"> {
  readonly operations: ReadonlySet<Operation>;
  readonly latencyMs: number;
}

/** A fault in force; the id counts up from `fault-1`. */
export interface Fault extends FaultPlan {
  readonly id: FaultReply["id"];
  matched: number;
  fired: number;
  readonly chance: Stream;
}

/** 2^32, the finest that a stream draws. */
const GRAIN = 4_294_967_296;

/** How often a fault will yet fire; null: without end. */
export const remainingOf = ({ times, fired }: Fault): number | null =>
  times === null ? null : times - fired;

/** The faults injected into one server. They are the edge's own: the exchange knows nothing of them. */
export class Faults {
  readonly #seed: string;
  #faults: Fault[] = [];
  #added = 0;
  readonly #delays = new Set<NodeJS.Timeout>();

  /** The seed decides where chance strikes. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Whether none is in force; all that a request asks as long as nobody injects any. */
  get areNone(): boolean {
    return this.#faults.length === 0;
  }

  /** All that are in force or spent, oldest first. */
  get all(): readonly Fault[] {
    return this.#faults;
  }

  /** Puts a fault in force. Each draws from a stream of its own, so that none shifts another. */
  add(plan: FaultPlan): Fault {
    this.#added += 1;
    const id = `fault-${this.#added}`;
    const fault = { id, ...plan, matched: 0, fired: 0, chance: stream(this.#seed, `fault ${id}`) };
    this.#faults.push(fault);
    return fault;
  }

  /** The first fault that hits a request, or null. Every fault of the route counts the request and draws for it. */
  apply(operation: Operation): Fault | null {
    let applied: Fault | null = null;
    for (const fault of this.#faults) {
      if (!fault.operations.has(operation)) continue;
      fault.matched += 1;
      if (fault.matched <= fault.after) continue;
      const isHit = fault.probability === 1 || fault.chance.below(GRAIN) < fault.probability * GRAIN;
      if (isHit && applied === null && remainingOf(fault) !== 0) applied = fault;
    }
    if (applied !== null) applied.fired += 1;
    return applied;
  }

  /** Does something after so many wall milliseconds, whatever has become of the fault by then. */
  delay(ms: number, then: () => void): void {
    const timer = setTimeout(() => {
      this.#delays.delete(timer);
      then();
    }, ms);
    this.#delays.add(timer);
  }

  /** Takes one out of force and answers it; undefined when there is none of this id. */
  remove(id: string): Fault | undefined {
    const found = this.#faults.find((fault) => fault.id === id);
    this.#faults = this.#faults.filter((fault) => fault !== found);
    return found;
  }

  removeAll(): readonly Fault[] {
    const removed = this.#faults;
    this.#faults = [];
    return removed;
  }

  /** Forgets all; the next is the first again. */
  clear(): void {
    this.removeAll();
    this.#added = 0;
  }

  /** Drops the requests that still wait: the server has closed. */
  stop(): void {
    for (const timer of this.#delays) clearTimeout(timer);
    this.#delays.clear();
  }
}

/** The endpoints that a route names, and the route as they are described. */
interface FaultRoute {
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
    return new ApiError("INVALID_PARAMETER", `route: faults never apply to ${found}`, {
      hint: "faults apply to /api, /clob and /chain, never the control plane, /healthz or /openapi.json",
      details: details,
    });
  }
  const meant = namesOf(method);
  const like = meant.get(nearest(text, meant.keys()) ?? "");
  return new ApiError(
    "INVALID_PARAMETER",
    `route: expected a method and path such as POST /clob/order, or *, found ${found}`,
    {
      hint: like === undefined ? "GET /openapi.json lists all routes" : `did you mean ${like}?`,
      details: details,
    },
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

export function injectedError({ id, retryAfter }: Fault, status: NonNullable<Fault["status"]>): ApiError {
  const code: ErrorCode = status === 429 ? "RATE_LIMITED" : status === 500 ? "INTERNAL_ERROR" : "UNAVAILABLE";
  return new ApiError(code, `an injected fault answers ${status}; nothing was executed`, {
    hint: `${id} was injected: GET /sim/faults lists it, DELETE /sim/faults/${id} removes it`,
    details: { fault: id },
    status,
    ...(retryAfter === null ? {} : { headers: { "retry-after": String(retryAfter) } }),
  });
}
