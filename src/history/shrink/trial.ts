import type { Problem } from "../../scenario/language/problem.ts";
import { readScenario, type WorldMarkets, worldMarkets } from "../../scenario/language/read-scenario.ts";
import type { Scenario } from "../../scenario/language/scenario.ts";
import type { Failure } from "../../scenario/run/result.ts";
import { type RunOptions, runScenario } from "../../scenario/run/run-scenario.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import type { Venue } from "../../scenario/venue/venue.ts";
import type { Soon } from "../../scenario/venue/views.ts";
import { type FailureFingerprint, fingerprintOf } from "./fingerprint.ts";

/** What trying a text came to: it could not be read, it was stopped before its end, it passed, or it failed. */
export type Outcome =
  | { readonly kind: "unreadable"; readonly problems: readonly Problem[] }
  | { readonly kind: "stopped" | "passed" }
  | Failed;

/** What is checked after each step: checking everything takes half of the time, checking only fills takes little. */
export type Judged = "all" | "fills";

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

type Watching = Partial<Pick<RunOptions, "open" | "taken" | "failed">>;

/** Runs the texts of one file. */
export class Trial {
  readonly place: Place;
  /** Whether a run is to end at once; asked again and again. */
  stop: () => boolean = () => false;
  readonly #worlds = new Map<string, readonly string[]>();

  constructor(place: Place) {
    this.place = place;
  }

  /** Reads and runs a text. */
  async run(text: string, judged: Judged = "all"): Promise<Outcome> {
    if (this.stop()) return { kind: "stopped" };
    const start = performance.now();
    const { scenario, problems } = this.read(text);
    return scenario === null ? { kind: "unreadable", problems } : this.runScenario(scenario, judged, start);
  }

  /** Runs a scenario that was read since `start`. */
  async runScenario(scenario: Scenario, judged: Judged = "all", start = performance.now()): Promise<Outcome> {
    try {
      const failure = await this.failureOf(scenario, { judged });
      if (failure === null) return { kind: "passed" };
      const ms = performance.now() - start;
      return { kind: "failed", scenario, failure, fingerprint: fingerprintOf(failure), ms };
    } catch (error) {
      if (error instanceof RunStopped) return { kind: "stopped" };
      throw error;
    }
  }

  /** The scenario of a text, or what is wrong with it. */
  read(text: string): ReturnType<typeof readScenario> {
    const { file, folder } = this.place;
    return readScenario(file, text, { folder, worldMarkets: this.#worldMarkets });
  }

  /** Why a scenario fails; null when it passes. @throws RunStopped */
  async failureOf(
    scenario: Scenario,
    { judged = "all", ...watching }: Watching & { readonly judged?: Judged } = {},
  ): Promise<Failure | null> {
    const { result } = await runScenario(scenario, {
      way: "process",
      open: this.place.open,
      checks: { everyRows: null, fillsOnly: judged === "fills" },
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
