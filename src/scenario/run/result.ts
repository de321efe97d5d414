import type { Place } from "../language/problem.ts";

/** Where a scenario runs: in this process, over HTTP on its own server, or on a deployment. */
export type Way = "process" | "http" | "target";

/** A line of a comparison: in both, expected only, found only, or a note. */
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
  /** The latest lines of the transcript, oldest first. */
  readonly recent: readonly string[];
  /** Command line that repeats the failure. */
  readonly repeat: string;
}

export interface RaceOutcome {
  readonly lines: readonly string[];
  /** Summary of books, orders and balances afterwards; equal texts are equal outcomes. */
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
  /** Hash of the final state; null if unknown. */
  readonly stateHash: string | null;
  readonly races: readonly RaceReport[];
  /** Lines about each step and its results, the same on every venue. */
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
