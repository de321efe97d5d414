import { type faultEndpoints, takesFaults } from "../api/control.ts";
import { type AnyEndpoint, ENDPOINTS, isPathOf, type Operation, type ReplyTo } from "../api/endpoints.ts";
import { ApiError, type ErrorCode, invalidFields } from "../api/errors.ts";
import { type Random, seededRandom } from "../core/random.ts";
import { parseDuration } from "../core/time.ts";
import { nearest } from "../nearest.ts";

type FaultReply = ReplyTo<"addFault">;

/** An injected fault as the API shows it, with its endpoints; ids count up from `fault-1`. */
export interface Fault extends Omit<FaultReply, "remaining"> {
  matched: number;
  fired: number;
  readonly operations: ReadonlySet<Operation>;
  readonly latencyMs: number;
  readonly chance: Random;
}

/** A fault to inject. */
type FaultPlan = Omit<Fault, "id" | "matched" | "fired" | "chance">;

/** What applies to one request: a fault, or one that only delays together with another one. */
export interface AppliedFault extends Pick<Fault, "id" | "status" | "retryAfter" | "drop" | "latencyMs"> {
  /** Ids of both, the one that only delays first, as the header `x-sim-fault` has them. */
  readonly ids: string;
}

type FaultBody = ReturnType<typeof faultEndpoints.addFault.body.read>;

/** Reads a fault from a body. @throws ApiError `INVALID_PARAMETER` if it has no effect or contradictory fields. */
export function faultPlan(asked: FaultBody): FaultPlan {
  const { status = null, retryAfter, latency = null, drop = null, probability, times = null, after } = asked;
  if (status === null && latency === null && drop === null) {
    const message = "a fault needs a status, a latency or a drop, found none of them";
    throw invalidFields(message, ["status", "latency", "drop"]);
  }
  if (status !== null && drop !== null) {
    const message = `drop ${drop} means that status ${status} is not sent: give one of them`;
    throw invalidFields(message, ["status", "drop"]);
  }
  const isRetried = status === 429 || status === 503;
  if (retryAfter !== undefined && !isRetried) {
    throw invalidFields("retryAfter goes with a status of 429 or 503", ["retryAfter"]);
  }
  const { route, operations } = readFaultRoute(asked.route);
  const latencyMs = latency === null ? 0 : parseDuration(latency);
  if (latencyMs === null || latencyMs > 3_600_000) {
    const expected = "a duration such as 200ms or 2s, at most 1h";
    throw invalidFields(`latency must be ${expected}, found ${JSON.stringify(latency)}`, ["latency"]);
  }
  return {
    ...{ route, status, retryAfter: isRetried ? (retryAfter ?? 1) : null, latency, drop },
    ...{ probability, times, after, operations, latencyMs },
  };
}

/** 2^32, the resolution of a probability and the largest range of a random draw. */
const GRAIN = 4_294_967_296;

/** Returns how many more times a fault can fire; null if there is no limit. */
export const timesLeft = ({ times, fired }: Fault): number | null => (times === null ? null : times - fired);

/** The faults injected into one server. They are not part of the state of the exchange. */
export class Faults {
  readonly #seed: string;
  #faults: Fault[] = [];
  #added = 0;
  readonly #delays = new Set<NodeJS.Timeout>();

  /** `seed` determines the random draws of faults with a probability. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  /** All faults, also those that can fire no more, oldest first. */
  get all(): readonly Fault[] {
    return this.#faults;
  }

  /** Adds a fault. Each fault has a random stream of its own, so that one does not change the draws of another. */
  add(plan: FaultPlan): Fault {
    this.#added += 1;
    const id = `fault-${this.#added}`;
    const fault = { id, ...plan, matched: 0, fired: 0, chance: this.#chanceOf(id) };
    this.#faults.push(fault);
    return fault;
  }

  /**
   * Returns what applies to a request, or null: the first fault that fires and only delays, and the first other one that
   * fires. Each fault of the route counts the request and draws for it.
   */
  apply(operation: Operation): AppliedFault | null {
    if (this.#faults.length === 0) return null;
    let delay: Fault | null = null;
    let other: Fault | null = null;
    for (const fault of this.#faults) {
      if (!fault.operations.has(operation)) continue;
      fault.matched += 1;
      if (fault.matched <= fault.after) continue;
      const isHit = fault.probability === 1 || fault.chance.below(GRAIN) < fault.probability * GRAIN;
      if (!isHit || timesLeft(fault) === 0) continue;
      if (fault.status === null && fault.drop === null) delay ??= fault;
      else other ??= fault;
    }
    const applied = [delay, other].filter((fault) => fault !== null);
    for (const fault of applied) fault.fired += 1;
    const main = other ?? delay;
    if (main === null) return null;
    const latencyMs = (delay?.latencyMs ?? 0) + (other?.latencyMs ?? 0);
    return { ...main, latencyMs, ids: applied.map(({ id }) => id).join(", ") };
  }

  /** Calls `then` after `ms` wall milliseconds, even if the fault is removed before. */
  delay(ms: number, then: () => void): void {
    const timer = setTimeout(() => {
      this.#delays.delete(timer);
      then();
    }, ms);
    this.#delays.add(timer);
  }

  /** Removes and returns a fault; undefined if no fault has this id. */
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

  /** Removes all faults and restarts their ids at `fault-1`. */
  clear(): void {
    this.removeAll();
    this.#added = 0;
  }

  /** Returns all faults as they are now, with how often each has fired, for `restore`. */
  snapshot() {
    return { added: this.#added, faults: this.#faults.map((fault) => ({ ...fault })) };
  }

  /** Puts the faults back to those of a snapshot, any number of times. */
  restore({ added, faults }: ReturnType<Faults["snapshot"]>): void {
    this.#added = added;
    this.#faults = faults.map((fault) => ({ ...fault, chance: this.#chanceOf(fault.id) }));
    for (const { matched, after, chance } of this.#faults.filter(({ probability }) => probability < 1)) {
      for (let drawn = after; drawn < matched; drawn += 1) chance.below(GRAIN);
    }
  }

  #chanceOf(id: Fault["id"]): Random {
    return seededRandom(this.#seed, `fault ${id}`);
  }

  /** Cancels pending delays. Called after the server has closed. */
  stop(): void {
    for (const timer of this.#delays) clearTimeout(timer);
    this.#delays.clear();
  }
}

const ROUTE = /^(?:([A-Za-z]+) +)?(\/\S*)$/;

const shapeOf = (path: string): string => path.replace(/\{\w*\}/g, "{}");

const written = (method: string | undefined, path: string): string =>
  method === undefined ? path : `${method} ${path}`;

/**
 * Parses a route such as `POST /clob/order`: method and path of an endpoint as in the OpenAPI document. Without a method
 * it names all methods of the path; `/clob` is optional, parameters may have any name, and `*` means every endpoint.
 * Returns the endpoints, and the route in its canonical form.
 * @throws ApiError `INVALID_PARAMETER` if it names no endpoint that takes faults.
 */
export function readFaultRoute(text: string) {
  const [, method, path = ""] = ROUTE.exec(text) ?? [];
  const isNamed = (endpoint: AnyEndpoint): boolean => {
    if (method !== undefined && method !== endpoint.method) return false;
    const shape = shapeOf(endpoint.path);
    return [shape, shape.replace(/^\/clob\//, "/")].includes(shapeOf(path));
  };
  const isEverywhere = text === "*";
  const named = ENDPOINTS.filter((endpoint) => takesFaults(endpoint) && (isEverywhere || isNamed(endpoint)));
  const [first] = named;
  if (first === undefined) throw unknownRoute(text, method, ENDPOINTS.some(isNamed));
  const operations: ReadonlySet<Operation> = new Set(named.map(({ operation }) => operation));
  return { route: isEverywhere ? text : written(method, first.path), operations };
}

/** `isKnown` tells whether it names an endpoint that takes no faults. */
function unknownRoute(text: string, method: string | undefined, isKnown: boolean): ApiError {
  const refused = (why: string, hint: string): ApiError =>
    invalidFields(`route: ${why} ${JSON.stringify(text)}`, ["route"], hint);
  if (isKnown) {
    const hint = "faults apply to /api, /clob and /chain, never the control plane, /healthz or /openapi.json";
    return refused("faults never apply to", hint);
  }
  // Each name of an endpoint, with and without its prefix, and its route; with the method if one is given.
  const names = new Map<string, string>();
  for (const endpoint of ENDPOINTS.filter(takesFaults)) {
    const name = (path: string): string => written(method && endpoint.method, path);
    const route = name(endpoint.path);
    names.set(route, route);
    names.set(name(endpoint.path.replace(/^\/(?:api|clob)\//, "/")), route);
  }
  // A path with an id in place of a parameter names the endpoint of that path.
  const shown = [...names.keys()].find((name) => isPathOf(name, text));
  const like = names.get(shown ?? nearest(text, names.keys()) ?? "");
  return refused(
    "expected a method and path such as POST /clob/order, or *, found",
    like === undefined ? "GET /openapi.json lists all routes" : `did you mean "${like}"?`,
  );
}

export function injectedError({ id, retryAfter }: AppliedFault, status: NonNullable<Fault["status"]>) {
  const code: ErrorCode = status === 429 ? "RATE_LIMITED" : status === 500 ? "INTERNAL_ERROR" : "UNAVAILABLE";
  return new ApiError(code, `an injected fault answers ${status}; nothing was executed`, {
    hint: `${id} was injected: GET /sim/faults lists it, DELETE /sim/faults/${id} removes it`,
    details: { fault: id },
    status,
    ...(retryAfter === null ? {} : { headers: { "retry-after": String(retryAfter) } }),
  });
}
