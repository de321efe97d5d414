import type { Problem } from "../../scenario/language/problem.ts";
import { readScenario, type WorldMarkets, worldMarkets } from "../../scenario/language/read-scenario.ts";
import type { Scenario } from "../../scenario/language/scenario.ts";
import type { Failure } from "../../scenario/run/result.ts";
import { type RunOptions, runScenario } from "../../scenario/run/run-scenario.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import type { Venue } from "../../scenario/venue/venue.ts";
import type { Soon } from "../../scenario/venue/views.ts";
import { type FailureFingerprint, fingerprintOf } from "./fingerprint.ts";

/** Result of trying a text. */
export type TrialResult =
  | { readonly kind: "unreadable"; readonly problems: readonly Problem[] }
  | { readonly kind: "stopped" | "passed" }
  | Failed;

/** Checks after each step: all of them take as much time as the rest of a run, the checks of fills almost none. */
export type Checks = "all" | "fills";

/** A text that failed, as it was read. */
export interface Failed {
  readonly kind: "failed";
  readonly scenario: Scenario;
  readonly failure: Failure;
  readonly fingerprint: FailureFingerprint;
  /** Time to read and run it, in milliseconds. */
  readonly ms: number;
}

/** Environment in which the texts of a scenario are tried. */
export interface Environment {
  /** The scenario's file, as the user named it. */
  readonly file: string;
  /** Folder to which paths in it are relative. */
  readonly folder: string;
  /** Opens an exchange for one scenario. */
  readonly open: (scenario: Scenario) => Soon<Venue>;
}

type Callbacks = Partial<Pick<RunOptions, "open" | "taken" | "failed">>;

/** Runs variants of one scenario file. */
export class Trial {
  readonly environment: Environment;
  /** Whether a run is to be stopped; called often. */
  stop: () => boolean = () => false;
  readonly #worlds = new Map<string, readonly string[]>();

  constructor(environment: Environment) {
    this.environment = environment;
  }

  /** Reads and runs a text. */
  async run(text: string, checks: Checks = "all"): Promise<TrialResult> {
    if (this.stop()) return { kind: "stopped" };
    const start = performance.now();
    const { scenario, problems } = this.read(text);
    return scenario === null ? { kind: "unreadable", problems } : this.runScenario(scenario, checks, start);
  }

  /** Runs a scenario; `start` is when reading it began. */
  async runScenario(
    scenario: Scenario,
    checks: Checks = "all",
    start = performance.now(),
  ): Promise<TrialResult> {
    try {
      const failure = await this.failureOf(scenario, { checks });
      if (failure === null) return { kind: "passed" };
      const ms = performance.now() - start;
      return { kind: "failed", scenario, failure, fingerprint: fingerprintOf(failure), ms };
    } catch (error) {
      if (error instanceof RunStopped) return { kind: "stopped" };
      throw error;
    }
  }

  /** Reads a text. */
  read(text: string): ReturnType<typeof readScenario> {
    const { file, folder } = this.environment;
    return readScenario(file, text, { folder, worldMarkets: this.#worldMarkets });
  }

  /** Runs a scenario and returns its failure; null if it passes. @throws RunStopped */
  async failureOf(
    scenario: Scenario,
    { checks = "all", ...callbacks }: Callbacks & { readonly checks?: Checks } = {},
  ): Promise<Failure | null> {
    const { result } = await runScenario(scenario, {
      way: "process",
      open: this.environment.open,
      checks: { everyRows: null, fillsOnly: checks === "fills" },
      stop: this.stop,
      ...callbacks,
    });
    return result.failure;
  }

  readonly #worldMarkets: WorldMarkets = (path) => {
    const known = this.#worlds.get(path) ?? worldMarkets(path);
    this.#worlds.set(path, known);
    return known;
  };
}
