import type { WrongFile } from "../language/problem.ts";
import type { ScenarioResult, SuiteResult } from "../run/result.ts";
import type { Paint } from "./text.ts";

/** The default first. */
export const REPORTER_NAMES = ["spec", "json", "junit", "tap", "github"] as const;

export interface SuitePlan {
  readonly scenarios: number;
  readonly files: number;
  /** How often each scenario is run; once where it is not said. */
  readonly times?: number;
}

/** Called as a suite is run; what it writes is a function of what it is given. */
export interface Reporter {
  readonly started?: (plan: SuitePlan) => void;
  readonly finished?: (result: ScenarioResult) => void;
  readonly ended: (suite: SuiteResult) => void;
  /** Called instead of all others: nothing is run, for these files are wrong. */
  readonly wrong: (files: readonly WrongFile[]) => void;
}

export type MakeReporter = (options: ReporterOptions) => Reporter;

export interface ReporterOptions {
  readonly write: (text: string) => void;
  /** The one given for the whole suite; null where each scenario has its own. */
  readonly seed: string | null;
  readonly repeat: string;
  readonly paint: Paint;
  /** Of `spec`: whether a line that was written can be written over. */
  readonly tty: boolean;
  /** Of `spec`: a line for each scenario, however many there are. */
  readonly verbose: boolean;
  readonly transcript: boolean;
}
