import type { WrongFile } from "../language/problem.ts";
import type { ScenarioResult, SuiteResult } from "../run/result.ts";
import type { Paint } from "./text.ts";

/** The default first. */
export const REPORTER_NAMES = ["spec", "json", "junit", "tap", "github"] as const;

export interface SuitePlan {
  readonly scenarios: number;
  readonly files: number;
  /** Runs of each scenario; by default 1. */
  readonly times?: number;
}

/** Receives the results of a suite; its output depends on nothing else. */
export interface Reporter {
  readonly started?: (plan: SuitePlan) => void;
  readonly finished?: (result: ScenarioResult) => void;
  readonly ended: (suite: SuiteResult) => void;
  /** Called instead of all others if files are invalid and nothing is run. */
  readonly wrong: (files: readonly WrongFile[]) => void;
}

export type MakeReporter = (options: ReporterOptions) => Reporter;

export interface ReporterOptions {
  readonly write: (text: string) => void;
  /** Seed of the whole suite; null if each scenario has its own. */
  readonly seed: string | null;
  readonly repeat: string;
  readonly paint: Paint;
  /** For `spec`: whether a line can be overwritten. */
  readonly tty: boolean;
  /** For `spec`: whether each scenario has a line in any suite. */
  readonly verbose: boolean;
  readonly transcript: boolean;
  /** For `github`: returns the path of a file from the root of the repository. */
  readonly pathInRepository: (file: string) => string;
}
