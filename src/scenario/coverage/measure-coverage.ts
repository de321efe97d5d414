import { ENDPOINTS, endpointOf, isTradingEndpoint, type Operation } from "../../api/endpoints.ts";
import { ERRORS, type ErrorCode } from "../../api/errors.ts";
import { parseReply } from "../../client/result.ts";
import type { HttpReply, HttpRequest, Transport } from "../../client/transport.ts";
import type { OwnExpectations, Scenario, Step } from "../language/scenario.ts";
import { stepsOf } from "../run/needs.ts";
import type { ScenarioResult } from "../run/result.ts";
import { runSuite, type SuiteWatcher } from "../run/run-suite.ts";
import { codeOf } from "../venue/http-request.ts";
import { LocalVenue } from "../venue/local-venue.ts";
import type { StartServer } from "../venue/open-http.ts";
import type { Venue } from "../venue/venue.ts";
import { type Coverage, coverageOf, type Exercise } from "./coverage.ts";
import { watchExchange } from "./exchange-coverage.ts";
import { isItem, Sightings, universe } from "./items.ts";

export interface CoverageOptions {
  /** `auto`: in this process, but for scenarios with steps that exist only over HTTP. */
  readonly via: "auto" | "process" | "http";
  readonly startServer: StartServer;
}

/** Runs scenarios and answers what they exercise of all that they could. */
export async function measureCoverage(
  scenarios: readonly Scenario[],
  { via, startServer }: CoverageOptions,
): Promise<Coverage> {
  const observer = new Observer();
  const suite = await runSuite(scenarios, {
    via,
    startServer: (world, scenario) => startServer(world, scenario, (exchange) => observer.opened(exchange)),
    watcher: observer,
    finished: (result) => observer.finished(result),
  });
  return { groups: coverageOf(universe(via), observer.exercises), suite };
}

type Opened = NonNullable<Parameters<StartServer>[2]>;

/** Watches scenarios that are run one after the other. */
class Observer implements SuiteWatcher {
  readonly exercises: Exercise[] = [];
  #sightings = new Sightings();
  #isLocal = false;

  opened(exchange: Parameters<Opened>[0]): void {
    watchExchange(exchange, this.#sightings);
  }

  readonly transport = (send: Transport): Transport => watchTransport(send, this.#sightings);

  venue(venue: Venue, scenario: Scenario): void {
    noteLanguage(scenario, this.#sightings);
    this.#isLocal = venue instanceof LocalVenue;
    if (venue instanceof LocalVenue) this.opened(venue.exchange);
  }

  readonly refused = (step: Step, code: string): void => {
    noteRefusal(step, code, this.#sightings);
    // Over HTTP the replies themselves are seen.
    if (this.#isLocal && isTrading(step) && isErrorCode(code)) {
      this.#sightings.note("error codes of trading", code);
    }
  };

  finished({ file, status }: ScenarioResult): void {
    if (status === "passed") this.exercises.push({ file, sightings: this.#sightings });
    this.#sightings = new Sightings();
  }
}

const isTrading = ({ kind }: Step): boolean => kind === "order" || kind === "cancel" || kind === "cancelAll";

/** Notes the words that a scenario is written in. */
export function noteLanguage({ steps }: Scenario, sightings: Sightings): void {
  for (const step of stepsOf(steps)) {
    sightings.note("steps", step.kind);
    for (const { kind } of expectationsOf(step)) sightings.note("expectations", kind);
    noteOwn(step, sightings);
  }
}

function expectationsOf(step: Step) {
  if (step.kind === "expect") return step.expectations;
  return step.kind === "race" ? step.after : [];
}

/** What a step says about its own outcome. */
function noteOwn(step: Step, sightings: Sightings): void {
  if ("expects" in step) {
    for (const name of Object.keys(step.expects) as (keyof OwnExpectations)[]) {
      if (step.expects[name] !== null) sightings.note("expectations", name);
    }
  }
  if ("rejects" in step && step.rejects !== null) sightings.note("expectations", "rejects");
  if (step.kind === "request" && step.answers !== null) sightings.note("expectations", "answers");
  if (step.kind === "replay" && step.rejected > 0) sightings.note("refused steps", "replay: rows");
}

/** Notes how a step was refused; one that does not say so itself is an outcome of a race. */
export function noteRefusal(step: Step, code: string, sightings: Sightings): void {
  const [reason, any] = [`${step.kind}: ${code}`, `${step.kind}: rejects`];
  if (rejectsOf(step) === null) sightings.note("refused steps", "race: without rejects");
  else if (isItem("refused steps", reason)) sightings.note("refused steps", reason);
  else if (isItem("refused steps", any)) sightings.note("refused steps", any);
}

function rejectsOf(step: Step): OwnExpectations["rejects"] {
  if ("rejects" in step) return step.rejects;
  return "expects" in step ? step.expects.rejects : null;
}

/** The same transport; what comes back over it is noted. */
export const watchTransport =
  (send: Transport, sightings: Sightings): Transport =>
  async (request) => {
    const reply = await send(request);
    noteReply(request, reply, sightings);
    return reply;
  };

function noteReply({ method, path }: HttpRequest, reply: HttpReply, sightings: Sightings): void {
  const operation = operationOf(method, path);
  if (operation === null) return;
  if (reply.status === 200) {
    sightings.note("endpoints", operation);
    return;
  }
  const code = codeOf(reply.status, parseReply(reply).body);
  if (code === null || !isErrorCode(code)) return;
  sightings.note("errors by endpoint", `${operation} ${code}`);
  if (isTradingEndpoint(endpointOf(operation))) {
    sightings.note("error codes of trading", code);
  }
}

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

const ROUTES = ENDPOINTS.map(({ method, path, operation }) => ({
  method,
  operation,
  pattern: new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
}));

/** The endpoint that a request is sent to; null for none. */
export function operationOf(method: string, target: string): Operation | null {
  const [path = ""] = target.split("?", 1);
  return ROUTES.find((route) => route.method === method && route.pattern.test(path))?.operation ?? null;
}
