import { SessionLog } from "../../engine/session-log.ts";
import type { Scenario } from "../language/scenario.ts";
import type { StartServer } from "../venue/open-http.ts";
import { type TransportWatcher, VenueOpener } from "../venue/open-venue.ts";
import type { Venue } from "../venue/venue.ts";
import { VenueError } from "../venue/views.ts";
import type { Wallets } from "../venue/wallets.ts";
import { diffOf } from "./diff.ts";
import { applyUpdates } from "./files.ts";
import { needsHttp } from "./needs.ts";
import type { ScenarioResult, SuiteResult, Way } from "./result.ts";
import { type Failed, flagsOf, type RunOptions, repeatLine, runScenario, skipped } from "./run-scenario.ts";

/** Looks at venues and requests as they come; what coverage counts. */
export interface SuiteWatcher {
  venue?(venue: Venue, scenario: Scenario): void;
  refused?: RunOptions["refused"];
  transport?: NonNullable<TransportWatcher>;
}

export interface SuiteOptions {
  /** `auto`: in this process, but for scenarios with steps that exist only over HTTP. */
  readonly via: "auto" | Way;
  readonly startServer: StartServer;
  /** Opens a scenario on a deployment, or says why it cannot be run there. */
  readonly target?: (scenario: Scenario, wallets: Wallets) => Promise<Venue | string>;
  /** The flags of `clobsim run` that name the target, for whoever repeats a scenario there. */
  readonly targetFlags?: readonly string[];
  readonly seed?: string | undefined;
  /** How often each is run; all runs must end alike. */
  readonly repeat?: number;
  readonly lastStep?: number | null;
  readonly isUpdating?: boolean;
  readonly bail?: boolean;
  readonly watcher?: SuiteWatcher;
  /** Told of each failure while its exchange still stands as it has left it, with all that was done. */
  readonly failed?: Failed;
  readonly finished?: (result: ScenarioResult) => void;
}

export async function runSuite(scenarios: readonly Scenario[], options: SuiteOptions): Promise<SuiteResult> {
  const started = performance.now();
  const suite = new Suite(options);
  const results: ScenarioResult[] = [];
  for (const scenario of scenarios) {
    const result = await suite.run(scenario);
    results.push(result);
    options.finished?.(result);
    if (options.bail === true && result.status === "failed") break;
  }
  const count = (status: ScenarioResult["status"]): number =>
    results.filter((of) => of.status === status).length;
  return {
    results,
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    durationMs: performance.now() - started,
  };
}

/** What the scenarios of one suite share: wallets and worlds. */
export class Suite {
  readonly #options: SuiteOptions;
  readonly #opener = new VenueOpener();

  constructor(options: SuiteOptions) {
    this.#options = options;
  }

  async run(written: Scenario): Promise<ScenarioResult> {
    const { via, seed, lastStep = null, isUpdating = false, repeat = 1, targetFlags } = this.#options;
    const scenario = seed === undefined ? written : { ...written, seed };
    const way = via === "auto" ? (needsHttp(scenario) ? "http" : "process") : via;
    if (way === "process" && needsHttp(scenario)) {
      return skipped(scenario, way, "needs HTTP: run it with --via http");
    }
    const opening = await this.#opening(scenario, way);
    if (typeof opening === "string") return skipped(scenario, way, opening);
    const refused = this.#options.watcher?.refused;
    const options: RunOptions = {
      way,
      open: opening,
      lastStep,
      isUpdating,
      refused,
      ...(way === "target" && targetFlags !== undefined ? { flags: targetFlags } : {}),
    };
    const first = await runScenario(scenario, { ...options, failed: this.#options.failed });
    const files = await applyUpdates(first.updates);
    const result = { ...first.result, written: files };
    return repeated(
      scenario,
      result,
      repeat,
      flagsOf(options),
      async () => (await runScenario(scenario, options)).result,
    );
  }

  /** How to open the scenario's exchange, or why that cannot be. */
  async #opening(scenario: Scenario, way: Way): Promise<RunOptions["open"] | string> {
    const { startServer, target, watcher } = this.#options;
    const watched = (venue: Venue): Venue => {
      watcher?.venue?.(venue, scenario);
      return venue;
    };
    if (way === "process") {
      // What was done is kept only where somebody may want it.
      const newLog = (): SessionLog | null => (this.#options.failed === undefined ? null : new SessionLog());
      return () => watched(this.#opener.local(scenario, newLog()));
    }
    if (way === "http")
      return async () => watched(await this.#opener.served(scenario, startServer, watcher?.transport));
    if (target === undefined) throw new Error("no target is given");
    try {
      const venue = await target(scenario, this.#opener.wallets);
      return typeof venue === "string" ? venue : () => watched(venue);
    } catch (error) {
      if (!(error instanceof VenueError)) throw error;
      // A deployment that does not answer fails the scenario: skipped, it would look as if all were well.
      return () => Promise.reject(error);
    }
  }
}

/** The result of the first of `times` runs, which fails when another run did or saw anything else. */
async function repeated(
  scenario: Scenario,
  first: ScenarioResult,
  times: number,
  flags: readonly string[],
  again: () => Promise<ScenarioResult>,
): Promise<ScenarioResult> {
  let { durationMs } = first;
  for (let run = 2; run <= times && first.status === "passed"; run += 1) {
    const other = await again();
    durationMs += other.durationMs;
    if (other.failure !== null) return { ...other, durationMs };
    const diff = diffOf(first.transcript, other.transcript);
    if (first.stateHash === other.stateHash && diff.every(({ kind }) => kind === "same")) continue;
    return {
      ...first,
      durationMs,
      status: "failed",
      failure: {
        place: scenario.place,
        step: first.steps,
        text: `run ${run} of ${times}`,
        message: "the same scenario ended otherwise, which is a defect of clobsim",
        diff,
        recent: [],
        repeat: `${repeatLine(scenario, flags, null)} --repeat ${times}`,
      },
    };
  }
  return { ...first, durationMs };
}
