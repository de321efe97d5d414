import type { Transport } from "../../client/transport.ts";
import type { Scenario, Step } from "../language/scenario.ts";
import type { ScenarioResult } from "../run/result.ts";
import { runSuite, type SuiteWatcher } from "../run/run-suite.ts";
import { LocalVenue } from "../venue/local-venue.ts";
import type { StartServer } from "../venue/open-http.ts";
import type { Venue } from "../venue/venue.ts";
import { type Coverage, coverageOf, type Exercise } from "./coverage.ts";
import { watchExchange } from "./exchange-sightings.ts";
import { noteLanguage, noteRefusal } from "./language-sightings.ts";
import { isErrorCode, watchTransport } from "./reply-sightings.ts";
import { Sightings } from "./sightings.ts";
import { universe } from "./universe.ts";

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
