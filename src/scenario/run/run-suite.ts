import type { Transport } from "../../client/transport.ts";
import { SessionLog } from "../../engine/journal.ts";
import { emptyWorld } from "../../simulation/opening.ts";
import { readWorldFile, type World } from "../../simulation/world.ts";
import { needsHttp, type Scenario } from "../language/steps.ts";
import type { StartServer } from "../venue/http-venue.ts";
import { LocalVenue } from "../venue/local-venue.ts";
import { type Target, type Venue, Wallets } from "../venue/venue.ts";
import { type MaybePromise, NotRunnable, VenueError } from "../venue/views.ts";
import { applyUpdates } from "./files.ts";
import { diffOf, type ScenarioResult, type SuiteResult, type Way } from "./result.ts";
import { type RunOptions, repeatLine, runScenario } from "./run-scenario.ts";

/** Wraps a transport to observe requests and replies. */
type TransportWatcher = (transport: Transport) => Transport;

/** Opens exchanges for single scenarios, which share wallets and worlds. */
export class VenueOpener {
  readonly wallets = new Wallets();
  readonly #worlds = new Map<string, World>();

  /** Opens one in this process; `log` records its commands. @throws VenueError if the world cannot be read. */
  local(scenario: Scenario, log: SessionLog | null = null): LocalVenue {
    return new LocalVenue(scenario, this.#worldOf(scenario), this.wallets, log);
  }

  /** Opens one over HTTP. @throws VenueError if the world cannot be read. */
  async served(scenario: Scenario, start: StartServer, watch?: TransportWatcher): Promise<Venue> {
    // Loads client and signatures only for scenarios over HTTP.
    const { HttpVenue } = await import("../venue/http-venue.ts");
    const server = await start(this.#worldOf(scenario) ?? emptyWorld(scenario.seed), scenario);
    return new HttpVenue(server, scenario, this.wallets, watch);
  }

  /** Returns the world with the scenario's seed; null if it has none. */
  #worldOf({ world: path, seed }: Scenario): World | null {
    if (path === null) return null;
    try {
      const world = this.#worlds.get(path) ?? readWorldFile(path);
      this.#worlds.set(path, world);
      return { ...world, seed };
    } catch (error) {
      throw new VenueError(`world ${path}: ${(error as Error).message}`);
    }
  }
}

/** Observes venues, refusals and requests, for coverage. */
interface SuiteWatcher {
  venue?(venue: Venue, scenario: Scenario): void;
  refused?: RunOptions["refused"];
  transport?: TransportWatcher;
}

export interface SuiteOptions extends Pick<RunOptions, "lastStep" | "isUpdating" | "failed"> {
  /** `auto`: in this process, except scenarios with steps that need HTTP. */
  readonly via: "auto" | "process" | "http";
  readonly startServer: StartServer;
  /** Where all scenarios run instead. */
  readonly target?: Target;
  readonly seed?: string | undefined;
  /** Runs of each scenario, which must have equal results. */
  readonly repeat?: number;
  readonly bail?: boolean;
  readonly watcher?: SuiteWatcher;
  readonly finished?: (result: ScenarioResult) => void;
}

export async function runSuite(scenarios: readonly Scenario[], options: SuiteOptions): Promise<SuiteResult> {
  const started = performance.now();
  const run = scenarioRunner(options);
  const results: ScenarioResult[] = [];
  for (const scenario of scenarios) {
    const result = await run(scenario);
    results.push(result);
    options.finished?.(result);
    if (options.bail === true && result.status === "failed") break;
  }
  const count = (status: ScenarioResult["status"]): number =>
    results.filter((of) => of.status === status).length;
  const counts = { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
  return { results, ...counts, durationMs: performance.now() - started };
}

/** Returns a function that runs the scenarios of a suite, which share wallets and worlds. */
export function scenarioRunner({ via, seed, repeat = 1, watcher, failed, ...options }: SuiteOptions) {
  const { startServer, target, lastStep = null, isUpdating = false } = options;
  const opener = new VenueOpener();
  let recorded: RunOptions["recorded"] = new Map();
  const openVenue = (scenario: Scenario, way: Way): MaybePromise<Venue> => {
    if (target !== undefined) return target.open(scenario);
    if (way === "http") return opener.served(scenario, startServer, watcher?.transport);
    if (needsHttp(scenario)) throw new NotRunnable("needs HTTP: run it with --via http");
    // Commands are recorded only for a report of a failure.
    return opener.local(scenario, failed === undefined ? null : new SessionLog());
  };
  return async (original: Scenario): Promise<ScenarioResult> => {
    const scenario = seed === undefined ? original : { ...original, seed };
    const usual = via === "auto" ? (needsHttp(scenario) ? "http" : "process") : via;
    const way = target === undefined ? usual : "target";
    const open = async (): Promise<Venue> => {
      const venue = await openVenue(scenario, way);
      watcher?.venue?.(venue, scenario);
      return venue;
    };
    const flags = target?.flags ?? (way === "http" ? ["--via http"] : []);
    const run: RunOptions = { way, open, flags, lastStep, isUpdating, recorded, refused: watcher?.refused };
    const { result, updates, ...own } = await runScenario(scenario, { ...run, failed });
    if (result.status === "passed") recorded = own.recorded;
    return repeated(scenario, { ...result, written: applyUpdates(updates) }, repeat, run);
  };
}

/** Repeats a scenario. Returns the result of the first run, which fails if another run fails, or differs on an exchange of its own. */
async function repeated(
  scenario: Scenario,
  first: ScenarioResult,
  times: number,
  options: RunOptions,
): Promise<ScenarioResult> {
  let { durationMs } = first;
  const withTimes = (line: string): string => `${line} --repeat ${times}`;
  for (let run = 2; run <= times && first.status === "passed"; run += 1) {
    const { result: other } = await runScenario(scenario, options);
    durationMs += other.durationMs;
    if (other.failure !== null) {
      const failure = { ...other.failure, repeat: withTimes(other.failure.repeat) };
      return { ...other, failure, durationMs };
    }
    // The clock of a deployment moves between two runs, and others may use it.
    const isCompared = options.way !== "target";
    const diff = isCompared ? diffOf(first.transcript, other.transcript) : [];
    const isSame = diff.every(({ kind }) => kind === "same") && first.stateHash === other.stateHash;
    if (other.reason === null && (isSame || !isCompared)) continue;
    const message = other.reason ?? "two runs of the scenario differ, which is a defect of clobsim";
    const mismatch = { place: scenario.place, message, diff };
    const repeat = withTimes(repeatLine(scenario, options.flags, null));
    const step = { step: first.steps, text: `run ${run} of ${times}`, recent: [] };
    const failure = { ...mismatch, mismatches: [mismatch], ...step, repeat };
    return { ...first, durationMs, status: "failed", failure };
  }
  return { ...first, durationMs };
}
