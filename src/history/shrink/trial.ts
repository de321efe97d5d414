import { readScenario, type WorldMarkets, worldMarkets } from "../../scenario/language/read-scenario.ts";
import type { Scenario } from "../../scenario/language/scenario.ts";
import type { Failure } from "../../scenario/run/result.ts";
import { type RunOptions, runScenario } from "../../scenario/run/run-scenario.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import type { Venue } from "../../scenario/venue/venue.ts";
import type { Soon } from "../../scenario/venue/views.ts";
import { type FailureFingerprint, fingerprintOf } from "./fingerprint.ts";

/** What trying a text came to: it could not be read, it was stopped before its end, it passed, or it failed. */
export type Outcome = { readonly kind: "unreadable" | "stopped" | "passed" } | Failed;

/** A text that failed, as it was read, and how. */
export interface Failed {
  readonly kind: "failed";
  readonly scenario: Scenario;
  readonly failure: Failure;
  readonly fingerprint: FailureFingerprint;
  /** How long reading and running it took, in milliseconds. */
  readonly ms: number;
}

/** Where the texts of a scenario are tried. */
export interface Place {
  /** The scenario's file, as the user named it. */
  readonly file: string;
  /** Where the paths in it begin. */
  readonly folder: string;
  /** Opens an exchange for one scenario. */
  readonly open: (scenario: Scenario) => Soon<Venue>;
}

/** Runs the texts of one file, and remembers which of them did not fail as wanted. */
export class Trial {
  readonly place: Place;
  /** Whether a run is to end at once; asked again and again. */
  stop: () => boolean = () => false;
  /** Judging all costs as much as all the rest; fills alone, next to nothing. */
  #judges: "all" | "fills" = "all";
  readonly #rejected = new Set<string>();
  readonly #worlds = new Map<string, readonly string[]>();

  constructor(place: Place) {
    this.place = place;
  }

  get judges(): "all" | "fills" {
    return this.#judges;
  }

  /** What is judged after each step from now on. */
  set judges(what: "all" | "fills") {
    this.#judges = what;
    this.#rejected.clear();
  }

  /** Reads and runs a text. */
  async run(text: string): Promise<Outcome> {
    const start = performance.now();
    const scenario = this.stop() ? null : this.read(text);
    if (scenario === null) return { kind: this.stop() ? "stopped" : "unreadable" };
    return this.runScenario(scenario, start);
  }

  /** Runs a scenario that somebody else has read since `start`. */
  async runScenario(scenario: Scenario, start = performance.now()): Promise<Outcome> {
    try {
      const failure = await this.failureOf(scenario);
      if (failure === null) return { kind: "passed" };
      const ms = performance.now() - start;
      return { kind: "failed", scenario, failure, fingerprint: fingerprintOf(failure), ms };
    } catch (error) {
      if (error instanceof RunStopped) return { kind: "stopped" };
      throw error;
    }
  }

  /** What a text comes to; null when it is known not to fail as wanted. */
  async attempt(text: string): Promise<Outcome | null> {
    return this.#rejected.has(text) ? null : this.run(text);
  }

  /** Notes that a text does not fail as wanted. */
  reject(text: string): void {
    this.#rejected.add(text);
  }

  /** The scenario of a text, or null. */
  read(text: string): Scenario | null {
    const { file, folder } = this.place;
    return readScenario(file, text, { folder, worldMarkets: this.#worldMarkets }).scenario;
  }

  /** Why a scenario fails; null when it passes. @throws RunStopped */
  async failureOf(
    scenario: Scenario,
    watching: Partial<Pick<RunOptions, "open" | "taken" | "failed">> = {},
  ): Promise<Failure | null> {
    const { result } = await runScenario(scenario, {
      way: "process",
      open: this.place.open,
      judging: { everyRows: null, fillsAlone: this.#judges === "fills" },
      stop: this.stop,
      ...watching,
    });
    return result.failure;
  }

  readonly #worldMarkets: WorldMarkets = (path) => {
    const known = this.#worlds.get(path) ?? worldMarkets(path);
    this.#worlds.set(path, known);
    return known;
  };
}
