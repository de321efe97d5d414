import type { Place } from "../language/problem.ts";

/** How a scenario is run: in this process, over HTTP to a server of its own, or against a deployment. */
export type Way = "process" | "http" | "target";

/** One line of a comparison: what both have, what only the file says, what only the exchange has, or a remark. */
export interface DiffLine {
  readonly kind: "same" | "expected" | "found" | "note";
  readonly text: string;
}

export interface Failure {
  readonly place: Place;
  /** From 1. */
  readonly step: number;
  readonly text: string;
  /** One sentence. */
  readonly message: string;
  readonly diff: readonly DiffLine[];
  /** What happened last, oldest first. */
  readonly recent: readonly string[];
  /** A command line that repeats it. */
  readonly repeat: string;
}

export interface RaceOutcome {
  readonly lines: readonly string[];
  /** Books, orders and balances afterwards, in words; equal texts are equal outcomes. */
  readonly after: readonly string[];
}

export interface RaceReport {
  readonly place: Place;
  readonly step: number;
  readonly outcomes: readonly RaceOutcome[];
}

export interface ScenarioResult {
  readonly file: string;
  readonly name: string;
  readonly place: Place;
  readonly seed: string;
  readonly way: Way;
  readonly status: "passed" | "failed" | "skipped";
  readonly reason: string | null;
  readonly failure: Failure | null;
  readonly steps: number;
  readonly durationMs: number;
  /** Of the exchange at the end; null where nobody can know it. */
  readonly stateHash: string | null;
  readonly races: readonly RaceReport[];
  /** All that was done and seen, a line each; equal histories give equal lines, however they were run. */
  readonly transcript: readonly string[];
  /** Files that `--update` wrote. */
  readonly written: readonly string[];
}

export interface SuiteResult {
  readonly results: readonly ScenarioResult[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly durationMs: number;
}
