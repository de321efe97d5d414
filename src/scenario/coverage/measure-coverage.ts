import { type AnyEndpoint, ENDPOINTS, isTradingEndpoint } from "../../api/endpoints.ts";
import { parseReply } from "../../client/result.ts";
import type { Transport } from "../../client/transport.ts";
import { OWN_EXPECTATIONS } from "../language/expectations.ts";
import type { Scenario, Step } from "../language/scenario.ts";
import { stepsOf } from "../run/needs.ts";
import type { ScenarioResult } from "../run/result.ts";
import { runSuite, type SuiteWatcher } from "../run/run-suite.ts";
import { codeOf } from "../venue/http-request.ts";
import { LocalVenue } from "../venue/local-venue.ts";
import type { StartServer } from "../venue/open-http.ts";
import type { Venue } from "../venue/venue.ts";
import { type Coverage, coverageOf, type Exercise } from "./coverage.ts";
import { watchExchange } from "./exchange-coverage.ts";
import { Counts, isItem, universe } from "./items.ts";

export interface CoverageOptions {
  /** `auto`: in this process, but for scenarios with steps that exist only over HTTP. */
  readonly via: "auto" | "process" | "http";
  readonly startServer: StartServer;
}

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

class Observer implements SuiteWatcher {
  readonly exercises: Exercise[] = [];
  #counts = new Counts();
  #isLocal = false;

  opened(exchange: Parameters<Opened>[0]): void {
    watchExchange(exchange, this.#counts);
  }

  readonly transport =
    (send: Transport): Transport =>
    async (request) => {
      const reply = await send(request);
      const endpoint = endpointAt(request.method, request.path);
      if (endpoint === undefined) return reply;
      const { operation } = endpoint;
      if (reply.status === 200) this.#counts.add("endpoints", operation);
      else {
        const code = codeOf(reply.status, parseReply(reply).body) ?? "";
        this.#counts.add("errors by endpoint", `${operation} ${code}`);
        if (isTradingEndpoint(endpoint)) this.#counts.add("error codes of trading", code);
      }
      return reply;
    };

  venue(venue: Venue, scenario: Scenario): void {
    for (const step of stepsOf(scenario.steps)) countStep(step, this.#counts);
    this.#isLocal = venue instanceof LocalVenue;
    if (venue instanceof LocalVenue) this.opened(venue.exchange);
  }

  /** A step that does not say itself how it is refused is an outcome of a race. */
  readonly refused = (step: Step, code: string): void => {
    const { kind } = step;
    const rejects = "rejects" in step ? step.rejects : null;
    const reason = isItem("refused steps", `${kind}: ${code}`) ? code : "rejects";
    this.#counts.add("refused steps", rejects === null ? "race: without rejects" : `${kind}: ${reason}`);
    // Over HTTP the replies themselves are seen.
    const isTrading = kind === "order" || kind === "cancel" || kind === "cancelAll";
    if (this.#isLocal && isTrading) this.#counts.add("error codes of trading", code);
  };

  finished({ file, status }: ScenarioResult): void {
    if (status === "passed") this.exercises.push({ file, counts: this.#counts });
    this.#counts = new Counts();
  }
}

function countStep(step: Step, counts: Counts): void {
  counts.add("steps", step.kind);
  const expectations = step.kind === "expect" ? step.expectations : step.kind === "race" ? step.after : [];
  for (const { kind } of expectations) counts.add("expectations", kind);
  const said = { ...step } as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(OWN_EXPECTATIONS)) {
    if ((said[name] ?? null) !== null) counts.add("expectations", name);
  }
  if (step.kind === "replay" && step.rejected > 0) counts.add("refused steps", "replay: rows");
}

const ROUTES = ENDPOINTS.map((endpoint) => ({
  endpoint,
  pattern: new RegExp(`^${endpoint.path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
}));

function endpointAt(method: string, target: string): AnyEndpoint | undefined {
  const [path = ""] = target.split("?", 1);
  return ROUTES.find(({ endpoint, pattern }) => endpoint.method === method && pattern.test(path))?.endpoint;
}
